"""Losses along a line from kept scores where labels can be flipped."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from wdrsvm.solvers.newton import kernels
from wdrsvm.solvers.newton.products.design import in_columns
from wdrsvm.solvers.newton.products.flips.line import FlipLine, line_of
from wdrsvm.solvers.newton.products.flips.memory import FlipDesign
from wdrsvm.solvers.newton.products.line import Line
from wdrsvm.solvers.scaling import Scaling

from ..test_loop import blobs
from .test_memory import BUDGET, MU, point

LEAST = 0.02


@pytest.fixture(params=[(np.float64, 1e-11), (np.float32, 1e-4)], ids=["double", "single"])
def told(request, monkeypatch):
    """A design whose shares are learnt, a line, two points, and how exact sums are."""
    monkeypatch.setattr("wdrsvm.rows.blocks.BLOCK_ENTRIES", 500)
    kind, rtol = request.param
    problem = blobs(n_classes=4, ball={"label_cost": 1.0})
    problem = problem.with_rows(label_trust=np.tile([1.0, 0.5, np.inf], 100))
    scaling = Scaling.of(problem)
    prepared = problem.by_chunks(partial(in_columns, scaling, kind))
    with prepared.reduction() as reduction:
        design = FlipDesign(scaling, reduction, kind, problem=prepared, budget=BUDGET)
        design.learn(point(design, seed=3))
        yield design, FlipLine(design, 4), point(design), point(design, seed=2), rtol


def assert_same(found, expected, rtol):
    names = ("loss", "flipped", "added", "smoothing", "price")
    for name in names:
        wanted = getattr(expected, name)
        assert getattr(found, name) == pytest.approx(wanted, rel=rtol, abs=rtol)
    np.testing.assert_allclose(found.gradient, expected.gradient, atol=rtol)


@pytest.mark.parametrize("least", [LEAST, 5.0])
def test_sums_are_those_of_passes(told, least):
    design, line, at, step, rtol = told
    found = line.begin(at.coef, least, MU)
    line.aim(step.coef)
    line.look(3.0, least, 0.5 * MU)
    moved = line.go(line.look(0.7, least, 0.5 * MU))
    assert_same(found, design.evaluate(at._replace(price=least)), rtol)
    there = at._replace(coef=at.coef + 0.7 * step.coef, price=least, mu=0.5 * MU)
    assert_same(moved, design.evaluate(there), rtol)
    assert_same(line.go(line.look(0.0, least, 0.5 * MU)), design.evaluate(there), rtol)


def test_the_slope_is_that_of_the_risk_in_the_length(told):
    _, line, at, step, _ = told
    line.begin(at.coef, LEAST, MU)
    line.aim(step.coef)
    ends = [line.look(0.5 + 0.01 * sign, LEAST, MU) for sign in (-1, 1)]
    risks = [end.loss + BUDGET * end.price for end in ends]
    expected = (risks[1] - risks[0]) / 0.02
    assert line.look(0.5, LEAST, MU).slope == pytest.approx(expected, rel=1e-2)


def test_the_last_price_is_the_first_guess(told, monkeypatch):
    _, line, at, step, _ = told
    line.begin(at.coef, LEAST, MU)
    line.aim(1e-3 * step.coef)
    counts, count = [], kernels.count_flips

    def counted(*told):
        counts.append(told[0])
        return count(*told)

    monkeypatch.setattr(kernels, "count_flips", counted)
    near = line.look(1.0, LEAST, MU).price
    assert counts[0] == LEAST
    assert counts[1] == pytest.approx(near, rel=1e-2)
    assert counts[1] != near
    assert counts[-1] == near


def test_designs_have_lines_where_scores_are_kept(told):
    design = told[0]
    assert line_of(design, 4) is None
    assert type(line_of(replace(design, keeps_scores=True), 4)) is FlipLine
    trusted = Line(design, 4)
    assert type(trusted) is Line
