"""Which problems are solved in matrix products."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from wdrsvm.problem import LOSSES, Loss, RobustProblem, WassersteinBall
from wdrsvm.solvers import SolverSettings, choose
from wdrsvm.solvers.newton.method import newton
from wdrsvm.solvers.newton.products.choice import (
    by_envelope,
    in_products,
    serves_few_unknowns,
)
from wdrsvm.solvers.newton.products.envelopes.rounds import envelope_newton
from wdrsvm.solvers.newton.products.loop import product_newton
from wdrsvm.solvers.size import unknowns

from ....rows.chunked import chunked


def rows(n_rows=200, n_features=20, n_classes=5, **ball):
    X = np.random.default_rng(0).normal(size=(n_rows, n_features))
    y, weight = np.arange(n_rows) % n_classes, np.full(n_rows, 1 / n_rows)
    ball = WassersteinBall(**{"radius": 0.1, "label_cost": np.inf} | ball)
    return RobustProblem.of(X, y, weight, ball, n_classes, loss=LOSSES["logistic"])


def test_trusted_labels_with_the_l2_norm():
    assert in_products(rows())
    assert choose(rows(n_features=2000, n_rows=3000), 1e-3) == "newton"


@pytest.mark.parametrize(
    "ball",
    [
        {"label_cost": 0.0},
        {"label_cost": np.where(np.eye(5, k=1) > 0, 2.0, 1.0) - np.eye(5)},
        {"norm": "linf"},
        {"radius": 0.0},
        {"feature_cost": np.append(np.ones(19), np.inf)},
    ],
    ids=str,
)
def test_balls_it_does_not_know(ball):
    assert not in_products(rows(**ball))


def test_rows_and_losses_it_does_not_know():
    problem = rows()
    assert not in_products(problem.with_rows(X=sparse.csr_array(problem.X)))
    assert not in_products(replace(problem, loss=LOSSES["crammer-singer"]))
    assert not in_products(replace(problem, n_classes=6))
    costly = rows(label_cost=2.0)
    assert in_products(costly)
    assert not in_products(replace(costly, loss=Loss(0.1, 1.0)))
    assert in_products(costly.with_rows(label_trust=np.ones(200)))


def test_rows_on_a_cluster_are_passed_over_only_if_their_curvature_is_too_large_to_send():
    pytest.importorskip("dask")
    assert not in_products(chunked(rows(n_features=790)))
    assert in_products(chunked(rows(n_features=810)))
    many = rows(n_rows=1000, n_features=900)
    assert in_products(chunked(many))
    assert not in_products(chunked(replace(many, loss=LOSSES["crammer-singer"])))
    costly = rows(n_rows=1000, n_features=900, label_cost=2.0)
    assert in_products(chunked(costly.with_rows(label_trust=np.ones(1000))))


def test_the_l1_norm_with_flips_needs_more_rows_than_unknowns():
    assert in_products(rows(norm="l1", n_rows=100))
    assert in_products(rows(norm="l1", label_cost=2.0))
    assert not in_products(rows(norm="l1", n_rows=100, label_cost=2.0))


def test_an_envelope_serves_norms_that_hold_many_lengths_if_labels_are_trusted():
    assert by_envelope(rows(norm="l1"))
    assert not by_envelope(rows(norm="l2"))
    assert not by_envelope(rows(norm="linf", n_features=100))
    assert not by_envelope(rows(norm="l1", label_cost=2.0))


def test_the_linf_norm_needs_many_unknowns_but_not_too_many_differences_of_classes():
    assert not in_products(rows(norm="linf"))
    assert in_products(rows(norm="linf", n_features=100))
    assert in_products(rows(norm="linf", n_features=100, label_cost=2.0))
    assert not in_products(rows(norm="linf", n_rows=500, n_features=210, n_classes=500))


def test_few_coefficients_have_a_small_matrix():
    assert not in_products(rows(n_features=3))


def test_few_unknowns_where_labels_are_trusted(tmp_path):
    few = rows(n_features=3)
    assert not in_products(few)
    assert serves_few_unknowns(few, 1e-4)
    assert not serves_few_unknowns(few, 9e-5)
    some = few.take(np.arange(unknowns(few)))
    assert serves_few_unknowns(some, 1e-4)
    assert not serves_few_unknowns(some.take(np.arange(some.n_rows - 1)), 1e-4)
    assert not serves_few_unknowns(rows(n_features=3, label_cost=2.0), 1e-3)
    assert not serves_few_unknowns(replace(few, loss=LOSSES["crammer-singer"]), 1e-3)
    mapped = np.lib.format.open_memmap(tmp_path / "rows.npy", "w+", shape=few.X.shape)
    mapped[:] = few.X
    assert not serves_few_unknowns(few.with_rows(X=mapped), 1e-3)


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_newton_takes_its_steps_with_few_unknowns(norm):
    few = rows(n_features=3, norm=norm)
    told = few, SolverSettings(tol=1e-4)
    in_rounds = {"l1": envelope_newton, "l2": product_newton}[norm]
    np.testing.assert_array_equal(newton(*told).coef, in_rounds(*told).coef)
    assert newton(*told).certificate.holds(1e-4)
