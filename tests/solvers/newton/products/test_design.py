"""Passes in the solver's columns against the problem's own formulas."""

from functools import partial

import numpy as np
import pytest

from wdrsvm.solvers.newton.products.design import At, Design, in_columns
from wdrsvm.solvers.scaling import Scaling

from .test_loop import blobs


@pytest.mark.parametrize(("kind", "atol"), [(np.float64, 1e-12), (np.float32, 1e-5)])
def test_loss_gradient_and_curvature(kind, atol):
    problem = blobs(n_classes=4)
    scaling = Scaling.of(problem)
    prepared = problem.by_chunks(partial(in_columns, scaling, kind))
    rows = scaling.design(problem.X)
    coef = np.random.default_rng(1).normal(size=(4, scaling.n_columns))
    scores = rows @ coef.T
    powers = np.exp(scores)
    share = powers / powers.sum(axis=1)[:, None]
    losses = problem.loss.of_labels(scores)[np.arange(300), problem.y]
    slopes = problem.weight[:, None] * (share - np.eye(4)[problem.y])
    spread = problem.weight[:, None] * share * (1 - share)
    with prepared.reduction() as reduction:
        design = Design(scaling, reduction)
        sums, curved = design.evaluate(At(coef)), design.curvature(At(coef))
        of_classes, second = design.class_sums(4)
    assert sums.loss == pytest.approx(problem.weight @ losses, abs=atol)
    np.testing.assert_allclose(sums.gradient, slopes.T @ rows, atol=atol)
    np.testing.assert_allclose(curved.mass, spread.sum(axis=0), atol=atol)
    np.testing.assert_allclose(curved.first, spread.T @ rows, atol=atol)
    total = spread.sum(axis=1)
    np.testing.assert_allclose(curved.second, (rows.T * total) @ rows, atol=atol)
    own = problem.weight[:, None] * np.eye(4)[problem.y]
    np.testing.assert_allclose(of_classes, own.T @ rows, atol=atol)
    np.testing.assert_allclose(second, (rows.T * problem.weight) @ rows, atol=atol)
