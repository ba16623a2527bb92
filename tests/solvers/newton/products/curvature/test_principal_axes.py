"""Columns along the principal axes of the rows."""

from types import SimpleNamespace

import numpy as np
import pytest

from wdrsvm.problem.pair_weights import pair_distances
from wdrsvm.rows.reduce import MemoryReduction
from wdrsvm.solvers import SolverSettings, solve
from wdrsvm.solvers.newton.products.curvature import principal_axes
from wdrsvm.solvers.newton.products.curvature.preconditioner import ClassCurvature
from wdrsvm.solvers.newton.products.curvature.principal_axes import (
    along_axes,
    along_principal_axes,
    correlation,
    rows_stay,
    turn_pays,
)
from wdrsvm.solvers.newton.products.design import At, Design, in_columns
from wdrsvm.solvers.newton.products.envelopes.rounds import EnvelopeRounds
from wdrsvm.solvers.newton.products.flips.memory import FlipDesign
from wdrsvm.solvers.newton.products.lengths.rounds import LengthRounds
from wdrsvm.solvers.newton.products.line import Line
from wdrsvm.solvers.newton.products.loop import product_newton
from wdrsvm.solvers.newton.products.row_steps import spread_rows
from wdrsvm.solvers.newton.products.settings import PRODUCTS
from wdrsvm.solvers.newton.products.start import _scores
from wdrsvm.solvers.scaling import Scaling

from ..test_loop import blobs


def turned(problem, share=1.0):
    """Rows along their axes, even where they would stay as they are."""
    scaling = Scaling.of(problem)
    prepared = in_columns(scaling, np.float64, problem)
    after, is_turned, axes, _ = along_principal_axes(scaling, prepared, share)
    assert is_turned
    if axes is not None:
        prepared.X[:] = axes.along(prepared.X)
    return scaling, after, prepared


@pytest.fixture
def staying(monkeypatch):
    """Rows stay as they are."""
    monkeypatch.setattr(principal_axes, "rows_stay", lambda prepared: True)


# Fewer rows than features are in the span of the rows already.
@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"n_features": 400}])
def test_scores_and_lengths_stay_as_they_are(options):
    problem = blobs(n_classes=4, **options)
    before, after, prepared = turned(problem)
    rng = np.random.default_rng(1)
    coef, intercept = rng.normal(size=(4, problem.n_features)), rng.normal(size=4)
    if not problem.fit_intercept:
        intercept = np.zeros(4)
    one, other = (scaling.scaled(coef, intercept) for scaling in (before, after))
    np.testing.assert_allclose(
        prepared.X @ other.T, before.design(problem.X) @ one.T, atol=1e-10
    )
    n = before.n_touchable
    lengths = [pair_distances(columns[:, :n]) for columns in (one, other)]
    np.testing.assert_allclose(*lengths, atol=1e-7)
    for mine, plain in zip(after.original(other), before.original(one), strict=True):
        np.testing.assert_allclose(mine, plain, atol=1e-12)


def test_columns_do_not_vary_together():
    problem = blobs(n_classes=4)
    given = problem.X.copy()
    _, scaling, prepared = turned(problem)
    moment = (prepared.X.T * problem.weight) @ prepared.X
    assert np.abs(moment - np.diag(np.diag(moment))).max() <= 1e-12 * np.trace(moment)
    np.testing.assert_array_equal(problem.X, given)
    np.testing.assert_allclose(prepared.X, scaling.design(problem.X), atol=1e-12)


def test_some_rows_tell_the_axes():
    problem = blobs(n_classes=4)
    _, _, prepared = turned(problem, share=1 / 3)
    some = spread_rows(slice(0, problem.n_rows), 1 / 3)
    rows, weight = prepared.X[some], problem.weight[some]
    moment = (rows.T * weight) @ rows
    off = moment - np.diag(np.diag(moment))
    assert np.abs(off[:-1, :-1]).max() <= 1e-12 * np.trace(moment)


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_rows_that_stay_know_their_squares_along_the_axes(staying, share):
    problem = blobs(n_rows=4000, n_classes=4)
    scaling = Scaling.of(problem)
    prepared = in_columns(scaling, np.float64, problem)
    given = prepared.X.copy()
    after, is_principal, axes, _ = along_principal_axes(scaling, prepared, share)
    assert is_principal
    np.testing.assert_array_equal(prepared.X, given)
    along = axes.along(prepared.X)
    np.testing.assert_allclose(along, after.design(problem.X), atol=1e-12)
    squares = problem.weight @ along**2
    np.testing.assert_allclose(axes.squares, squares, rtol=1e-9 if share == 1 else 0.2)
    weight = np.linspace(0, 1, 4000)
    moment = axes.moment(prepared.X, weight)
    np.testing.assert_allclose(moment, weight.sum() * axes.squares)


@pytest.mark.parametrize("label_cost", [np.inf, 0.5])
@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"n_features": 400}])
def test_passes_are_the_same_whether_rows_stay_or_not(staying, label_cost, options):
    problem = blobs(n_classes=4, ball={"label_cost": label_cost}, **options)
    scaling = Scaling.of(problem)
    stay, turn = (in_columns(scaling, np.float64, problem) for _ in range(2))
    after, _, axes, _ = along_principal_axes(scaling, stay)
    turn.X[:] = axes.along(turn.X)
    coef = np.random.default_rng(1).normal(size=(4, scaling.n_columns))
    found = [_passes(after, rows, one, coef) for rows, one in ((stay, axes), (turn, None))]
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11)


def _passes(scaling, rows, axes, coef):
    """What passes say of a point, in numbers and arrays."""
    with rows.reduction() as reduction:
        told = scaling, reduction, np.float64, 2, True, axes, None, 5
        design, flips = Design(*told), rows.label_cost[0, 1] < np.inf
        if flips:
            design = FlipDesign(*told, problem=rows, budget=0.3)
        at = At(coef, 0.7 if flips else np.inf)
        sums, curved = design.evaluate(at), design.curvature(at)
        heavy, few = design.heavy_curvature(at), np.array([[3, 7], [0, 299]])
        found = [sums.loss, sums.gradient, *curved[:2], *heavy[:2], *heavy.entries]
        found += [design.features(few), design.class_sums()]
        if not flips:
            line = Line(design, 4)
            found += [line.begin(coef).gradient]
        return found


def test_the_first_point_knows_rows_that_stay(staying):
    problem = blobs(n_classes=4)
    scaling = Scaling.of(problem)
    prepared = in_columns(scaling, np.float64, problem)
    after, _, axes, _ = along_principal_axes(scaling, prepared)
    coef, some = np.random.default_rng(1).normal(size=(4, after.n_columns)), np.arange(9)
    with prepared.reduction() as reduction:
        design = Design(after, reduction, is_principal=True, axes=axes)
        found = _scores(coef, problem, design, some)
    np.testing.assert_allclose(found, coef @ after.design(problem.X[some]).T, atol=1e-11)


@pytest.mark.parametrize("label_cost", [np.inf, 0.5])
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_classifiers_are_the_same_whether_rows_stay_or_not(staying, label_cost, tol):
    problem = blobs(n_classes=4, ball={"label_cost": label_cost})
    given = problem.X.copy()
    solved = product_newton(problem, SolverSettings(tol=tol))
    assert solved.certificate.holds(tol)
    best = solve(problem, "auto", SolverSettings(tol=1e-7)).certificate
    assert solved.certificate.dual_bound <= best.objective
    assert solved.certificate.objective >= best.dual_bound
    np.testing.assert_array_equal(problem.X, given)


@pytest.mark.parametrize("norm", ["l1", "linf"])
def test_other_norms_have_axes_as_a_basis(monkeypatch, norm):
    options = {"ball": {"norm": norm}, "n_features": 30}
    problem = blobs(n_rows=900, **options)
    scaling = Scaling.of(problem)
    prepared = in_columns(scaling, np.float64, problem)
    given = prepared.X.copy()
    assert along_axes(scaling, prepared).basis is None
    monkeypatch.setattr(principal_axes, "_work_of_step", lambda prepared: 0.0)
    turned = along_axes(scaling, prepared)
    assert turned.axes is None
    assert turned.scaling is scaling
    np.testing.assert_array_equal(prepared.X, given)
    whole = turned.basis.whole
    np.testing.assert_allclose(whole.T @ whole, np.eye(31), atol=1e-12)
    moment = whole.T @ (prepared.X.T * problem.weight) @ prepared.X @ whole
    np.testing.assert_allclose(np.diag(moment), turned.basis.squares)
    with prepared.reduction() as reduction:
        design = Design(scaling, reduction, basis=turned.basis)
        curved = design.curvature(At(np.zeros((20, 31))))
        matrix = Design(scaling, reduction).curvature(At(np.zeros((20, 31)))).second
    # At equal scores all rows bend alike.
    squares = np.diag(curved.basis.T @ matrix @ curved.basis)
    np.testing.assert_allclose(curved.second, squares)
    solved = product_newton(problem, SolverSettings(tol=1e-3), rounds=_rounds(norm))
    assert solved.certificate.holds(1e-3)


def test_after_many_steps_the_basis_is_that_of_the_point(monkeypatch):
    monkeypatch.setattr(principal_axes, "_work_of_step", lambda prepared: 0.0)
    problem = blobs(n_rows=900, ball={"norm": "l1"}, n_features=30)
    rounds = EnvelopeRounds(problem, _design(problem), SolverSettings(), None)
    descent = rounds.descent
    for n_iter, is_known in (
        (PRODUCTS.basis_steps, True),
        (PRODUCTS.basis_steps + 1, False),
    ):
        descent.n_iter = n_iter
        descent.rebuild()
        assert (descent.design.basis is not None) is is_known
    weighted = Design(rounds.design.scaling, rounds.design.reduction)
    expected = ClassCurvature.of(weighted.curvature(descent.at), 30)
    np.testing.assert_allclose(np.abs(descent.curvature.basis), np.abs(expected.basis))


def _design(problem):
    scaling = Scaling.of(problem)
    prepared = in_columns(scaling, np.float64, problem)
    return Design(
        scaling,
        MemoryReduction(prepared, lambda work, blocks: [work(rows) for rows in blocks]),
        basis=along_axes(scaling, prepared).basis,
    )


def _rounds(norm):
    return EnvelopeRounds if norm == "l1" else LengthRounds


@pytest.mark.parametrize(
    ("shape", "n_classes", "stay"),
    [
        ((10_000, 400), 77, True),
        # Turned sooner than coefficients in all passes; within a step; few columns.
        ((3000, 400), 77, False),
        ((20_000, 500), 300, False),
        ((50_000, 10), 7, False),
    ],
)
def test_many_rows_of_many_columns_stay(shape, n_classes, stay):
    prepared = SimpleNamespace(X=np.broadcast_to(0.0, shape), n_classes=n_classes)
    assert rows_stay(prepared) is stay


def test_the_curvature_is_that_of_the_other_columns_where_weights_do_not_matter():
    """At equal scores all rows bend alike; spread and mass are those of all rows."""
    problem = blobs(n_classes=4)
    before, after, prepared = turned(problem)
    plain = in_columns(before, np.float64, problem)
    at, found = At(np.zeros((4, before.n_columns))), []
    for scaling, rows, is_principal in ((before, plain, False), (after, prepared, True)):
        with rows.reduction() as reduction:
            design = Design(scaling, reduction, is_principal=is_principal)
            found.append(ClassCurvature.of(design.curvature(at), before.n_touchable))
    one, other = found
    assert other.basis is None
    np.testing.assert_allclose(one.mass, other.mass)
    traces = [curvature.spread.sum(axis=1) for curvature in found]
    np.testing.assert_allclose(*traces, rtol=1e-9)


@pytest.mark.parametrize(("factor", "is_turned"), [(1e3, True), (1e6, False)])
def test_columns_of_very_unequal_sizes_are_not_turned(factor, is_turned):
    problem = blobs(n_rows=120, n_features=25, n_classes=4, seed=1)
    sizes = np.where(np.arange(25) == 3, factor, 1.0)
    problem = problem.with_rows(X=problem.X * sizes)
    scaling = Scaling.of(problem)
    prepared = in_columns(scaling, np.float32, problem)
    given = prepared.X.copy()
    after, found, *_ = along_principal_axes(scaling, prepared)
    assert found == is_turned
    assert (after is scaling) == (not is_turned)
    assert np.array_equal(prepared.X, given) == (not is_turned)
    solved = product_newton(problem, SolverSettings(tol=1e-3))
    assert solved.certificate.holds(1e-3)


def test_nothing_is_divided_where_all_features_are_zero():
    problem = blobs(n_classes=4, fit_intercept=False)
    nothing = problem.with_rows(X=np.zeros_like(problem.X))
    solved = product_newton(nothing, SolverSettings(tol=1e-3))
    assert np.isfinite(solved.coef).all()


def walks(n_rows, n_features):
    """Rows whose neighbouring columns are much alike."""
    steps = np.random.default_rng(0).normal(size=(n_rows, n_features))
    return np.cumsum(steps, axis=1)


@pytest.mark.parametrize(
    ("options", "pays"),
    [
        ({"n_rows": 200, "n_features": 60}, True),
        ({"n_rows": 200, "n_features": 400}, False),
        ({"n_rows": 200, "n_features": 400, "n_classes": 120}, True),
        ({"n_rows": 3000, "n_features": 400}, True),
    ],
)
def test_few_rows_of_many_columns_are_not_turned(options, pays):
    problem = blobs(**{"n_classes": 4, **options})
    alike = problem.with_rows(X=walks(*problem.X.shape))
    assert turn_pays(alike, problem.n_features) is pays
    # Columns that have nothing in common are turned only if that costs next to nothing.
    apart = np.random.default_rng(1).normal(size=problem.X.shape)
    is_cheap = problem.n_features < 100
    assert turn_pays(problem.with_rows(X=apart), problem.n_features) is is_cheap
    if not is_cheap:
        mixed = problem.with_rows(X=np.hstack([apart, walks(*problem.X.shape)]))
        assert not turn_pays(mixed, problem.n_features)


def test_columns_vary_together_as_their_mean_products_say():
    rows = np.random.default_rng(0).normal(size=(4000, 6)) @ np.diag([1, 2, 3, 1, 1, 2.0])
    assert correlation(rows) == pytest.approx(1.0, abs=0.05)
    rows[:, 1] = 2 * rows[:, 0]
    mean = rows.T @ rows / len(rows)
    expected = (mean**2).sum() / (np.diag(mean) ** 2).sum()
    assert correlation(rows) == pytest.approx(expected, rel=0.05)
    assert correlation(rows[:1]) == correlation(0 * rows) == 1.0


@pytest.mark.parametrize("n_features", [150, 220, 450])
def test_rows_that_are_not_turned_are_trained_as_well(n_features):
    """A little more features than rows, where they are not rotated into their span."""
    problem = blobs(n_rows=200, n_features=n_features, n_classes=4)
    given = problem.X.copy()
    one, other = (product_newton(problem, SolverSettings(tol=tol)) for tol in (1e-3, 1e-6))
    for found, tol in ((one, 1e-3), (other, 1e-6)):
        assert found.certificate.holds(tol)
    assert one.certificate.dual_bound <= other.certificate.objective
    assert other.certificate.dual_bound <= one.certificate.objective
    np.testing.assert_array_equal(problem.X, given)
