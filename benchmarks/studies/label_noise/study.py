"""Does it pay to disbelieve labels?  Accuracy beside tuned LogisticRegression.

``python -m benchmarks.studies.label_noise.study RECORDS [SPLITS]`` appends one line of JSON
a cell (table, noise, split) to RECORDS, skipping those that are there, and prints the
tables.

Everybody chooses by the same 3-fold cross-validation on the labels as they are given, the
first of equals winning: LogisticRegression among as many values of C as the recipe tries
pairs of radius and label cost, once by accuracy and once by log-loss.  The recipe, fixed
before these splits were drawn, is that of the documentation: the radius of the fit that
believes all labels by log-loss; then the pair whose accuracy is best, if it is two points
ahead of that fit.  Its cross-validation fits loosely along falling label costs, its last
fit is the public estimator's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from wdrsvm import RobustLogisticRegression
from wdrsvm.problem import LOSSES, RobustProblem, WassersteinBall, polar
from wdrsvm.problem.label_noise import DoubtedProblem
from wdrsvm.solvers import SolverResult, SolverSettings, Start, solve
from wdrsvm.solvers.label_noise import AlternatingDescent, solve_as_chosen

from ..frame import all_records
from .data import CROWDS, NOISES, TABLES, Case, case
from .report import print_tables

NORM = "linf"
# Shares of the largest radius worth trying, and of the loss of equal scores.
RADII = (0.004, 0.02, 0.08, 0.22)
COSTS = {"trim": (1.0, 0.75), "repair": (0.8, 0.4), "relative rule": (0.8, 0.4)}
STRENGTHS = np.logspace(-3, 2, len(RADII) * (1 + len(COSTS["trim"])))
# By how much a fit that doubts labels must be ahead of the one that believes them.
MARGIN = 0.02
N_FOLDS = 3
LOOSE, EXACT = SolverSettings(tol=0.1), 1e-3
MAX_DISBELIEF = 0.4
MAX_RELATIVE_ROUNDS = 5
FIRST_SEED, N_SPLITS = 400, 30
# Splits on which the members that were not chosen, and class-dependent noise, are tried.
N_SPLITS_OF_OTHERS, N_CLASS_DEPENDENT = 0, 6


class Rows(NamedTuple):
    """Rows to learn from, and rows to judge by."""

    X: Any
    y: Any
    X_judged: Any
    y_judged: Any

    def judge(self, found: SolverResult) -> tuple[int, float]:
        """How many predictions are right, and the sum of log-losses."""
        scores = self.X_judged @ found.coef.T + found.intercept
        return n_right_and_loss(log_softmax(scores, axis=1), self.y_judged)

    def problem(self, radius: float, n_classes: int) -> RobustProblem:
        weight = np.full(len(self.y), 1 / len(self.y))
        ball = WassersteinBall(radius, norm=NORM)
        return RobustProblem.of(
            self.X, self.y, weight, ball, n_classes, loss=LOSSES["logistic"]
        )


def n_right_and_loss(log_probability: Any, y: Any) -> tuple[int, float]:
    loss = -log_probability[np.arange(len(y)), y].sum()
    return int((log_probability.argmax(axis=1) == y).sum()), float(loss)


def folds(data: Case, seed: int) -> list[Rows]:
    splitter = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
    return [
        Rows(data.X[learnt], data.labels[learnt], data.X[judged], data.labels[judged])
        for learnt, judged in splitter.split(data.X, data.labels)
    ]


def start_at(found: SolverResult) -> Start:
    return Start(found.coef, found.intercept, found.certificate.lam)


def largest_radius(data: Case, n_classes: int, norm: str = NORM) -> float:
    """At this radius and above a constant classifier is as robust as any."""
    observed = np.eye(n_classes)[data.labels]
    gradient = (observed.mean(axis=0) - observed).T @ data.X / len(data.labels)
    return polar(gradient, norm, np.ones(data.X.shape[1]))


def believing(rows: Rows, radii: Any, n_classes: int) -> list[SolverResult]:
    """Fits that believe all labels, one a radius."""
    found: list[SolverResult] = []
    for radius in reversed(radii):
        start = start_at(found[-1]) if found else None
        found.append(solve(rows.problem(radius, n_classes), "auto", LOOSE, start))
    return found[::-1]


def doubting(
    problem: RobustProblem, first: SolverResult, costs: Any, repair: bool
) -> list[SolverResult]:
    """Fits along falling label costs."""
    descent, found = AlternatingDescent(solve_as_chosen, LOOSE), [first]
    for cost in costs:
        doubts = _doubts(problem, cost, repair)
        beliefs = doubts.beliefs(found[-1].coef, found[-1].intercept)
        found.append(descent.run(doubts, beliefs, start_at(found[-1])).found)
    return found[1:]


def _doubts(problem: RobustProblem, cost: float, repair: bool) -> DoubtedProblem:
    ball = replace(problem.ball, label_cost=cost)
    return DoubtedProblem(replace(problem, ball=ball), repair, MAX_DISBELIEF)


def relative_rule(
    problem: RobustProblem, first: SolverResult, costs: Any, settings: Any = LOOSE
) -> list[SolverResult]:
    """A rule without an objective: drop what repair would relabel, fit, repeat."""
    found = [first]
    for cost in costs:
        repair, now = _doubts(problem, cost, True), found[-1]
        before = None
        for _ in range(MAX_RELATIVE_ROUNDS):
            beliefs = repair.beliefs(now.coef, now.intercept)
            if before is not None and np.array_equal(before, beliefs.belief):
                break
            before = beliefs.belief
            piece = replace(repair, repair=False).convex_piece(beliefs)
            now = solve(piece.problem, "auto", settings, start_at(now))
        found.append(now)
    return found[1:]


MEMBERS: dict[str, Callable[..., list[SolverResult]]] = {
    "trim": partial(doubting, repair=False),
    "repair": partial(doubting, repair=True),
    "relative rule": relative_rule,
}


class Choice(NamedTuple):
    radius: float
    label_cost: float


class Search:
    """The recipe's cross-validation on one training set."""

    def __init__(self, data: Case, seed: int):
        self.data, self.folds = data, folds(data, seed)
        self.n_classes = int(max(data.labels.max(), data.truth.max())) + 1
        self.radii = np.array(RADII) * largest_radius(data, self.n_classes)
        self.first = [believing(rows, self.radii, self.n_classes) for rows in self.folds]
        loss = sum(
            np.array([rows.judge(each)[1] for each in found])
            for rows, found in zip(self.folds, self.first, strict=True)
        )
        self.believing = Choice(float(self.radii[np.argmin(loss)]), np.inf)

    def costs(self, member: str) -> Any:
        """Prices to trim at are shares of the loss of equal scores."""
        unit = np.log(self.n_classes) if member == "trim" else 1.0
        return unit * np.array(COSTS[member])

    def choose(self, member: str) -> Choice:
        """The best pair of a member, if it is ahead of believing all labels."""
        right = sum(self._n_right(member, k) for k in range(N_FOLDS))
        believed = right[list(self.radii).index(self.believing.radius), 0]
        doubted = right[:, 1:]
        if doubted.max() - believed <= MARGIN * len(self.data.labels):
            return self.believing
        at, cost_at = np.unravel_index(np.argmax(doubted), doubted.shape)
        return Choice(float(self.radii[at]), float(self.costs(member)[cost_at]))

    def _n_right(self, member: str, k: int) -> Any:
        rows, costs = self.folds[k], self.costs(member)
        counts = []
        for radius, first in zip(self.radii, self.first[k], strict=True):
            problem = rows.problem(radius, self.n_classes)
            found = [first, *MEMBERS[member](problem, first, costs)]
            counts.append([rows.judge(each)[0] for each in found])
        return np.array(counts)

    def final(self, member: str, choice: Choice) -> Any:
        """The public estimator at the choice; for the rule that has none, its own fit."""
        if member == "relative rule" and choice.label_cost < np.inf:
            return self._final_relative(choice)
        disbelief = "repair" if member == "repair" else "trim"
        model = RobustLogisticRegression(
            *choice, norm=NORM, label_noise="random", disbelief=disbelief, tol=EXACT
        )
        return model.fit(self.data.X, self.data.labels)

    def _final_relative(self, choice: Choice) -> Any:
        data = self.data
        rows = Rows(data.X, data.labels, data.X_test, data.y_test)
        problem = rows.problem(choice.radius, self.n_classes)
        settings = SolverSettings(EXACT)
        costs = [c for c in self.costs("relative rule") if c >= choice.label_cost]
        first = solve(problem, "auto", settings)
        return Scores(relative_rule(problem, first, costs, settings)[-1])


class Scores(NamedTuple):
    """A solver's result as a classifier."""

    found: SolverResult

    def predict(self, X: Any) -> Any:
        return (X @ self.found.coef.T + self.found.intercept).argmax(axis=1)


def accuracy(model: Any, data: Case) -> float:
    return float((model.predict(data.X_test) == data.y_test).mean())


def tuned_logistic(data: Case, seed: int) -> dict[str, LogisticRegression]:
    """LogisticRegression with the C of the best accuracy, and with that of the log-loss."""
    models = [LogisticRegression(C=C, max_iter=500) for C in STRENGTHS]
    judged = np.zeros((len(models), 2))
    for rows in folds(data, seed):
        for k, model in enumerate(models):
            log_probability = model.fit(rows.X, rows.y).predict_log_proba(rows.X_judged)
            judged[k] += n_right_and_loss(log_probability, rows.y_judged)
    best = {"logistic": judged[:, 0].argmax(), "logistic, log-loss": judged[:, 1].argmin()}
    return {
        name: LogisticRegression(C=STRENGTHS[k], max_iter=500).fit(data.X, data.labels)
        for name, k in best.items()
    }


def cell(name: str, noise: str, seed: int) -> dict[str, Any]:
    data = case(name, noise, seed)
    search = Search(data, seed)
    score = {k: accuracy(model, data) for k, model in tuned_logistic(data, seed).items()}
    score["believing"] = accuracy(search.final("trim", search.believing), data)
    chosen = {}
    with_others = seed < FIRST_SEED + N_SPLITS_OF_OTHERS
    for member in MEMBERS if with_others else ("trim",):
        chosen[member] = search.choose(member)
        score[member] = accuracy(search.final(member, chosen[member]), data)
    return {"table": name, "noise": noise, "seed": seed, "score": score, "chosen": chosen}


def cells(n_splits: int) -> Iterator[tuple[str, str, int]]:
    for seed in range(FIRST_SEED, FIRST_SEED + n_splits):
        for name in TABLES:
            for noise in NOISES:
                if noise != "class-dependent" or seed < FIRST_SEED + N_CLASS_DEPENDENT:
                    yield name, noise, seed
        for noise in CROWDS:
            yield "music", noise, seed


def main(path: Path, n_splits: int) -> None:
    print_tables(all_records(path, cells(n_splits), cell))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else N_SPLITS)
