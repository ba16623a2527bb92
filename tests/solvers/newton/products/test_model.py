"""Steps on a model of the loss: what the model says, and when it is believed."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from wdrsvm.problem import LOSSES, RobustProblem, WassersteinBall
from wdrsvm.solvers import SolverSettings, SolverStatus
from wdrsvm.solvers.newton.products import loop
from wdrsvm.solvers.newton.products import model as model_module
from wdrsvm.solvers.newton.products.design import At, Design, in_columns
from wdrsvm.solvers.newton.products.diameter import PairDiameter
from wdrsvm.solvers.newton.products.loop import product_newton
from wdrsvm.solvers.newton.products.model import LossModel, model_step
from wdrsvm.solvers.newton.products.settings import PRODUCTS
from wdrsvm.solvers.newton.products.steps import Descent
from wdrsvm.solvers.newton.smooth_loss import label_newton
from wdrsvm.solvers.scaling import Scaling

from .test_loop import blobs

MANY_ROWS = {"n_rows": 2000, "n_features": 8, "n_classes": 20}


@pytest.fixture
def descent():
    problem = blobs(n_rows=600, n_features=6, n_classes=5)
    scaling = Scaling.of(problem)
    prepared = problem.by_chunks(partial(in_columns, scaling, np.float64))
    with prepared.reduction() as reduction:
        design = Design(scaling, reduction)
        diameter = PairDiameter.of(5, scaling.n_touchable)
        coef = np.random.default_rng(0).normal(size=(5, scaling.n_columns))
        found = Descent(design, diameter, 0.05, 0.1 * coef)
        for _ in range(3):
            found.step()
        yield found


def test_its_gradient_is_that_of_its_value(descent):
    model = LossModel.at(descent, descent.pairs)
    rng = np.random.default_rng(1)
    coef, side = (rng.normal(size=model.point.shape) for _ in range(2))
    ahead, behind = (model.evaluate(At(coef + t * side)).loss for t in (1e-4, -1e-4))
    slope = np.vdot(model.evaluate(At(coef)).gradient, side)
    assert (ahead - behind) / 2e-4 == pytest.approx(slope, rel=1e-6)


def test_at_its_point_it_is_the_loss(descent):
    model = LossModel.at(descent, descent.pairs)
    here = model.evaluate(At(model.point))
    assert here.loss == descent.sums.loss
    back = here.gradient @ model.class_curvature.basis.T
    np.testing.assert_allclose(back, descent.sums.gradient, atol=1e-12)


def test_it_knows_the_last_step_exactly(descent):
    model = LossModel.at(descent, descent.pairs)
    basis = model.class_curvature.basis
    step, change = descent.pairs[-1]
    before = model.evaluate(At(model.point - step @ basis)).gradient
    after = model.evaluate(At(model.point)).gradient
    np.testing.assert_allclose((after - before) @ basis.T, change, atol=1e-12)


def test_a_step_of_the_model_lowers_the_risk(descent):
    before = descent.risk
    assert model_step(descent)
    assert descent.risk < before


def test_a_jump_goes_no_farther_than_the_risk_falls(descent):
    diameter, coef = replace(descent.diameter, power=99.0), 100 * descent.coef
    before = Descent(descent.design, diameter, descent.radius, descent.coef).smooth_risk
    assert not descent.jump(coef, diameter, promised=0.0)
    assert descent.smooth_risk <= before


def test_where_the_risk_rises_at_once_nothing_changes(descent):
    coef, diameter, risk = descent.coef, descent.diameter, descent.smooth_risk
    uphill = coef + 0.1 * descent.gradient
    assert not descent.jump(uphill, replace(diameter, power=9.0), promised=0.0)
    assert descent.coef is coef
    assert descent.diameter is diameter
    assert descent.smooth_risk == risk


def without_model(monkeypatch):
    monkeypatch.setattr(loop, "PRODUCTS", replace(PRODUCTS, model_after=0))


@pytest.fixture
def with_model(monkeypatch):
    """The model also where passes are as quick as steps on it."""
    monkeypatch.setattr(loop, "PRODUCTS", replace(PRODUCTS, model_work=0.0))


def embeddings(n_rows=2000, n_features=64, n_classes=30):
    """Rows of unit length around the centres of their classes; columns vary together."""
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % n_classes
    X = rng.normal(size=(n_classes, n_features))[y] + rng.normal(size=(n_rows, n_features))
    X /= np.sqrt(np.arange(1, n_features + 1))
    X = X @ np.linalg.qr(rng.normal(size=(n_features, n_features)))[0]
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    weight, ball = np.full(n_rows, 1 / n_rows), WassersteinBall(1e-3)
    return RobustProblem.of(X, y, weight, ball, n_classes, loss=LOSSES["logistic"])


@pytest.mark.usefixtures("with_model")
def test_it_saves_passes_and_proves_as_much(monkeypatch):
    problem, settings = embeddings(), SolverSettings(tol=1e-3)
    found = product_newton(problem, settings)
    without_model(monkeypatch)
    other = product_newton(problem, SolverSettings(tol=1e-5)).certificate
    assert found.status is SolverStatus.CONVERGED
    assert found.certificate.dual_bound <= other.objective
    assert other.dual_bound <= found.certificate.objective
    assert found.n_iter < product_newton(problem, settings).n_iter


@pytest.mark.usefixtures("with_model")
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("radius", "tol"), [(1e-3, 1e-2), (0.02, 1e-4), (0.3, 1e-3)])
def test_bounds_hold_at_small_and_large_radii(radius, tol, fit_intercept):
    problem = blobs(ball={"radius": radius}, fit_intercept=fit_intercept, **MANY_ROWS)
    found = product_newton(problem, SolverSettings(tol=tol))
    other = label_newton(problem, SolverSettings(tol=1e-5)).certificate
    assert found.status is SolverStatus.CONVERGED
    assert found.certificate.dual_bound <= other.objective
    assert other.dual_bound <= found.certificate.objective


@pytest.mark.usefixtures("with_model")
def test_the_limit_of_steps_holds_for_the_model_too():
    problem = blobs(**MANY_ROWS)
    free = product_newton(problem, SolverSettings(tol=1e-8)).n_iter
    for limit in (1, 6, 9):
        found = product_newton(problem, SolverSettings(tol=1e-8, max_iter=limit))
        assert found.n_iter <= min(limit, free)


@pytest.mark.parametrize(
    ("work", "n_rows", "is_tried"),
    [(2000 * 30 * 65, 2, True), (3.91e6, 2, False), (3.91e6, 1, True)],
)
def test_it_is_tried_where_a_pass_takes_long(monkeypatch, work, n_rows, is_tried):
    """2000 rows and 1950 coefficients."""
    rule = replace(PRODUCTS, model_work=work, model_rows_per_unknown=n_rows)
    monkeypatch.setattr(loop, "PRODUCTS", rule)
    tried = []

    def record(descent):
        tried.append(descent.n_iter)
        return model_step(descent)

    monkeypatch.setattr(loop, "model_step", record)
    product_newton(embeddings(), SolverSettings(tol=1e-3))
    assert bool(tried) is is_tried


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_its_numbers_are_those_of_the_design(descent, kind, monkeypatch):
    monkeypatch.setattr(
        model_module, "PRODUCTS", replace(PRODUCTS, least_single_coefficients=1)
    )
    descent.design = replace(descent.design, kind=kind)
    model = LossModel.at(descent, descent.pairs)
    found = model.evaluate(At(model.point + kind(0.01)))
    arrays = [model.point, found.gradient, *(a for pair in model.corrections for a in pair)]
    assert {array.dtype for array in arrays} == {np.dtype(kind)}
    exact = LossModel.at(replace_kind(descent, np.float64), descent.pairs)
    other = exact.evaluate(At(exact.point + 0.01))
    assert found.loss == pytest.approx(other.loss, rel=1e-5)
    np.testing.assert_allclose(found.gradient, other.gradient, atol=1e-5)


def test_few_coefficients_have_double_precision(descent):
    descent.design = replace(descent.design, kind=np.float32)
    assert LossModel.at(descent, descent.pairs).point.dtype == np.float64


def replace_kind(descent, kind):
    descent.design = replace(descent.design, kind=kind)
    return descent


def test_after_a_jump_the_risk_above_the_model_is_what_may_be_left(descent):
    model_step(descent)
    step = 0.01 * np.ones_like(descent.coef)
    step -= descent.gradient
    promised = descent.smooth_risk - 1e-9
    descent.jump(descent.coef + 1e-3 * step, descent.diameter, promised)
    assert descent.promise == max(0.0, descent.smooth_risk - promised)
