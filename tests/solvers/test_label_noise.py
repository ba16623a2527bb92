"""Majorise and minimise: the objective falls, every fit is right, doubt comes to rest."""

from dataclasses import replace

import numpy as np
import pytest
from tests.agreement.loss_program import optimum

from wdrsvm.problem import LOSSES, RobustProblem, WassersteinBall
from wdrsvm.problem.label_noise import DoubtedProblem
from wdrsvm.solvers import SolverSettings, solve
from wdrsvm.solvers.descent_settings import DESCENT
from wdrsvm.solvers.label_noise import (
    AlternatingDescent,
    disbelieve,
    folds_of,
    solve_as_chosen,
)

SETTINGS = SolverSettings(tol=1e-6)
KINDS = [(loss, repair) for loss in sorted(LOSSES) for repair in (False, True)]


def doubted(loss="logistic", repair=False, seed=0, n=40, label_cost=0.8, share=0.4, **kw):
    """Three blobs, a fifth of whose labels is wrong."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 3
    X = 1.5 * np.eye(3, 2)[truth] + rng.normal(size=(n, 2)) * 0.7
    wrong = rng.random(n) < 0.2
    y = np.where(wrong, (truth + rng.integers(1, 3, n)) % 3, truth)
    weight = rng.integers(1, 3, n).astype(float)
    ball = WassersteinBall(0.05, label_cost)
    problem = RobustProblem.of(
        X, y, weight / weight.sum(), ball, 3, loss=LOSSES[loss], **kw
    )
    return DoubtedProblem(problem, repair, share)


@pytest.mark.parametrize(("loss", "repair"), KINDS)
@pytest.mark.parametrize("share", [0.1, 0.4])
@pytest.mark.parametrize("seed", range(3))
def test_the_objective_falls_and_ends_where_no_belief_changes(loss, repair, share, seed):
    doubts = doubted(loss, repair, seed, share=share)
    fitted = []

    def watched(problem, settings, start):
        result = solve_as_chosen(problem, settings, start)
        if settings.tol == SETTINGS.tol:
            fitted.append(doubts.value(result.coef, result.intercept))
        return result

    point = disbelieve(doubts, SETTINGS, solve=watched)
    objectives = [record.objective for record in point.found.history]
    assert (np.diff(objectives) < 0).all()
    # Recomputed from the classifiers alone, in the order of the descent that was kept.
    n_rounds = len(objectives)
    descents = [fitted[k : k + n_rounds] for k in range(len(fitted) - n_rounds + 1)]
    assert any((np.array(each) <= np.add(objectives, 1e-9)).all() for each in descents)
    final = doubts.value(point.found.coef, point.found.intercept)
    assert point.value == pytest.approx(final, rel=1e-6)
    beliefs = doubts.beliefs(point.found.coef, point.found.intercept)
    assert (beliefs.belief < 1).any()
    if not doubts.agree(beliefs, point.beliefs):
        # Only labels that cost as much believed as not may still change.
        scores = doubts.problem.scores(point.found.coef, point.found.intercept)
        loss, price, _ = doubts.offers(scores)
        changed = np.abs(beliefs.belief - point.beliefs.belief) > 1e-9
        np.testing.assert_allclose(loss[changed], price[changed], atol=1e-4)


def test_progress_is_told_while_the_descents_run():
    """Rounds of all descents, those kept among them, between the fits and not after."""
    events = []

    def watched(problem, settings, start):
        result = solve_as_chosen(problem, settings, start)
        events.append("fit")
        return result

    told = replace(SETTINGS, callback=events.append)
    point = disbelieve(doubted(), told, solve=watched)
    records = [event for event in events if event != "fit"]
    assert set(point.found.history) <= set(records)
    assert events.index(records[0]) < len(events) // 2
    assert len(records) > len(point.found.history)


def test_rounds_without_starts_fall_in_every_step():
    """From belief in all labels at once there are many rounds to watch."""
    most = 0
    for seed in range(5):
        doubts = doubted(seed=seed, n=120, label_cost=0.5)
        descent = AlternatingDescent(solve_as_chosen, SETTINGS)
        point = descent.run(doubts, doubts.all_believed)
        objectives = [record.objective for record in descent.history.records]
        assert (np.diff(objectives) < 0).all()
        assert (
            doubts.value(point.found.coef, point.found.intercept) <= objectives[-1] + 1e-9
        )
        most = max(most, len(objectives))
    assert most >= 4


@pytest.mark.parametrize(("loss", "repair"), KINDS)
def test_every_convex_fit_agrees_with_the_reference(loss, repair):
    doubts = doubted(loss, repair, n=18)
    pieces = []

    def watched(problem, settings, start):
        result = solve_as_chosen(problem, settings, start)
        pieces.append((problem, settings.tol, result.certificate))
        return result

    disbelieve(doubts, SETTINGS, solve=watched)
    assert len(pieces) > 4
    for problem, tol, found in pieces:
        if loss == "logistic":
            value, status = optimum(problem.without_idle_rows())
            assert status in ("Solved", "AlmostSolved")
        else:
            value = solve(problem, "clarabel").certificate.objective
        assert found.dual_bound <= value + 1e-6
        assert value - 1e-6 <= found.objective <= value * (1 + tol) + 1e-6


@pytest.mark.parametrize(("loss", "repair"), KINDS)
def test_the_bound_is_that_of_the_last_convex_problem(loss, repair):
    point = disbelieve(doubted(loss, repair), SETTINGS)
    certificate = point.piece.certified(point.found.certificate)
    assert certificate.objective == point.value
    assert 0 <= certificate.gap <= 2e-6 * max(point.value, 1.0)


def test_better_starts_are_kept():
    """No single start is ahead of the best of all of them."""
    for seed in range(3):
        doubts = doubted(seed=seed, n=60, label_cost=0.4)
        best = disbelieve(doubts, SETTINGS).value
        alone = AlternatingDescent(solve_as_chosen, SETTINGS).run(
            doubts, doubts.all_believed
        )
        assert best <= alone.value * (1 + 1e-2)


def test_a_start_of_ones_own_is_one_more():
    doubts = doubted(label_cost=0.4, n=90)
    best = disbelieve(doubts, SETTINGS)
    again = disbelieve(doubts, SETTINGS, best.start)
    assert again.value <= best.value * (1 + 1e-6)


def test_equal_problems_have_equal_ends():
    one, other = (disbelieve(doubted(n=60), SETTINGS) for _ in range(2))
    np.testing.assert_array_equal(one.found.coef, other.found.coef)
    np.testing.assert_array_equal(one.beliefs.belief, other.beliefs.belief)


def test_infinite_prices_leave_one_ordinary_fit():
    doubts = doubted(label_cost=np.inf)
    point = disbelieve(doubts, SETTINGS)
    plain = solve(doubts.problem, settings=SETTINGS)
    np.testing.assert_array_equal(point.found.coef, plain.coef)
    assert point.value == plain.certificate.objective
    assert point.found.n_iter == plain.n_iter


def test_folds_leave_small_classes_whole():
    y = np.repeat([0, 1, 2], [7, DESCENT.n_folds, 9])
    fold = folds_of(y, 3)
    assert (fold[y == 1] == -1).all()
    for c in (0, 2):
        counts = np.bincount(fold[y == c], minlength=DESCENT.n_folds)
        assert counts.min() >= 2
        assert np.ptp(counts) <= 1


def test_a_problem_that_has_lost_a_class_is_still_solved():
    doubts = doubted()
    weight = np.where(doubts.problem.y == 2, 0.0, doubts.problem.weight)
    problem = doubts.problem.with_rows(weight=weight / weight.sum()).without_idle_rows()
    point = disbelieve(replace(doubts, problem=problem), SETTINGS)
    assert not (point.beliefs.label == 2).any()
