"""Steps on a model of the loss with smoothed lengths."""

from functools import partial

import numpy as np
import pytest

from wdrsvm.problem.norms import lipschitz
from wdrsvm.solvers.newton.products.design import At, Design, in_columns
from wdrsvm.solvers.newton.products.lengths.descent import LengthCurvature, LengthDescent
from wdrsvm.solvers.newton.products.lengths.diameter import LengthDiameter
from wdrsvm.solvers.newton.products.lengths.model import (
    LengthModel,
    LengthModelDescent,
    balanced,
    model_step,
)
from wdrsvm.solvers.newton.products.lengths.settings import LENGTHS
from wdrsvm.solvers.scaling import Scaling

from ..test_loop import blobs

RADIUS = 0.01


@pytest.fixture
def descent():
    problem = blobs(n_rows=600, n_features=12, n_classes=6, ball={"norm": "linf"})
    scaling = Scaling.of(problem)
    prepared = problem.by_chunks(partial(in_columns, scaling, np.float64))
    n = scaling.n_touchable
    with prepared.reduction() as reduction:
        coef = 0.1 * np.random.default_rng(0).normal(size=(6, scaling.n_columns))
        design, diameter = Design(scaling, reduction), LengthDiameter.of(coef[:, :n])
        found = LengthDescent(design, diameter, RADIUS, coef, knows_entries=True)
        for k in range(40):
            found.step()
            if k % 10 == 9:
                found.sharpen()
        yield found


def true_risk(descent, coef):
    n = descent.n_touchable
    length = lipschitz(coef[:, :n], "linf", np.ones(n))
    return descent.design.evaluate(At(coef)).loss + RADIUS * length


def test_it_takes_a_preconditioner_that_is_known(descent):
    gradient = descent.gradient
    known = LengthModelDescent.of(descent, known=descent.precondition)
    assert known.precondition is descent.precondition
    descent.rebuild()
    built = LengthModelDescent.of(descent)
    wanted = descent.precondition(gradient)
    np.testing.assert_allclose(built.precondition(gradient), wanted, rtol=1e-10)


def test_a_preconditioner_lasts_for_some_steps(descent):
    descent.n_iter, descent.promise = 60, np.inf
    descent.built_at = 60 - LENGTHS.least_age
    assert descent._needs_rebuild()
    descent.built_at += 1
    assert not descent._needs_rebuild()


def test_at_its_point_it_is_the_loss(descent):
    model = LengthModel.of(descent, descent.pairs)
    here = model.evaluate(At(descent.coef))
    assert here.loss == descent.sums.loss
    np.testing.assert_array_equal(here.gradient, descent.sums.gradient)


def test_it_knows_the_last_step_exactly(descent):
    model, (step, change) = LengthModel.of(descent, descent.pairs), descent.pairs[-1]
    moved = model.evaluate(At(descent.coef + step)).gradient
    np.testing.assert_allclose(moved - descent.sums.gradient, change, atol=1e-10)


def test_a_model_of_the_same_curvature_only_takes_new_steps(descent, monkeypatch):
    pairs, new = list(descent.pairs), []
    plain = LengthModel._correct
    first = LengthModel.of(descent, pairs[:-2])

    def counted(model, *pair):
        new.append(pair)
        plain(model, *pair)

    monkeypatch.setattr(LengthModel, "_correct", counted)
    found = LengthModel.of(descent, pairs, first)
    assert len(new) == 2
    assert len(first.pairs) == len(pairs) - 2
    whole = LengthModel.of(descent, pairs)
    at = At(descent.coef + 0.01 * np.random.default_rng(0).normal(size=(6, 13)))
    np.testing.assert_allclose(
        found.evaluate(at).gradient, whole.evaluate(at).gradient, rtol=1e-10
    )
    descent.rebuild()
    new.clear()
    LengthModel.of(descent, pairs, found)
    assert len(new) == len(pairs)


def test_its_steps_leave_the_descent_where_it_is(descent):
    coef, diameter, risk = descent.coef.copy(), descent.diameter, descent.smooth_risk
    inner = LengthModelDescent.of(descent)
    inner.run(10, 0.0)
    assert inner.n_iter == 10
    assert not np.array_equal(inner.coef, coef)
    np.testing.assert_array_equal(descent.coef, coef)
    assert descent.diameter is diameter
    assert descent.smooth_risk == risk


def test_its_steps_end_when_enough_is_learnt(descent):
    inner = LengthModelDescent.of(descent)
    inner.run(1000, 0.1 * descent.to_learn)
    assert inner.n_iter < 1000
    assert inner.to_learn <= 0.1 * descent.to_learn


def test_then_they_go_on_until_the_gradient_is_balanced(descent):
    inner = LengthModelDescent.of(descent)
    enough, balance = 0.1 * descent.to_learn, 0.01 * descent.unbalanced
    inner.run(1000, enough, balance)
    assert inner.n_iter < 1000
    assert inner.is_resting
    assert inner.unbalanced <= balance
    plain = LengthModelDescent.of(descent)
    plain.run(1000, enough)
    assert plain.unbalanced > balance


def test_a_rest_keeps_shares_and_multipliers(descent):
    diameter, before = descent.diameter, descent.unbalanced
    assert model_step(descent, rest=True)
    assert descent.diameter is diameter
    assert descent.unbalanced < before
    assert model_step(descent)
    assert descent.diameter is not diameter


def test_a_model_soon_after_another_keeps_its_curvature(descent):
    model_step(descent)
    curvature, built_at = descent.curvature, descent.built_at
    for _ in range(LENGTHS.model_age - 1):
        model_step(descent)
    assert descent.curvature is curvature
    model_step(descent)
    assert descent.built_at == built_at + LENGTHS.model_age
    assert descent.curvature is not curvature


def test_a_step_goes_where_the_model_led(descent):
    before, to_learn = descent.coef, descent.to_learn
    assert model_step(descent)
    assert not np.array_equal(descent.coef, before)
    assert descent.to_learn < to_learn
    assert descent.n_since == 0


def test_it_says_where_the_loss_does_not_follow(descent, monkeypatch):
    model_step(descent)
    coef, risk = descent.coef, descent.smooth_risk

    def astray(inner, *told):
        """Steps that end far away and promise much."""
        far = np.linspace(-3, 3, coef.size).reshape(coef.shape)
        inner.coef, inner.sums = coef + far, inner.sums._replace(loss=0.0)

    monkeypatch.setattr(LengthModelDescent, "run", astray)
    assert not model_step(descent)
    assert descent.smooth_risk <= risk


def test_risks_of_the_model_are_true_ones_nearby(descent):
    inner = LengthModelDescent.of(descent)
    assert inner.risk_of(descent.coef) == pytest.approx(true_risk(descent, descent.coef))


def test_a_balanced_point_is_better_than_a_repaired_one(descent):
    model_step(descent)
    plain = true_risk(descent, descent.repaired(1e-3))
    found = true_risk(descent, balanced(descent, 1e-3, 0.0))
    assert found < plain
    # Whatever is enough is taken at once.
    first = balanced(descent, 1e-3, np.inf)
    np.testing.assert_array_equal(first, LengthModelDescent.of(descent).repaired(1e-3))


def test_a_balanced_point_is_looked_for_with_less_smoothing(descent, monkeypatch):
    widths, plain = [], LengthModelDescent.run

    def watched(inner, *told):
        plain(inner, *told)
        widths.append(inner.diameter.relative_width)

    monkeypatch.setattr(LengthModelDescent, "run", watched)
    balanced(descent, 1e-3, 0.0)
    assert widths == [LENGTHS.sharp_width] * LENGTHS.balance_rounds
    assert descent.diameter.relative_width == LENGTHS.width


def test_to_smooth_less_brings_lengths_closer_together_in_as_many_steps(descent):
    """Weighted by the forces of the pairs: pairs without a force may be short."""
    spreads = {}
    for is_sharp in (False, True):
        inner = LengthModelDescent.of(descent)
        if is_sharp:
            inner.become_sharp()
        inner.run(60, 0.0)
        told = inner.smoothed
        shares = told.weights / told.weights.sum()
        spreads[is_sharp] = shares @ np.abs(told.plain - told.value) / told.value
    assert spreads[True] < 0.7 * spreads[False]


def test_the_curvature_takes_heavy_rows_soon_and_more_axes_of_few_classes(descent):
    assert LengthDescent.heavy_after == LENGTHS.heavy_after
    few, many = LengthCurvature.n_axes(10), LengthCurvature.n_axes(100)
    assert few == LENGTHS.axes_of_all // 10
    assert many == LENGTHS.axes
    assert len(descent.curvature.axes) == min(few, descent.n_touchable)
