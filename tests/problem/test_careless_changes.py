"""Small things that a careless change would break and larger tests would not notice."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from wdrsvm.problem import Certificate, RobustProblem, WassersteinBall, objective
from wdrsvm.problem.disbelief import Beliefs, DoubtedProblem
from wdrsvm.problem.multipliers import RowMultipliers, _add_curvature
from wdrsvm.problem.objective import row_blocks


def small_problem(n_rows=11, **changes):
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % 3
    X = rng.normal(size=(n_rows, 2)) + y[:, None]
    weight = rng.uniform(0.5, 1.0, n_rows)
    ball = WassersteinBall(0.2, 0.5)
    return RobustProblem(X, y, weight / weight.sum(), ball, 3, **changes)


def classifier():
    rng = np.random.default_rng(1)
    return rng.normal(size=(3, 2)), rng.normal(size=3)


@pytest.mark.parametrize(
    ("value", "bound", "tol", "holds"),
    [
        (1.0, 0.75, 0.25, True),
        (1.0, 0.74, 0.25, False),
        # Below a hundredth the gap is measured against a hundredth.
        (1e-3, 0.91e-3, 1e-2, True),
        (1e-3, 0.89e-3, 1e-2, False),
        (np.inf, -np.inf, 0.5, False),
    ],
)
def test_a_certificate_holds_up_to_its_tolerance(value, bound, tol, holds):
    assert bool(Certificate(value, bound, 0.0).holds(tol)) is holds


def test_feature_costs_become_floats():
    cost = WassersteinBall(0.1, feature_cost=[1, 2]).feature_cost
    assert isinstance(cost, np.ndarray)
    assert cost.dtype == np.float64


def test_a_category_one_column_too_far_is_named():
    ball = WassersteinBall(0.1, categorical=[([0, 3], 1.0)])
    assert len(ball.groups(4)) == 1
    with pytest.raises(ValueError, match="names column 3, but X has 3 features"):
        ball.groups(3)


def test_flips_of_many_blocks_are_those_of_one(monkeypatch):
    problem, at = small_problem(), classifier()
    whole = problem.flip_choices(*at)
    monkeypatch.setattr(objective, "BLOCK_ENTRIES", 6)
    assert len([*problem.blocks()]) > 3
    parts = problem.flip_choices(*at)
    np.testing.assert_array_equal(parts.flips.row, whole.flips.row)
    np.testing.assert_array_equal(parts.label, whole.label)
    assert problem.risk(*at).value == pytest.approx(
        small_problem().risk(*at).value, rel=1e-14
    )


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_blocks_are_even_and_as_large_as_allowed(kind, monkeypatch):
    monkeypatch.setattr(objective, "BLOCK_ENTRIES", 20)
    blocks = [*row_blocks(kind(np.ones((23, 5))), 3)]
    most = 20 // 5 if kind is np.asarray else 20 // 3
    sizes = [rows.stop - rows.start for rows in blocks]
    assert sum(sizes) == 23
    assert max(sizes) <= most
    assert len(sizes) == -(-23 // most)
    assert [rows.start for rows in blocks[1:]] == [rows.stop for rows in blocks[:-1]]


def test_a_block_has_one_row_at_least(monkeypatch):
    monkeypatch.setattr(objective, "BLOCK_ENTRIES", 2)
    assert [*row_blocks(np.ones((3, 9)), 3)] == [slice(0, 1), slice(1, 2), slice(2, 3)]
    assert [*row_blocks(np.ones((0, 9)), 3)] == []


def test_curvature_is_that_of_its_formula():
    rng = np.random.default_rng(2)
    mass, columns = rng.exponential(size=(7, 3)), rng.normal(size=(7, 2))
    mass[0, 1:] = 0.0  # all of a row's mass in one class has no curvature
    system = np.zeros((3, 2, 3, 2))
    _add_curvature(system, mass, columns)
    expected = np.zeros_like(system)
    for m, e in zip(mass, columns, strict=True):
        inner = np.diag(m) - np.outer(m, m) / m.sum()
        expected += np.einsum("ij,d,e->idje", inner, e, e)
    np.testing.assert_allclose(system, expected, atol=1e-12)


def test_loosened_multipliers_have_a_trace_of_mass_everywhere():
    nothing = np.zeros((4, 3))
    loose = RowMultipliers(nothing, nothing, nothing).loosened(np.full(4, 0.25))
    assert (loose.alpha > 0).all()
    assert (loose.beta > 0).all()
    assert loose.alpha.sum() == loose.beta.sum() < 1e-3


@pytest.mark.parametrize("repair", [False, True])
def test_beliefs_agree_where_doubted_labels_do(repair):
    doubts = DoubtedProblem(small_problem(), repair, 1.0)
    belief, label = np.ones(11), np.zeros(11, dtype=np.intp)
    belief[3] = 0.0
    one = Beliefs(belief, label, False)
    elsewhere = label.copy()
    elsewhere[5] = 1  # believed as given: what it might be does not matter
    assert doubts.agree(one, Beliefs(belief, elsewhere, False))
    other = label.copy()
    other[3] = 2
    assert doubts.agree(one, Beliefs(belief, other, False)) is not repair
    assert not doubts.agree(one, Beliefs(np.ones(11), label, False))


@pytest.mark.parametrize("repair", [False, True])
def test_all_believed_is_plain_training(repair):
    problem = small_problem(label_trust=np.linspace(0.0, 2.0, 11))
    doubts = DoubtedProblem(problem, repair, 1.0)
    piece = doubts.convex_piece(doubts.all_believed)
    trusting = replace(problem, ball=WassersteinBall(0.2), label_trust=None)
    at = classifier()
    assert piece.value(piece.problem.risk(*at).value) == trusting.risk(*at).value
