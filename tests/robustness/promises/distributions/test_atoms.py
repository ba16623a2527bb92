"""Atoms of a worst-case distribution, by hand and by brute force."""

import itertools

import numpy as np
import pytest
from scipy import sparse

from wdrsvm import WassersteinBall
from wdrsvm.problem import LOSSES
from wdrsvm.robustness.promises.distributions.atoms import (
    Atoms,
    _best_tail,
    _escape,
    _merged,
    label_costs,
    planned,
    relabelled,
    with_tail,
)
from wdrsvm.robustness.promises.worst_case import judged_classifier

from ...cases import ORDER, FixedScores, random_case

X = np.array([[0.0, 1.0], [2.0, -1.0], [-1.0, 0.5], [1.0, 1.0]])
Y = np.array([0, 1, 2, 1])
CLASSIFIER = FixedScores(
    np.array([[1.0, 0.0], [0.0, 2.0], [-1.0, -1.0]]), np.array([0.5, 0.0, 0.25])
)
ATOMS = Atoms(np.arange(4), X, Y, np.array([0.1, 0.2, 0.3, 0.4]))


def judged_of(ball, loss="crammer-singer", trust=None, weight=None, X=X):
    return judged_classifier(CLASSIFIER, X, Y, ball, loss, weight, trust)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_a_split_atom_keeps_its_mass(convert):
    atoms = ATOMS._replace(X=convert(X)).split(2, 1, 0.05, np.array([1.0, -1.0]))
    assert atoms.source.tolist() == [0, 1, 2, 3, 2]
    assert atoms.label.tolist() == [0, 1, 2, 1, 1]
    np.testing.assert_allclose(atoms.weight, [0.1, 0.2, 0.25, 0.4, 0.05])
    assert sparse.issparse(atoms.X) == (convert is not np.asarray)
    places = atoms.X.toarray() if sparse.issparse(atoms.X) else atoms.X
    np.testing.assert_array_equal(places, np.vstack([X, [[0.0, -0.5]]]))
    if sparse.issparse(atoms.X):
        assert atoms.X.format == "csr"
    kept = atoms.only(atoms.weight > 0.15)
    assert kept.source.tolist() == [1, 2, 3]
    assert kept.X.shape == (3, 2)
    rounded = ATOMS.split(0, 1, 0.1 + 1e-17, np.zeros(2))
    assert (rounded.weight >= 0).all()
    assert ATOMS.split(0, 1, 0.3, np.zeros(2)).weight[0] == 0


def test_plans_that_agree_are_one_atom():
    other = Atoms(
        np.arange(4),
        X + np.array([[0.0, 0], [0, 1], [0, 0], [0, 0]]),
        np.array([0, 1, 0, 1]),
        np.full(4, 0.5),
    )
    found = _merged(ATOMS, other)
    np.testing.assert_allclose(found.weight, [0.6, 0.2, 0.3, 0.9, 0, 0.5, 0.5, 0])
    assert found.source.tolist() == [0, 1, 2, 3] * 2
    assert found.label.tolist() == [0, 1, 2, 1, 0, 1, 0, 1]
    np.testing.assert_array_equal(found.X, np.vstack([X, other.X]))


def test_costs_of_labels_are_those_of_the_sources():
    cost = np.array([[0, 1, np.inf], [2, 0, 3], [4, 5, 0]])
    judged = judged_of(WassersteinBall(0.1, cost), trust=np.array([1, 2, np.inf, 1.0]))
    found = label_costs(judged, np.array([2, 1, 0, 1]))
    expected = [[np.inf, np.inf, 0], [4, 0, 6], [0, 1, np.inf], [4, 0, 6]]
    np.testing.assert_array_equal(found, expected)


def losses_of(atoms, loss="crammer-singer"):
    scores = atoms.X @ CLASSIFIER.coef_.T + CLASSIFIER.intercept_
    return LOSSES[loss].of_labels(scores)[np.arange(len(atoms.label)), atoms.label]


@pytest.mark.parametrize("loss", ["crammer-singer", "logistic"])
@pytest.mark.parametrize("radius", [0.0, 0.01, 0.1, 0.3, 2.0])
def test_flips_spend_the_budget_and_moving_the_rest(radius, loss):
    judged = judged_of(WassersteinBall(radius, 0.3), loss, weight=ATOMS.weight)
    atoms, left = relabelled(judged)
    cost = label_costs(judged, atoms.source)[np.arange(len(atoms.label)), atoms.label]
    assert atoms.weight @ cost + left == pytest.approx(radius)
    np.testing.assert_allclose(np.bincount(atoms.source, atoms.weight), ATOMS.weight)
    np.testing.assert_array_equal(atoms.X, X[atoms.source])
    slope = judged.problem.modulus(CLASSIFIER.coef_)
    risk = judged.problem.risk(CLASSIFIER.coef_, CLASSIFIER.intercept_).value
    assert atoms.weight @ losses_of(atoms, loss) + left * slope == pytest.approx(risk)


def tails_by_hand(judged, atoms, left, mass):
    """Risk after the best of all ways to give a mass a label and to move it."""
    problem, coef = judged.problem, judged.scores.coef
    ball, cost = problem.ball, label_costs(judged, atoms.source)
    before, best = atoms.weight @ losses_of(atoms), -np.inf
    dual = {"l1": np.inf, "l2": 2, "linf": 1}[ball.norm]
    for n, label, winner in itertools.product(range(4), range(3), range(3)):
        extra = cost[n, label] - cost[n, atoms.label[n]]
        if not np.isfinite(extra) or not atoms.weight[n]:
            continue
        moved = min(mass, atoms.weight[n])
        if extra > 0:
            moved = min(moved, mass * left / extra)
        slope = np.linalg.norm(coef[winner] - coef[label], dual)
        scores = atoms.X[n] @ coef.T + CLASSIFIER.intercept_
        far = scores[winner] - scores[label] + 1.0 + (left / moved - extra) * slope
        best = max(best, before + moved * (far - losses_of(atoms)[n]))
    return best


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize("cost", [0.7, np.inf, np.array([[0, 1, 9], [1, 0, 9], [9, 9, 0]])])
@pytest.mark.parametrize("mass", [1e-3, 0.05])
def test_a_tail_is_the_best_of_all_tails(norm, cost, mass):
    judged = judged_of(WassersteinBall(0.5, cost, norm), weight=ATOMS.weight)
    left = 0.25
    found = with_tail(judged, ATOMS, left, mass)
    assert len(found.weight) == 5
    assert found.weight[4] <= mass * (1 + 1e-12)
    np.testing.assert_allclose(np.bincount(found.source, found.weight), ATOMS.weight)
    moved = np.linalg.norm(found.X[4] - X[found.source[4]], ORDER[norm])
    flip = label_costs(judged, found.source)[4, found.label[4]]
    assert found.weight[4] * (moved + flip) == pytest.approx(left)
    risk = found.weight @ losses_of(found)
    assert risk == pytest.approx(tails_by_hand(judged, ATOMS, left, mass))


def test_a_tail_of_an_atom_with_another_label_pays_the_difference():
    """The rows that would move best have been relabelled already, or go back."""
    judged = judged_of(WassersteinBall(0.5, 0.7), weight=ATOMS.weight)
    for label in itertools.product(range(3), repeat=4):
        atoms = ATOMS._replace(label=np.array(label))
        found = with_tail(judged, atoms, 0.25, 1e-3)
        atom, mass = found.source[4], found.weight[4]
        paid = 0.7 * (float(found.label[4] != Y[atom]) - float(label[atom] != Y[atom]))
        moved = np.linalg.norm(found.X[4] - X[atom])
        assert mass * (moved + paid) == pytest.approx(0.25)


def test_a_box_without_an_end_has_a_tail():
    ball = WassersteinBall(3.0, 0.6, "l1", support=([-2.0, -2.0], [np.inf, 2.0]))
    judged = judged_of(ball, weight=ATOMS.weight)
    atoms, left = planned(judged)
    assert left > 0
    found = with_tail(judged, atoms, left, 1e-7)
    assert (found.X[:, 1] <= 2.0).all()
    assert (found.X >= -2.0).all()
    risk = judged.problem.risk(CLASSIFIER.coef_, CLASSIFIER.intercept_).value
    assert found.weight @ losses_of(found) == pytest.approx(risk, rel=1e-4)


def test_a_tail_takes_no_more_than_there_is():
    judged = judged_of(WassersteinBall(0.5), weight=ATOMS.weight)
    found = with_tail(judged, ATOMS, 0.25, 1.0)
    source = found.source[4]
    assert found.weight[4] == ATOMS.weight[source]
    assert found.weight[source] == 0


def test_nothing_moves_where_moving_pays_nothing():
    still = judged_classifier(
        FixedScores(np.zeros((3, 2)), np.zeros(3)),
        X,
        Y,
        WassersteinBall(0.5),
        "crammer-singer",
        None,
        None,
    )
    assert with_tail(still, ATOMS, 0.25, 1e-3) is ATOMS
    fixed = judged_of(WassersteinBall(0.5, feature_cost=[np.inf, np.inf]))
    assert with_tail(fixed, ATOMS, 0.25, 1e-3) is ATOMS


def test_empty_atoms_do_not_move():
    judged = judged_of(WassersteinBall(0.5), weight=ATOMS.weight)
    best = _best_tail(judged, ATOMS, _escape(judged)[0])
    weight = ATOMS.weight.copy()
    weight[best.atom] = 0.0
    other = _best_tail(judged, ATOMS._replace(weight=weight), _escape(judged)[0])
    assert other.atom != best.atom
    assert other.merit < best.merit


@pytest.mark.parametrize("categorical", [None, [([0, 1], 0.5)]])
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize("radius", [0.05, 0.4, 3.0])
def test_plans_in_a_box_attain_the_worst_case(norm, radius, categorical):
    rows = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    shape = (
        {"support": (-2.0, 2.0)} if categorical is None else {"categorical": categorical}
    )
    ball = WassersteinBall(radius, 0.6, norm, **shape)
    for given in (rows, sparse.csr_array(rows)):
        judged = judged_of(ball, weight=ATOMS.weight, X=given)
        atoms, left = planned(judged)
        assert sparse.issparse(atoms.X) == sparse.issparse(given)
        places = atoms.X.toarray() if sparse.issparse(atoms.X) else atoms.X
        atoms = atoms._replace(X=places)
        np.testing.assert_allclose(np.bincount(atoms.source, atoms.weight), ATOMS.weight)
        risk = judged.problem.risk(CLASSIFIER.coef_, CLASSIFIER.intercept_).value
        assert atoms.weight @ losses_of(atoms) == pytest.approx(risk, rel=1e-6)
        moved = places - rows[atoms.source]
        price = np.linalg.norm(moved, ORDER[norm], axis=1)
        if categorical is not None:
            price = 0.5 * (moved != 0).any(axis=1)
        flip = 0.6 * (atoms.label != Y[atoms.source])
        spent = atoms.weight @ (price + flip)
        assert spent <= radius * (1 + 1e-6)
        assert 0 <= left <= radius


@pytest.mark.parametrize("seed", range(12))
def test_the_supremum_is_approached(seed):
    case = random_case(seed)
    judged = judged_classifier(
        case.classifier, case.X, case.y, case.ball, case.loss, *case.options.values()
    )
    atoms, left = relabelled(judged)
    if left > 0:
        atoms = with_tail(judged, atoms, left, 1e-8)
    scores = atoms.X @ case.classifier.coef_.T + case.classifier.intercept_
    losses = judged.problem.loss.of_labels(scores)[np.arange(len(scores)), atoms.label]
    risk = judged.problem.risk(judged.scores.coef, judged.scores.intercept).value
    assert atoms.weight @ losses == pytest.approx(risk, rel=1e-4)


@pytest.mark.parametrize(
    ("cost", "label"), [(0.7, Y), (np.inf, Y), (0.7, np.array([1, 2, 2, 0]))]
)
def test_the_merit_of_a_tail_is_what_moving_gains_at_once(cost, label):
    """The winner's lead with the margin, less the loss now and the price of the label."""
    judged = judged_of(WassersteinBall(0.5, cost), weight=ATOMS.weight)
    atoms = ATOMS._replace(label=label)
    rates, (coef, intercept, *_) = _escape(judged)[0], judged.scores
    best = _best_tail(judged, atoms, rates)
    scores, n = X @ coef.T + intercept, np.arange(4)
    price = label_costs(judged, atoms.source)
    extra = price - price[n, label][:, None]
    merits = [
        scores[:, winner]
        - scores[:, other]
        + 1
        - losses_of(atoms)
        # The price of the label in units of the steepest way.
        - rates.max() * extra[:, other]
        for winner, other in np.argwhere(rates == rates.max())
    ]
    assert best.merit == pytest.approx(np.max(merits))
