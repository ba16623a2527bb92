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
from wdrsvm.solvers.newton.products.design import At, CurvatureSums, Design, in_columns
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
    own = shares[np.arange(90), problem.y]
    expected = np.bincount(problem.y, problem.weight * own * (1 - own), 6)
    np.testing.assert_allclose(sums.own.curvature.sum(axis=1), expected)
    np.testing.assert_allclose(sums.own.curvature.sum(axis=1), sums.mass[:, 0])
    first = np.einsum("ck,ckq->cq", sums.own.curvature, sums.own.rows)
    np.testing.assert_allclose(first, sums.first[:, 0])


def test_the_curvature_has_them_as_they_are_and_one_mean_for_all_others():
    rng = np.random.default_rng(3)
    rows, curvature = rng.normal(size=(3, 40, 4)), rng.uniform(size=(3, 40))
    halves = curvature.reshape(3, 2, 20)
    mass = halves.sum(axis=2)
    first = np.einsum("crn,crnq->crq", halves, rows.reshape(3, 2, 20, 4))
    second = np.einsum("cn,cnq,cnr->qr", curvature, rows, rows)
    plain = CurvatureSums(mass, first, second)
    own = module.HeavyRows(curvature[:, :20], rows[:, :20])
    found = ClassCurvature.of(plain._replace(own=own), n_touchable=4)
    expected = ClassCurvature.of(plain, n_touchable=4)
    np.testing.assert_array_equal(found.plain.means, expected.means)
    assert expected.plain is None
    assert found.moved(mass, first).plain is None
    stiffness, gradient = np.full(3, 0.3), rng.normal(size=(3, 4))
    step = Preconditioner.of(found, stiffness)(gradient)
    other = Preconditioner.of(expected, stiffness, heavy=own)(gradient)
    np.testing.assert_allclose(step, other)
    basis = found.basis
    image = found.times(step @ basis) @ basis.T + (0.3 + found.floor) * step
    np.testing.assert_allclose(image, gradient)


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
