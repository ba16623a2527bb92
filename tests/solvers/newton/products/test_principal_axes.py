"""Columns along the principal axes of the rows."""

import numpy as np
import pytest

from wdrsvm.problem.pair_weights import pair_distances
from wdrsvm.solvers.newton.products.design import At, Design, in_columns
from wdrsvm.solvers.newton.products.preconditioner import ClassCurvature
from wdrsvm.solvers.newton.products.principal_axes import along_principal_axes
from wdrsvm.solvers.scaling import Scaling

from .test_loop import blobs


def turned(problem, every=1):
    scaling = Scaling.of(problem)
    prepared = in_columns(scaling, np.float64, problem)
    return scaling, *along_principal_axes(scaling, prepared, every)


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
