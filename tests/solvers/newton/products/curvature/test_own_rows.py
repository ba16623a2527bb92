"""The rows of the classes themselves, taken as they are."""

from dataclasses import replace

import numpy as np
import pytest

from wdrsvm.problem import LOSSES
from wdrsvm.solvers import SolverSettings
from wdrsvm.solvers.newton.products.curvature import own_rows as module
from wdrsvm.solvers.newton.products.curvature.own_rows import OwnRows
from wdrsvm.solvers.newton.products.curvature.preconditioner import (
    ClassCurvature,
    Preconditioner,
)
from wdrsvm.solvers.newton.products.curvature.sums import CurvatureSums
from wdrsvm.solvers.newton.products.design import At, Design, in_columns
from wdrsvm.solvers.newton.products.loop import product_newton
from wdrsvm.solvers.newton.products.settings import PRODUCTS
from wdrsvm.solvers.scaling import Scaling

from ..test_loop import blobs
from ..test_model import embeddings


@pytest.fixture(autouse=True)
def few_rows_count(monkeypatch):
    monkeypatch.setattr(module, "PRODUCTS", replace(PRODUCTS, least_own_work=0))


def features_of(problem):
    return lambda numbers: np.asarray(problem.X)[numbers]


def test_every_row_stands_at_its_class_once():
    problem = blobs(n_rows=120, n_classes=7)
    own = OwnRows.of(problem, features_of(problem))
    curvature = np.random.default_rng(0).uniform(1, 2, 120)
    found = own.weighted(curvature)
    for c in range(7):
        kept = found.curvature[c] > 0
        assert sorted(own.numbers[c][kept]) == sorted(np.flatnonzero(problem.y == c))
        np.testing.assert_array_equal(found.rows[c], problem.X[own.numbers[c]])
        np.testing.assert_array_equal(
            found.curvature[c][kept], curvature[own.numbers[c][kept]]
        )


@pytest.mark.parametrize(
    ("limits", "norm"),
    [
        ({"own_rows": 5}, "l2"),
        ({"max_own_entries": 100}, "l2"),
        ({"least_own_work": 10**9}, "l2"),
        ({}, "l1"),
    ],
)
def test_many_rows_small_problems_and_other_norms_go_without(limits, norm, monkeypatch):
    problem = blobs(n_rows=120, n_classes=7, ball={"norm": norm})
    changed = replace(PRODUCTS, **({"least_own_work": 0} | limits))
    monkeypatch.setattr(module, "PRODUCTS", changed)
    assert OwnRows.of(problem, features_of(problem)) is None


def test_their_curvatures_are_those_of_the_softmax():
    problem = blobs(n_rows=90, n_features=5, n_classes=6, loss=LOSSES["logistic"])
    scaling = Scaling.of(problem)
    prepared = in_columns(scaling, np.float64, problem)
    coef = np.random.default_rng(1).normal(size=(6, scaling.n_columns))
    with prepared.reduction() as reduction:
        sums = Design(scaling, reduction).curvature(At(coef))
    scores = prepared.X @ coef.T
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    curvature = problem.weight[:, None] * shares * (1 - shares)
    of_own = curvature[np.arange(90), problem.y]
    np.testing.assert_allclose(
        sums.own.curvature.sum(axis=1), np.bincount(problem.y, of_own, 6)
    )
    curvature[np.arange(90), problem.y] = 0.0
    np.testing.assert_allclose(sums.mass[:, 0], curvature.sum(axis=0))
    np.testing.assert_allclose(sums.first[:, 0], curvature.T @ prepared.X)
    second = np.einsum("n,nq,nr->qr", curvature.sum(axis=1), prepared.X, prepared.X)
    np.testing.assert_allclose(sums.second, second, atol=1e-12)


def test_some_rows_tell_the_curvature_of_all_others(monkeypatch):
    few = replace(PRODUCTS, least_own_work=0, others_rows=300)
    monkeypatch.setattr(module, "PRODUCTS", few)
    problem = blobs(n_rows=2000, n_features=5, n_classes=50)
    scaling = Scaling.of(problem)
    prepared = in_columns(scaling, np.float64, problem)
    coef = 0.1 * np.random.default_rng(1).normal(size=(50, scaling.n_columns))
    with prepared.reduction() as reduction:
        design = Design(scaling, reduction)
        assert design.own_rows.step == 3  # Not 6 or 5: labels come in turns.
        some = design.curvature(At(coef))
        monkeypatch.setattr(module, "PRODUCTS", replace(few, others_rows=2000))
        every = Design(scaling, reduction).curvature(At(coef))
    np.testing.assert_array_equal(some.own.curvature, every.own.curvature)
    assert np.abs(some.mass / every.mass - 1).max() < 0.3
    assert some.mass.sum() == pytest.approx(every.mass.sum(), rel=0.03)
    assert np.trace(some.second) == pytest.approx(np.trace(every.second), rel=0.05)


def test_the_curvature_has_them_as_they_are_and_one_mean_for_all_others():
    rng = np.random.default_rng(3)
    rows, curvature = rng.normal(size=(3, 40, 4)), rng.uniform(size=(3, 40))
    mass = curvature.sum(axis=1)[:, None]
    first = (curvature[:, None] @ rows).reshape(3, 1, 4)
    second = np.einsum("cn,cnq,cnr->qr", curvature, rows, rows)
    others = CurvatureSums(mass, first, second)
    own = module.HeavyRows(rng.uniform(size=(3, 20)), rng.normal(size=(3, 20, 4)))
    found = ClassCurvature.of(others._replace(own=own), n_touchable=4)
    apart = ClassCurvature.of(others, n_touchable=4)
    basis, step = found.basis, rng.normal(size=(3, 4))
    turned = own.rows @ basis
    along = np.einsum("ckq,cq->ck", turned, step)
    expected = apart.times(step) + np.einsum("ck,ckq,ck->cq", own.curvature, turned, along)
    np.testing.assert_allclose(found.times(step), expected)
    stiffness = np.full(3, 0.3)
    inverse = Preconditioner.of(found, stiffness)
    image = expected + (stiffness[:, None] + found.floor) * step
    np.testing.assert_allclose(inverse(image @ basis.T), step @ basis.T)


def test_they_save_steps_and_prove_as_much(monkeypatch):
    problem = embeddings(n_rows=1200, n_classes=100)
    steps = {}
    for most in (0, 48):
        changed = replace(PRODUCTS, own_rows=most, least_own_work=0)
        monkeypatch.setattr(module, "PRODUCTS", changed)
        result = product_newton(problem, SolverSettings(tol=1e-3))
        assert result.certificate.holds(1e-3)
        steps[most] = result.n_iter
    assert steps[48] < 0.9 * steps[0]
