"""Losses along a line from kept scores, against passes over the rows."""

from functools import partial

import numpy as np
import pytest

from wdrsvm.solvers.newton.products.design import At, Design, in_columns
from wdrsvm.solvers.newton.products.line import Line
from wdrsvm.solvers.scaling import Scaling

from .test_loop import blobs


@pytest.fixture(params=[(np.float64, 1e-12), (np.float32, 1e-5)], ids=["double", "single"])
def told(request):
    """A design, a line, a point and a step, and how exact sums are."""
    kind, rtol = request.param
    problem = blobs(n_classes=4)
    scaling = Scaling.of(problem)
    prepared = problem.by_chunks(partial(in_columns, scaling, kind))
    coef, step = np.random.default_rng(1).normal(size=(2, 4, scaling.n_columns))
    with prepared.reduction() as reduction:
        design = Design(scaling, reduction, kind)
        yield design, Line(design, 4), coef, step, rtol


def test_sums_are_those_of_passes(told):
    design, line, coef, step, rtol = told
    found = line.begin(coef)
    line.aim(step)
    line.look(3.0)
    moved = line.go(line.look(0.7))
    for sums, at in ((found, At(coef)), (moved, At(coef + 0.7 * step))):
        expected = design.evaluate(at)
        assert sums.loss == pytest.approx(expected.loss, rel=rtol)
        assert sums.bend == pytest.approx(expected.bend, rel=10 * rtol)
        np.testing.assert_allclose(sums.gradient, expected.gradient, atol=rtol)


def test_the_slope_is_that_of_the_loss_in_the_length(told):
    _, line, coef, step, _ = told
    line.begin(coef)
    line.aim(step)
    here, ahead = line.look(0.5 - 0.01), line.look(0.5 + 0.01)
    slope = (ahead.loss - here.loss) / 0.02
    assert line.look(0.5).slope == pytest.approx(slope, rel=1e-3)


def test_looking_moves_nothing(told):
    _, line, coef, step, _ = told
    line.begin(coef)
    before = line.here.flat.copy()
    line.aim(step)
    for length in (0.1, 5.0):
        line.look(length)
    np.testing.assert_array_equal(line.here.flat, before)


def test_rounding_of_a_long_step_is_left_behind_when_steps_are_short(told):
    design, line, coef, step, rtol = told
    line.begin(coef)
    for scale, slope in ((1e4, -1.0), (-1e4, -1.0)):
        line.aim(scale * step)
        line.arrive(coef, line.look(1.0), slope)
    line.aim(1e-3 * step)
    expected = design.evaluate(At(coef + 1e-3 * step)).gradient
    drifted, fresh = (
        np.abs(line.arrive(coef + 1e-3 * step, line.look(1.0), slope).gradient - expected)
        for slope in (-1e-3, -1e-5)
    )
    assert fresh.max() <= rtol
    assert drifted.max() > 10 * fresh.max()
