r"""Majorise and minimise: fits that may disbelieve labels (``problem.disbelief``).

For given beliefs the problem is one of our convex ones, which any solver here solves and
certifies; for a given classifier the best beliefs are known.  Taking turns

1. fits a classifier to the beliefs, starting from the last one,
2. updates the beliefs; where none changes, or nothing is gained, it ends,

so that the objective falls in every round.  Where it ends depends on where it began.  It
begins, each time with rough fits,

* where all labels are believed, with prices that fall to those asked for in steps,
* where models that never saw a label doubt it: at scores out of fold,

and goes on from the better end with the accuracy asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

import numpy as np

from ..arrays import Codes, Floats
from ..problem import RobustProblem
from ..problem.label_noise import Beliefs, ConvexPiece, DoubtedProblem
from .result import History, SolverResult, SolverSettings, Start
from .solve import solve

# Gap of the fits on the way: beliefs hardly change below it.
ROUGH_TOL = 1e-2
# Prices on the way from belief in all labels to the ones asked for.
DEARER = (4.0, 2.0, 1.0)
N_FOLDS = 3
MAX_ROUNDS = 200
# A fall of the objective by less than this share of the tolerance is none.
NEGLIGIBLE = 1e-3


# A solver of convex problems.
Fit: TypeAlias = Callable[[RobustProblem, SolverSettings, Start | None], SolverResult]


def solve_as_chosen(
    problem: RobustProblem, settings: SolverSettings, start: Start | None
) -> SolverResult:
    return solve(problem, "auto", settings, start)


class Point(NamedTuple):
    """A classifier, the beliefs it was fitted to, and the value of the objective there;
    whether rounds ended because nothing more was to be gained."""

    found: SolverResult
    beliefs: Beliefs
    piece: ConvexPiece
    value: float
    settled: bool = True

    @property
    def start(self) -> Start:
        found = self.found
        return Start(found.coef, found.intercept, found.certificate.lam)


@dataclass
class Descent:
    """Rounds from given beliefs down to a point where none changes."""

    solve: Fit
    settings: SolverSettings
    history: History = field(default_factory=lambda: History(None))
    n_iter: int = 0

    def fit(self, problem: RobustProblem, start: Start | None) -> SolverResult:
        quiet = replace(self.settings, callback=None)
        found = self.solve(problem, quiet, start)
        self.n_iter += found.n_iter
        return found

    def round(self, doubted: DoubtedProblem, at: Beliefs, start: Start | None) -> Point:
        piece = doubted.convex_piece(at)
        found = self.fit(piece.problem, start)
        certificate = piece.certified(found.certificate)
        return Point(found, at, piece, certificate.objective)

    def run(
        self, doubted: DoubtedProblem, beliefs: Beliefs, start: Start | None = None
    ) -> Point:
        point = self.round(doubted, beliefs, start)
        self._record(point)
        for _ in range(MAX_ROUNDS):
            beliefs = doubted.beliefs(point.found.coef, point.found.intercept)
            if doubted.agree(beliefs, point.beliefs):
                return point._replace(beliefs=beliefs)
            new = self.round(doubted, beliefs, point.start)
            enough = NEGLIGIBLE * self.settings.tol * point.value
            if not new.value < point.value - enough:
                return point
            point = new
            self._record(point)
        return point._replace(settled=False)

    def _record(self, point: Point) -> None:
        bound = point.piece.value(point.found.certificate.dual_bound)
        self.history.add(self.n_iter, point.value, bound)


def disbelieve(
    doubted: DoubtedProblem,
    settings: SolverSettings,
    start: Start | None = None,
    solve: Fit = solve_as_chosen,
) -> Point:
    """Solve a problem with doubted labels; ``start`` is one more point to begin at.

    The result's history has a line a round of the last descent, in the units of the
    objective; ``n_iter`` counts the iterations of all fits.
    """
    exact = Descent(solve, settings, History(settings.callback))
    if not np.isfinite(doubted.price).any():
        point = exact.run(doubted, doubted.all_believed, start)
    else:
        rough = Descent(solve, replace(settings, tol=max(settings.tol, ROUGH_TOL)))
        best = min(_ends(doubted, rough, start), key=lambda end: end.value)
        exact.n_iter = rough.n_iter
        point = exact.run(doubted, best.beliefs, best.start)
    history = tuple(exact.history.records)
    return point._replace(found=replace(point.found, n_iter=exact.n_iter, history=history))


def _ends(doubted: DoubtedProblem, rough: Descent, start: Start | None) -> Iterator[Point]:
    """Where the starts lead."""
    point = rough.round(doubted, doubted.all_believed, start)
    believing = point
    for factor in DEARER:
        priced = doubted.dearer(factor)
        beliefs = priced.beliefs(point.found.coef, point.found.intercept)
        point = rough.run(priced, beliefs, point.start)
    yield point
    scores = out_of_fold_scores(doubted.problem, rough, believing.start)
    yield rough.run(doubted, doubted.beliefs_at(scores), believing.start)
    if start is not None:
        yield rough.run(doubted, doubted.beliefs(start.coef, start.intercept), start)


def out_of_fold_scores(problem: RobustProblem, rough: Descent, start: Start) -> Floats:
    """Scores (N, C) by classifiers, believing all labels, that never saw the row.

    Rows of a class too small for all folds are in every one of them.
    """
    fold = folds_of(problem.y, problem.n_classes)
    scores = problem.scores(start.coef, start.intercept)
    for k in range(N_FOLDS):
        judged = fold == k
        if not judged.any():
            continue
        weight = np.where(judged, 0.0, problem.weight)
        trusted = replace(problem.ball, label_cost=np.inf)
        others = replace(problem, ball=trusted)
        others = others.with_rows(weight=weight / weight.sum(), label_trust=None)
        found = rough.fit(others.without_idle_rows(), start)
        rows = np.flatnonzero(judged)
        features = problem.features(rows)
        scores[rows] = features @ found.coef.T + found.intercept
    return scores


def folds_of(y: Codes, n_classes: int) -> Codes:
    """The fold of each row, every third of a class in turn; -1 in classes too small."""
    fold = np.full(len(y), -1, dtype=np.intp)
    for c in range(n_classes):
        rows = np.flatnonzero(y == c)
        if len(rows) > N_FOLDS:
            fold[rows] = np.arange(len(rows)) % N_FOLDS
    return fold
