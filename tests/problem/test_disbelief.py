"""Prices, beliefs and convex pieces of doubted labels, each against its definition."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from wdrsvm.problem import LOSSES, RobustProblem, WassersteinBall
from wdrsvm.problem.disbelief import DoubtedProblem

N, P, C = 40, 3, 3
COST = np.array([[0.0, 0.4, 1.0], [0.7, 0.0, np.inf], [0.2, 0.9, 0.0]])
LOSS_NAMES = sorted(LOSSES)


def doubted(seed=0, repair=False, label_cost=0.5, max_disbelief=1.0, loss="logistic", **kw):
    rng = np.random.default_rng(seed)
    weight = rng.exponential(size=N)
    problem = RobustProblem(
        rng.normal(size=(N, P)),
        rng.permutation(np.arange(N) % C),
        weight / weight.sum(),
        WassersteinBall(0.1, label_cost),
        C,
        loss=LOSSES[loss],
        **kw,
    )
    return DoubtedProblem(problem, repair, max_disbelief)


def classifier(seed=0, size=2.0):
    rng = np.random.default_rng([seed, 7])
    return size * rng.normal(size=(C, P)), rng.normal(size=C)


def risk_of_prices(doubts, coef, intercept, prices):
    """eps L(M) + sum w min(loss, price), with no guards."""
    problem = doubts.problem
    losses = problem.loss.of_labels(problem.scores(coef, intercept))
    given = losses[np.arange(N), problem.y]
    moved = problem.radius * problem.lipschitz(coef)
    return moved + problem.weight @ np.minimum(given, prices(losses))


@pytest.mark.parametrize("label_cost", [0.5, COST], ids=["number", "matrix"])
@pytest.mark.parametrize("loss", LOSS_NAMES)
@pytest.mark.parametrize("seed", range(3))
def test_trim_caps_the_loss_at_the_cheapest_label(seed, loss, label_cost):
    trust = np.random.default_rng(seed).choice([0.0, 0.5, 2.0, np.inf], N)
    doubts = doubted(seed, label_cost=label_cost, loss=loss, label_trust=trust)
    cost = WassersteinBall(0.0, label_cost).label_cost_matrix(C)
    cheapest = np.where(np.eye(C, dtype=bool), np.inf, cost).min(axis=1)[doubts.problem.y]
    price = np.where(np.isinf(trust), np.inf, cheapest * np.where(trust < 9, trust, 1.0))
    at = classifier(seed)
    expected = risk_of_prices(doubts, *at, lambda losses: price)
    assert doubts.value(*at) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("label_cost", [0.5, COST], ids=["number", "matrix"])
@pytest.mark.parametrize("loss", LOSS_NAMES)
@pytest.mark.parametrize("seed", range(3))
def test_repair_takes_the_best_other_label(seed, loss, label_cost):
    doubts = doubted(seed, True, label_cost, loss=loss)
    cost = WassersteinBall(0.0, label_cost).label_cost_matrix(C)[doubts.problem.y]
    at = classifier(seed)
    expected = risk_of_prices(doubts, *at, lambda losses: (losses + cost).min(axis=1))
    assert doubts.value(*at) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("share", [0.1, 0.37, 0.99])
@pytest.mark.parametrize("repair", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_guarded_beliefs_are_the_optimum_of_a_linear_program(seed, repair, share):
    doubts = doubted(seed, repair, 0.05, share)
    problem, at = doubts.problem, classifier(seed, 4.0)
    loss, price, _ = doubts.offers(problem.scores(*at))
    of_class = np.arange(C)[:, None] == problem.y
    lightest = [problem.weight[rows].min() for rows in of_class]
    found = linprog(
        problem.weight * (price - loss),
        A_ub=np.vstack([problem.weight, of_class * problem.weight]),
        b_ub=np.r_[share, of_class @ problem.weight - lightest],
        bounds=(0, 1),
    )
    beliefs = doubts.beliefs(*at)
    assert beliefs.guarded == (((price < loss) & (beliefs.belief > 0)).any())
    assert beliefs.guarded or share > 0.9
    gained = problem.weight * (price - loss) @ (1 - beliefs.belief)
    assert gained == pytest.approx(found.fun, abs=1e-9)
    believed = of_class @ (problem.weight * beliefs.belief)
    assert (believed >= np.array(lightest) - 1e-12).all()
    assert problem.weight @ (1 - beliefs.belief) <= share + 1e-12


def test_beliefs_are_whole_without_guards():
    beliefs = doubted().beliefs(*classifier())
    assert set(beliefs.belief) == {0.0, 1.0}
    assert not beliefs.guarded


@pytest.mark.parametrize("share", [0.2, 1.0])
@pytest.mark.parametrize("repair", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_convex_piece_lies_above_and_touches(seed, repair, share):
    doubts = doubted(seed, repair, 0.3, share)
    at = classifier(seed)
    piece = doubts.convex_piece(doubts.beliefs(*at))
    assert piece.problem.weight.sum() == pytest.approx(1.0)
    touching = piece.value(piece.problem.risk(*at).value)
    assert touching == pytest.approx(doubts.value(*at), rel=1e-12)
    for other in range(20):
        elsewhere = classifier(100 + other)
        above = piece.value(piece.problem.risk(*elsewhere).value)
        assert above >= doubts.value(*elsewhere) - 1e-12


@pytest.mark.parametrize("repair", [False, True])
def test_verified_labels_are_never_disbelieved(repair):
    trust = np.where(np.arange(N) % 2, np.inf, 0.0)
    doubts = doubted(repair=repair, label_trust=trust)
    belief = doubts.beliefs(*classifier(size=5.0)).belief
    assert (belief[np.isinf(trust)] == 1).all()
    assert (belief < 1).any()


@pytest.mark.parametrize("repair", [False, True])
def test_no_trust_in_an_impossible_confusion_does_not_make_it_possible(repair):
    doubts = doubted(repair=repair, label_cost=np.inf, label_trust=np.zeros(N))
    assert (doubts.beliefs(*classifier(size=5.0)).belief == 1).all()


def test_a_label_without_weight_is_not_on_offer():
    doubts = doubted(repair=True, label_cost=0.0)
    weight = np.where(doubts.problem.y == 2, 0.0, doubts.problem.weight)
    doubts = replace(doubts, problem=replace(doubts.problem, weight=weight / weight.sum()))
    beliefs = doubts.beliefs(*classifier(size=5.0))
    assert (beliefs.belief < 1).any()
    assert not (beliefs.label == 2)[weight > 0].any()


def test_belief_in_all_labels_is_the_problem_with_trusted_labels():
    doubts = doubted(label_cost=np.inf)
    piece = doubts.convex_piece(doubts.all_believed)
    assert piece.problem.X is doubts.problem.X
    assert (piece.mass, piece.paid) == (1.0, 0.0)
    at = classifier()
    assert doubts.value(*at) == doubts.problem.risk(*at).value


@pytest.mark.parametrize("repair", [False, True])
def test_sparse_rows_are_the_same_rows(repair):
    doubts = doubted(repair=repair, max_disbelief=0.2)
    thin = replace(doubts.problem, X=sparse.csr_array(doubts.problem.X))
    at = classifier()
    expected = pytest.approx(doubts.value(*at), rel=1e-12)
    assert replace(doubts, problem=thin).value(*at) == expected
