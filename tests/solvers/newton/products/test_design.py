"""Passes in the solver's columns against the problem's own formulas."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from wdrsvm.solvers.newton.products import design as design_module
from wdrsvm.solvers.newton.products.design import (
    At,
    Design,
    in_columns,
    keeps_scores,
)
from wdrsvm.solvers.newton.products.line import BlockScores
from wdrsvm.solvers.newton.products.settings import PRODUCTS
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
        of_classes, second = design.class_sums(), design.second_moment()
        diagonal = replace(design, is_principal=True)
        squares, bent = diagonal.second_moment(), diagonal.curvature(At(coef))
    assert sums.loss == pytest.approx(problem.weight @ losses, abs=atol)
    np.testing.assert_allclose(sums.gradient, slopes.T @ rows, atol=atol)
    own = np.where(np.eye(4)[problem.y], spread, 0.0)
    for part, of_part in enumerate((own, spread - own)):
        np.testing.assert_allclose(curved.mass[:, part], of_part.sum(axis=0), atol=atol)
        np.testing.assert_allclose(curved.first[:, part], of_part.T @ rows, atol=atol)
    total = spread.sum(axis=1)
    np.testing.assert_allclose(curved.second, (rows.T * total) @ rows, atol=atol)
    own = problem.weight[:, None] * np.eye(4)[problem.y]
    np.testing.assert_allclose(of_classes, own.T @ rows, atol=atol)
    np.testing.assert_allclose(second, (rows.T * problem.weight) @ rows, atol=atol)
    np.testing.assert_allclose(squares, np.diag(second), atol=atol)
    np.testing.assert_allclose(bent.second, np.diag(curved.second), atol=atol)


def test_sums_that_lead_the_way_may_take_one_row_out_of_three():
    problem = blobs(n_classes=4)
    scaling = Scaling.of(problem)
    prepared = in_columns(scaling, np.float64, problem)
    third = prepared.take(np.arange(0, 300, 3))
    at = At(np.random.default_rng(1).normal(size=(4, scaling.n_columns)))
    with prepared.reduction() as reduction, third.reduction() as of_third:
        some, few = Design(scaling, reduction, every=3), Design(scaling, of_third)
        for one, other in zip(some.curvature(at)[:3], few.curvature(at)[:3], strict=True):
            np.testing.assert_allclose(one, 3 * other)
        np.testing.assert_allclose(some.second_moment(), 3 * few.second_moment())
        every = replace(some, is_principal=True), replace(few, is_principal=True)
        one, other = (design.second_moment() for design in every)
        np.testing.assert_allclose(one, 3 * other)
        everyone = Design(scaling, reduction).class_sums()
        np.testing.assert_allclose(some.class_sums(), everyone)


def test_curvatures_at_kept_scores_need_no_product():
    problem = blobs(n_classes=4)
    scaling = Scaling.of(problem)
    prepared = in_columns(scaling, np.float64, problem)
    coef = np.random.default_rng(1).normal(size=(4, scaling.n_columns))
    kept = BlockScores(problem.n_rows, 4, np.float64)
    for rows in prepared.blocks():
        kept[rows][:] = coef @ prepared.X[rows].T
    with prepared.reduction() as reduction:
        design = Design(scaling, reduction, every=3, n_heavy=5)
        plain, known = At(coef), At(np.full_like(coef, np.nan), scores=kept)
        scores = kept.flat.copy()
        for one, other in zip(
            design.curvature(plain)[:3], design.curvature(known)[:3], strict=True
        ):
            np.testing.assert_allclose(one, other)
        heavy = (design.heavy_curvature(at) for at in (plain, known))
        np.testing.assert_allclose(*(found.first for found in heavy))
    np.testing.assert_array_equal(kept.flat, scores)


def test_scores_are_kept_where_they_are_many_but_not_too_many(monkeypatch):
    problem = blobs(n_classes=4)
    for least, most, expected in ((0, 4800, True), (1201, 9600, False), (0, 4799, False)):
        limits = replace(PRODUCTS, least_kept_scores=least, max_kept_bytes=most)
        monkeypatch.setattr(design_module, "PRODUCTS", limits)
        assert keeps_scores(problem, np.float32) is expected
    assert not keeps_scores(problem, np.float64)
