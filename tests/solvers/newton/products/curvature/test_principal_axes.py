"""Columns along the principal axes of the rows."""

import numpy as np
import pytest

from wdrsvm.problem.pair_weights import pair_distances
from wdrsvm.solvers import SolverSettings
from wdrsvm.solvers.newton.products.curvature.preconditioner import ClassCurvature
from wdrsvm.solvers.newton.products.curvature.principal_axes import (
    along_principal_axes,
    correlation,
    turn_pays,
)
from wdrsvm.solvers.newton.products.design import At, Design, in_columns
from wdrsvm.solvers.newton.products.loop import product_newton
from wdrsvm.solvers.scaling import Scaling

from ..test_loop import blobs


def turned(problem, every=1):
    scaling = Scaling.of(problem)
    prepared = in_columns(scaling, np.float64, problem)
    after, is_turned = along_principal_axes(scaling, prepared, every)
    assert is_turned
    return scaling, after, prepared


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
    _, _, prepared = turned(problem, every=3)
    some, weight = prepared.X[::3], problem.weight[::3]
    moment = (some.T * weight) @ some
    off = moment - np.diag(np.diag(moment))
    assert np.abs(off[:-1, :-1]).max() <= 1e-12 * np.trace(moment)


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
    after, found = along_principal_axes(scaling, prepared, 1)
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
