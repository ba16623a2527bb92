"""Prices, beliefs and convex pieces of doubted labels, each against its definition."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from wdrsvm.problem import LOSSES, Certificate, RobustProblem, WassersteinBall
from wdrsvm.problem.label_noise import Beliefs, ConvexPiece, DoubtedProblem

N, P, C = 40, 3, 3
COST = np.array([[0.0, 0.4, 1.0], [0.7, 0.0, np.inf], [0.2, 0.9, 0.0]])
LOSS_NAMES = sorted(LOSSES)


def doubted(seed=0, repair=False, label_cost=0.5, max_disbelief=1.0, loss="logistic", **kw):
    rng = np.random.default_rng(seed)
    weight = rng.exponential(size=N)
    problem = RobustProblem.of(
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
    moved = problem.radius * problem.modulus(coef)
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


def test_where_all_labels_are_believed_none_can_be_flipped():
    """Not even those of no trust, whose flips were free."""
    doubts = doubted(label_cost=0.5, label_trust=np.arange(N) % 2 * 1.0)
    piece = doubts.convex_piece(Beliefs(np.ones(N), doubts.problem.y, guarded=False))
    assert piece.problem.label_trust is None
    assert np.isinf(piece.problem.flip_cost()).all()


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
    doubts = replace(doubts, problem=doubts.problem.with_rows(weight=weight / weight.sum()))
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
    thin = doubts.problem.with_rows(X=sparse.csr_array(doubts.problem.X))
    at = classifier()
    expected = pytest.approx(doubts.value(*at), rel=1e-12)
    assert replace(doubts, problem=thin).value(*at) == expected


@pytest.mark.parametrize("repair", [False, True])
def test_beliefs_agree_where_doubted_labels_do(repair):
    doubts = doubted(repair=repair)
    belief, label = np.ones(N), np.zeros(N, dtype=np.intp)
    belief[3], belief[4] = 0.0, 0.5
    one = Beliefs(belief, label, False)
    elsewhere = label.copy()
    elsewhere[5] = 1  # believed as given: what it might be does not matter
    assert doubts.agree(one, Beliefs(belief, elsewhere, False))
    for doubted_row in (3, 4):
        other = label.copy()
        other[doubted_row] = 2
        assert doubts.agree(one, Beliefs(belief, other, False)) is not repair
    assert doubts.agree(one, Beliefs(np.ones(N), label, False)) is False
    nearly = belief + np.where(belief < 1, 0.9e-9, 0.0)
    assert doubts.agree(one, Beliefs(nearly, label, False))
    assert not doubts.agree(one, Beliefs(nearly + 1e-9, label, False))


@pytest.mark.parametrize("repair", [False, True])
def test_all_believed_is_plain_training(repair):
    doubts = doubted(repair=repair, label_trust=np.linspace(0.0, 2.0, N))
    believed = doubts.all_believed
    np.testing.assert_array_equal(believed.belief, 1.0)
    np.testing.assert_array_equal(believed.label, doubts.problem.y)
    assert believed.guarded is False
    piece = doubts.convex_piece(believed)
    trusting = doubts.problem.with_rows(label_trust=None)
    trusting = replace(trusting, ball=WassersteinBall(0.1))
    at = classifier()
    assert piece.value(piece.problem.risk(*at).value) == trusting.risk(*at).value


def test_dearer_prices_are_all_multiplied():
    for cost in (0.5, COST):
        doubts = doubted(label_cost=cost, repair=True, max_disbelief=0.3)
        dearer = doubts.dearer(3.0)
        np.testing.assert_allclose(dearer.price, 3.0 * doubts.price)
        assert (dearer.repair, dearer.max_disbelief) == (True, 0.3)
        assert dearer.problem.ball.radius == 0.1


def test_a_certificate_of_the_piece_is_one_in_the_units_of_the_objective():
    piece = ConvexPiece(doubted().problem, 0.5, 0.25)
    assert piece.value(3.0) == 1.75
    assert piece.certified(Certificate(3.0, 1.0, 7.0)) == (1.75, 0.75, 7.0)


def test_offers_are_the_prices_of_the_best_other_label():
    trust = np.where(np.arange(N) % 5, 1.0, np.inf)
    for repair in (False, True):
        doubts = doubted(repair=repair, label_cost=COST, label_trust=trust)
        scores = np.random.default_rng(0).normal(size=(N, C))
        losses = doubts.problem.loss.of_labels(scores)
        loss, price, label = doubts.offers(scores)
        for n, y in enumerate(doubts.problem.y):
            open_to = [c for c in range(C) if c != y and np.isfinite(COST[y, c])]
            cost = {c: COST[y, c] + repair * losses[n, c] for c in open_to}
            assert loss[n] == losses[n, y]
            if np.isinf(trust[n]):
                assert (price[n], label[n]) == (np.inf, y)
                continue
            assert price[n] == pytest.approx(min(cost.values()))
            wanted = cost if repair else dict(enumerate(losses[n]))
            assert label[n] == min(open_to, key=wanted.get)


@pytest.mark.parametrize("repair", [False, True])
def test_rows_of_a_piece_are_those_believed_and_those_relabelled(repair):
    verified = np.where(np.arange(N) == 5, np.inf, 1.0)  # believed, at whatever price
    doubts = doubted(repair=repair, label_trust=verified)
    weight, y = doubts.problem.weight, doubts.problem.y
    belief, label = np.ones(N), (y + 1) % C
    belief[:3] = [0.0, 0.25, 0.5]
    piece = doubts.convex_piece(Beliefs(belief, label, False))
    left = weight * belief
    expected_paid = 0.5 * (weight - left).sum()
    rows, labels, masses = [*range(1, N)], [*y[1:]], [*left[1:]]
    if repair:
        rows += [0, 1, 2]
        labels += [*label[:3]]
        masses += [*(weight - left)[:3]]
    assert piece.paid == pytest.approx(expected_paid)
    assert piece.mass == pytest.approx(sum(masses))
    np.testing.assert_array_equal(piece.problem.X, doubts.problem.X[rows])
    np.testing.assert_array_equal(piece.problem.y, labels)
    np.testing.assert_allclose(piece.problem.weight, np.array(masses) / sum(masses))
    assert piece.problem.radius == pytest.approx(0.1 / sum(masses))
    assert np.isinf(piece.problem.ball.label_cost)
    assert piece.problem.label_trust is None


def test_rows_without_weight_are_neither_doubted_nor_the_lightest():
    doubts = doubted(label_cost=0.0)
    weight = doubts.problem.weight.copy()
    weight[::4] = 0.0
    doubts = replace(doubts, problem=doubts.problem.with_rows(weight=weight / weight.sum()))
    beliefs = doubts.beliefs(*classifier(size=5.0))
    assert (beliefs.belief[::4] == 1).all()
    assert beliefs.guarded
    carried = doubts.problem.weight > 0
    for c in range(C):
        own = carried & (doubts.problem.y == c)
        left = (doubts.problem.weight * beliefs.belief)[own].sum()
        assert left == pytest.approx(doubts.problem.weight[own].min())


def test_of_equal_gains_the_first_rows_are_disbelieved():
    doubts = doubted(label_cost=0.25, max_disbelief=0.25, loss="crammer-singer")
    problem = doubts.problem.with_rows(
        weight=np.full(N, 1 / N),
        X=np.zeros((N, P)),
        y=np.arange(N) % 2,
    )
    doubts = replace(doubts, problem=replace(problem, n_classes=2))
    beliefs = doubts.beliefs(np.zeros((2, P)), np.zeros(2))
    expected = np.where(np.arange(N) < N // 4, 0.0, 1.0)
    np.testing.assert_allclose(beliefs.belief, expected)


def test_a_loss_that_is_just_its_price_is_believed():
    doubts = doubted(label_cost=1.0, loss="crammer-singer")
    scores = np.zeros((N, C))
    assert (doubts.beliefs_at(scores).belief == 1).all()
    assert not doubts.beliefs_at(scores).guarded
