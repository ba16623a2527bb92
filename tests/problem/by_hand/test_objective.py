"""What a problem knows of its rows, in blocks, narrow numbers and odd corners."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import sparse

from wdrsvm.problem import LOSSES, RobustProblem, WassersteinBall
from wdrsvm.rows import blocks

from ...agreement.instances import random_problem
from ..costs import costs_by_hand


def classifier_for(problem, seed=0):
    rng = np.random.default_rng(seed)
    coef = rng.normal(size=(problem.n_classes, problem.n_features))
    return coef, rng.normal(size=problem.n_classes)


def test_flips_of_many_blocks_are_those_of_one(monkeypatch):
    problem = random_problem(2)
    at = classifier_for(problem)
    whole = problem.flip_choices(*at)
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 20)
    assert len([*problem.blocks()]) > 3
    parts = problem.flip_choices(*at)
    np.testing.assert_allclose(parts.loss, whole.loss, atol=1e-14)
    np.testing.assert_array_equal(parts.label, whole.label)
    # A row's flips stand in the order of the climb, wherever the row's block begins.
    for n in np.unique(whole.flips.row):
        one, other = (found.flips.row == n for found in (parts, whole))
        np.testing.assert_array_equal(parts.flips.label[one], whole.flips.label[other])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_blocks_are_even_and_as_large_as_allowed(kind, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 20)
    found = [*blocks.row_blocks(kind(np.ones((23, 5))), 3)]
    most = 20 // 5 if kind is np.asarray else 20 // 3
    sizes = [rows.stop - rows.start for rows in found]
    assert sum(sizes) == 23
    assert max(sizes) <= most
    assert max(sizes) - min(sizes) <= len(sizes)
    assert len(sizes) == -(-23 // most)
    assert [rows.start for rows in found[1:]] == [rows.stop for rows in found[:-1]]


def test_a_block_has_one_row_at_least(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 2)
    found = [*blocks.row_blocks(np.ones((3, 9)), 3)]
    assert found == [slice(0, 1), slice(1, 2), slice(2, 3)]
    assert [*blocks.row_blocks(np.ones((0, 9)), 3)] == []
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 30)
    assert [*blocks.row_blocks(np.ones((6, 0)), 10)] == [slice(0, 3), slice(3, 6)]


def test_the_middle_counts_where_columns_are_ten_times_as_far_as_they_are_wide(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 4)
    # From 19 to 21 wide 2: the middle is 20 away, ten times as far, not more.
    X = np.array([[19.0, -19.5, 5.0], [20.0, -20.0, 5.0], [21.0, -20.5, 5.0]])
    problem = RobustProblem.of(
        X, np.arange(3), np.full(3, 1 / 3), WassersteinBall(0.1), n_classes=3
    )
    assert len([*problem.blocks()]) == 3
    assert problem.centre.tolist() == [0.0, -20.0, 5.0]
    for other in (replace(problem, fit_intercept=False), problem.take(np.arange(0))):
        assert other.centre.tolist() == [0.0] * 3
    assert problem.with_rows(X=sparse.csr_array(X)).centre.tolist() == [0.0] * 3
    coef, intercept = classifier_for(problem)
    plain = X @ coef.T + intercept
    np.testing.assert_allclose(problem.scores(coef, intercept), plain, atol=1e-12)
    np.testing.assert_allclose(problem.scores(coef, intercept, slice(1, 2)), plain[1:2])


def test_the_middle_of_large_numbers_does_not_overflow():
    X = np.array([[1.7e308], [1.6e308]])
    problem = RobustProblem.of(X, np.arange(2), np.full(2, 0.5), WassersteinBall(0.1), 2)
    assert problem.centre == pytest.approx(1.65e308)


def test_narrow_numbers_are_counted_as_floats():
    X = np.arange(12, dtype=np.int8).reshape(4, 3) * 10
    problem = RobustProblem.of(
        X, np.arange(4) % 2, np.full(4, 0.25), WassersteinBall(0.1), 2
    )
    wide = problem.with_rows(X=X.astype(np.float64))
    assert problem.features(slice(1, 3)).dtype == np.float64
    assert wide.features(slice(None)).base is wide.X
    at = classifier_for(wide)
    assert problem.risk(*at) == wide.risk(*at)
    np.testing.assert_array_equal(blocks.scores_of(X, *at), wide.scores(*at))


def test_scores_are_the_same_block_by_block(monkeypatch):
    problem = random_problem(3)
    at = classifier_for(problem)
    expected = problem.X @ at[0].T + at[1]
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 20)
    for X in (problem.X, sparse.csr_array(problem.X)):
        np.testing.assert_allclose(blocks.scores_of(X, *at), expected, atol=1e-12)


def test_rows_are_taken_with_all_that_is_theirs():
    problem = random_problem(3)
    trust = np.linspace(0.5, 1.0, problem.n_rows)
    for given in (None, trust):
        problem = problem.with_rows(label_trust=given)
        taken = problem.take(np.array([4, 1]))
        np.testing.assert_array_equal(taken.X, problem.X[[4, 1]])
        np.testing.assert_array_equal(taken.y, problem.y[[4, 1]])
        np.testing.assert_array_equal(taken.weight, problem.weight[[4, 1]])
        expected = None if given is None else trust[[4, 1]]
        np.testing.assert_array_equal(taken.label_trust, expected)
    assert not problem.is_distributed
    assert problem.by_chunks(lambda part: part.take([0])).n_rows == 1


def test_idle_rows_are_left_out():
    problem = random_problem(3)
    assert problem.without_idle_rows() is problem
    weight = problem.weight.copy()
    weight[[0, 2]] = 0.0
    busy = problem.with_rows(weight=weight).without_idle_rows()
    np.testing.assert_array_equal(busy.X, np.delete(problem.X, [0, 2], axis=0))
    assert busy.weight.all()


@pytest.mark.parametrize("seed", range(8))
def test_a_table_of_flip_costs_has_them_all(seed):
    problem = random_problem(seed)
    rows = slice(1, problem.n_rows - 1)
    for case in (problem, problem.with_rows(label_trust=None), problem.with_radius(0.0)):
        for some in (slice(None), rows):
            table, line = case.flip_cost_table(some)
            np.testing.assert_array_equal(table[line], case.attainable_flip_cost(some))
        hand = costs_by_hand(case)
        hand[np.arange(case.n_rows), case.y] = np.inf
        np.testing.assert_allclose(case.flip_cost(), hand)
        np.testing.assert_array_equal(case.flip_cost(rows), case.flip_cost()[rows])


def test_a_category_costs_what_switching_does():
    ball = WassersteinBall(
        0.1, feature_cost=[1.0, 2.0, 3.0, 4.0], categorical=[([1, 3], 0.5)]
    )
    X = np.array([[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    problem = RobustProblem.of(X, np.arange(2), np.full(2, 0.5), ball, 2)
    assert problem.feature_cost.tolist() == [1.0, 0.5, 3.0, 0.5]
    assert ball.feature_cost.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert problem.is_bounded
    assert not problem.with_radius(0.0).is_bounded
    assert problem.moves is problem.moves
    smooth = replace(problem, loss=LOSSES["logistic"])
    with pytest.raises(ValueError, match="support and categorical need the Crammer-Singer"):
        smooth.risk(*classifier_for(problem))


def test_the_triangle_bound_goes_by_the_name_of_a_norm():
    problem = random_problem(3, norm="l2")
    assert problem.norm == "l2"
    triangle = replace(problem, lipschitz="triangle")
    assert triangle.norm == "triangle"
    coef, _ = classifier_for(problem)
    assert triangle.modulus(coef) >= problem.modulus(coef)


@pytest.mark.parametrize("seed", [3, 6, 8, 12])
def test_a_subgradient_is_that_of_the_worst_piece_of_every_row(seed):
    """Label and winner of each row by looking at all of them; an impossible flip is
    impossible at no price too."""
    for lam in (0.0, 0.6):
        problem = random_problem(seed)
        coef, intercept = classifier_for(problem, seed)
        found = problem.subgradient(coef, intercept, lam)
        d_coef, d_intercept = np.zeros_like(coef), np.zeros_like(intercept)
        d_lam = problem.radius
        scores, cost = problem.X @ coef.T + intercept, costs_by_hand(problem)
        each = np.arange(problem.n_classes)
        for n in range(problem.n_rows):
            pieces = {
                (j, c): scores[n, j] - scores[n, c] + (j != c) - lam * cost[n, c]
                for j, c in product(each, each)
                if np.isfinite(cost[n, c])
            }
            j, c = max(pieces, key=pieces.get)
            if pieces[j, c] <= 0:
                continue
            slope = problem.weight[n] * (np.eye(len(each))[j] - np.eye(len(each))[c])
            d_coef += np.outer(slope, problem.X[n])
            d_intercept += slope
            d_lam -= problem.weight[n] * cost[n, c]
        np.testing.assert_allclose(found.coef, d_coef, atol=1e-12)
        np.testing.assert_allclose(found.intercept, d_intercept, atol=1e-12)
        assert found.lam == pytest.approx(d_lam)
