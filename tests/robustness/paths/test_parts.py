"""What the paths are made of, part by part."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from wdrsvm import WassersteinBall
from wdrsvm.problem import Certificate, RobustProblem
from wdrsvm.robustness.paths import parts
from wdrsvm.robustness.paths.parts import (
    Grid,
    RobustPath,
    collected,
    flipped_mass,
    in_parallel,
    nominal_rows,
    problem_of,
    solved,
)
from wdrsvm.solvers import SolverResult, SolverSettings, SolverStatus

rng = np.random.default_rng(0)
NAMES = np.array(["ash", "birch", "cedar"])
CODES = np.arange(9) % 3
X = rng.normal(size=(9, 2))
WEIGHT, TRUST = rng.uniform(0.5, 1.5, 9), np.r_[np.inf, 0.0, rng.uniform(0.5, 2, 7)]
RADII, COSTS = np.array([0.3, 0.1]), [0.5, 1.0, np.inf]
COEF, INTERCEPT = rng.normal(size=(2, 3, 3, 2)), rng.normal(size=(2, 3, 3))


def path_of(coef=COEF, intercept=INTERCEPT):
    value = np.zeros((2, 3))
    return RobustPath(RADII, COSTS, coef, intercept, value, value, value, NAMES)


def problem(cost=0.5, radius=0.3, trust=None, weight=None, **shape):
    weight = np.ones(9) if weight is None else weight
    ball = WassersteinBall(radius, cost, **shape)
    return RobustProblem.of(X, CODES, weight / weight.sum(), ball, 3, label_trust=trust)


def test_scores_and_labels_of_every_classifier():
    scores = path_of().decision_function(X)
    assert scores.shape == (2, 3, 9, 3)
    for i, j in np.ndindex(2, 3):
        np.testing.assert_allclose(scores[i, j], X @ COEF[i, j].T + INTERCEPT[i, j])
    expected = NAMES[scores.argmax(axis=3)]
    np.testing.assert_array_equal(path_of().predict(X), expected)


def mass_by_hand(problem, coef, intercept):
    """Flips by the share of each row that is no longer of its own label."""
    choices = problem.flip_choices(coef, intercept)
    bought = problem.spend(choices.flips, coef)
    mass = 0.0
    for n in range(9):
        shares = bought.share[choices.flips.row[bought.flips] == n]
        free = 1.0 if choices.label[n] != problem.y[n] else 0.0
        mass += problem.weight[n] * max([free, *shares])
    return mass


@pytest.mark.parametrize("trust", [None, TRUST], ids=["", "trust"])
@pytest.mark.parametrize("radius", [0.0, 0.05, 0.3])
def test_flipped_mass_counts_free_and_bought_flips_once(radius, trust):
    cost = np.array([[0, 0.1, 0.4], [0.3, 0, 0.1], [0.2, 0.05, 0]])
    given = problem(cost, radius, trust, WEIGHT)
    for coef, intercept in zip(COEF[0], INTERCEPT[0], strict=True):
        small = 0.1 * coef
        expected = mass_by_hand(given, small, intercept)
        assert flipped_mass(given, small, intercept) == pytest.approx(expected)
    if radius or trust is not None:
        assert expected > 0


def test_flipped_labels_are_counted_in_rows():
    shape = {"norm": "l1", "feature_cost": [0.1, 0.05]}
    path = path_of(0.1 * COEF)
    found = path.flipped_labels(
        X, NAMES[CODES], sample_weight=WEIGHT, label_trust=TRUST, **shape
    )
    plain = path.flipped_labels(X, NAMES[CODES])
    for i, j in np.ndindex(2, 3):
        scores = 0.1 * COEF[i, j], INTERCEPT[i, j]
        given = problem(COSTS[j], RADII[i], TRUST, WEIGHT, **shape)
        assert found[i, j] == pytest.approx(9 * flipped_mass(given, *scores))
        given = problem(COSTS[j], RADII[i])
        assert plain[i, j] == pytest.approx(9 * flipped_mass(given, *scores))
    assert plain[:, :2].all()
    assert not plain[:, 2].any()
    # Of one-vs-rest machines the objectives have an axis more.
    machines = replace(path, objective=np.zeros((2, 3, 3)))
    np.testing.assert_array_equal(machines.flipped_labels(X, NAMES[CODES]), plain)
    dear = path.flipped_labels(X, NAMES[CODES], **shape)
    assert (dear < plain - 0.1).any()


def test_rows_are_checked_and_weighted():
    rows, classes = nominal_rows(
        X, NAMES[CODES], {"ash": 2.0, "birch": 1.0, "cedar": 0.5}, WEIGHT, TRUST
    )
    assert classes.tolist() == NAMES.tolist()
    weight = WEIGHT * np.array([2.0, 1.0, 0.5])[CODES]
    np.testing.assert_allclose(rows.weight, (weight / weight.sum())[rows.source])
    np.testing.assert_array_equal(rows.label_trust, TRUST[rows.source])
    np.testing.assert_array_equal(rows.X, X[rows.source])
    np.testing.assert_array_equal(rows.y, CODES[rows.source])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        nominal_rows(X, CODES[:-1], None, None, None)


@pytest.mark.parametrize("flag", [True, False])
def test_a_problem_is_of_its_rows(flag):
    rows, _ = nominal_rows(X, CODES, None, None, TRUST)
    ball = WassersteinBall(0.2, 1.0)
    found = problem_of(rows, ball, 4, flag)
    assert found.X is rows.X
    assert found.y is rows.y
    assert found.weight is rows.weight
    assert found.label_trust is rows.label_trust
    assert found.ball is ball
    assert (found.n_classes, found.fit_intercept) == (4, flag)
    with pytest.raises(ValueError, match=r"^fit_intercept must be True or False"):
        problem_of(rows, ball, 4, "yes")


def test_a_grid_is_given_or_made(monkeypatch):
    asked = []
    monkeypatch.setattr(
        parts, "radii_below", lambda *args: asked.append(args) or np.array([3.0])
    )
    given = Grid.of(problem(), [0.1, 0.2], 2.0)
    assert given.radii.tolist() == [0.1, 0.2]
    assert given.label_costs == [2.0]
    assert asked == []
    whole = problem()
    made = Grid.of(whole, 7, [1.0, 2.0])
    assert made.radii.tolist() == [3.0]
    assert asked == [(whole, 7, [1.0, 2.0])]


def test_the_plane_is_told_all(monkeypatch):
    asked = []
    monkeypatch.setattr(parts, "solve_plane", lambda *args: asked.append(args) or {})
    whole, grid = problem(), Grid(RADII, COSTS)
    assert solved(whole, grid, "newton", 1e-3, True) == {}
    assert asked == [(whole, [0.3, 0.1], COSTS, "newton", SolverSettings(tol=1e-3), True)]


@pytest.mark.parametrize(
    ("n_jobs", "groups"),
    [
        (None, [[0.5, 1.0, 2.0, np.inf]]),
        (1, [[0.5, 1.0, 2.0, np.inf]]),
        (2, [[0.5, 1.0], [2.0, np.inf]]),
        (9, [[0.5], [1.0], [2.0], [np.inf]]),
    ],
)
def test_neighbouring_label_costs_stay_together(monkeypatch, n_jobs, groups):
    """In threads, so that what is solved can be seen; each answer finds its place."""
    seen = []

    def solve(problem, grid):
        seen.append(grid.label_costs)
        return {
            (i, k): (radius, cost)
            for i, radius in enumerate(grid.radii)
            for k, cost in enumerate(grid.label_costs)
        }

    original = parts.Parallel
    monkeypatch.setattr(
        parts, "Parallel", lambda n_jobs: original(n_jobs, backend="threading")
    )
    costs = [2.0, np.inf, 0.5, 1.0]
    found = in_parallel(n_jobs, solve, problem(), Grid(RADII, costs))
    assert sorted(seen) == groups
    assert found == {
        (i, j): (radius, cost)
        for i, radius in enumerate(RADII)
        for j, cost in enumerate(costs)
    }


def test_matrices_stand_behind_all_numbers():
    matrix = np.array([[0, 1], [1, 0.0]])
    seen = []

    def solve(problem, grid):
        seen.extend(grid.label_costs)
        return {}

    in_parallel(None, solve, problem(), Grid(RADII, [matrix, 2.0, 0.5]))
    assert seen[:2] == [0.5, 2.0]
    assert seen[2] is matrix


def result_of(coef, intercept, certificate, status=SolverStatus.CONVERGED):
    return SolverResult(coef, intercept, certificate, None, status, 0, "told")


def found_of(**statuses):
    return {
        (i, j): result_of(
            COEF[i, j],
            INTERCEPT[i, j],
            Certificate(1.0 + i + 10 * j, i - 0.5 * j, 0.25 * (i + j)),
            statuses.get(f"at{i}{j}", SolverStatus.CONVERGED),
        )
        for i, j in np.ndindex(2, 3)
    }


def test_results_are_collected_in_their_places_and_centred():
    path = collected(Grid(RADII, COSTS), found_of(), NAMES)
    assert path.radii is RADII
    assert path.label_costs is COSTS
    assert path.classes is NAMES
    np.testing.assert_allclose(path.coef, COEF - COEF.mean(axis=2, keepdims=True))
    centred = INTERCEPT - INTERCEPT.mean(axis=2, keepdims=True)
    np.testing.assert_allclose(path.intercept, centred)
    i, j = np.indices((2, 3))
    np.testing.assert_array_equal(path.objective, 1.0 + i + 10 * j)
    np.testing.assert_array_equal(path.dual_bound, i - 0.5 * j)
    np.testing.assert_array_equal(path.lam, 0.25 * (i + j))


@pytest.mark.parametrize(
    ("objective", "bound", "gap"),
    [(2.0, 1.0, "5.0e-01"), (0.01, 0.005, "5.0e-01"), (0.001, 0.0, "1.0e-01")],
)
def test_points_that_did_not_converge_are_counted(objective, bound, gap):
    found = found_of(at01=SolverStatus.STALLED, at12=SolverStatus.STALLED)
    worst = Certificate(objective, bound, 0.0)
    found[0, 1] = result_of(COEF[0, 1], INTERCEPT[0, 1], worst, SolverStatus.STALLED)
    found[1, 2] = result_of(
        COEF[1, 2], INTERCEPT[1, 2], Certificate(1.0, 0.999, 0.0), SolverStatus.STALLED
    )
    message = f"2 of 6 points of the path stopped at a relative duality gap of up to {gap}"
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        collected(Grid(RADII, COSTS), found, NAMES)
    # Solver "auto" has already tried the others.
    assert str(caught[0].message).endswith("Raise tol or standardise the features.")


def test_the_warning_points_at_the_users_line():
    """Three calls above the one that warns: the user's, the path's, the collection's."""
    found = found_of(at01=SolverStatus.STALLED)

    def path():
        return collected(Grid(RADII, COSTS), found, NAMES)

    def user():
        return path()

    with pytest.warns(ConvergenceWarning) as caught:
        user()
    assert caught[0].filename == __file__
    line = user.__code__.co_firstlineno + 1
    assert caught[0].lineno == line


def test_prices_of_kinds():
    assert [parts._price(cost) for cost in (2, np.float64(3.0), np.inf)] == [2, 3, np.inf]
    assert parts._price(np.zeros((2, 2))) == np.inf
