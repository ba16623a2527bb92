r"""Majorise and minimise: fits that may disbelieve labels (``problem.label_noise``).

For given beliefs the problem is one of our convex ones, which any solver here solves and
certifies; for a given classifier the best beliefs are known.  Taking turns

1. fits a classifier to the beliefs, starting from the last one,
2. updates the beliefs; where none changes, or nothing is gained, it ends,

so that the objective falls in every round.  Where it ends depends on where it began.  It
begins, each time with rough fits,

* where all labels are believed, with prices that fall to those asked for in steps,
* where models that never saw a label doubt it: at scores out of fold,

and goes on from the better end with the accuracy asked for.  A larger limit of disbelief
could end higher that way.  So smaller limits come first; each goes on from the best end of
the one before, and some of them begin afresh as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

import numpy as np

from ..arrays import Codes, Floats
from ..problem import RobustProblem
from ..problem.label_noise import Beliefs, ConvexPiece, DoubtedProblem
from .descent_settings import DESCENT
from .result import History, SolverResult, SolverSettings, Start
from .solve import solve

# A solver of convex problems.
Fit: TypeAlias = Callable[[RobustProblem, SolverSettings, Start | None], SolverResult]


def solve_as_chosen(
    problem: RobustProblem, settings: SolverSettings, start: Start | None
) -> SolverResult:
    return solve(problem, "auto", settings, start)


class BelievedPoint(NamedTuple):
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
class AlternatingDescent:
    """Rounds from given beliefs down to a point where none changes."""

    solve: Fit
    settings: SolverSettings
    history: History = field(default_factory=lambda: History(None))
    n_iter: int = 0
    # Whether a guard has kept any label from being disbelieved.
    guarded: bool = False

    def fit(self, problem: RobustProblem, start: Start | None) -> SolverResult:
        quiet = replace(self.settings, callback=None)
        found = self.solve(problem, quiet, start)
        self.n_iter += found.n_iter
        return found

    def round(
        self, doubted: DoubtedProblem, at: Beliefs, start: Start | None
    ) -> BelievedPoint:
        self.guarded |= at.guarded
        piece = doubted.convex_piece(at)
        found = self.fit(piece.problem, start)
        certificate = piece.certified(found.certificate)
        return BelievedPoint(found, at, piece, certificate.objective)

    def run(
        self, doubted: DoubtedProblem, beliefs: Beliefs, start: Start | None = None
    ) -> BelievedPoint:
        point = self.round(doubted, beliefs, start)
        self._record(point)
        for _ in range(DESCENT.max_rounds):
            beliefs = doubted.beliefs(point.found.coef, point.found.intercept)
            self.guarded |= beliefs.guarded
            if doubted.agree(beliefs, point.beliefs):
                return point._replace(beliefs=beliefs)
            new = self.round(doubted, beliefs, point.start)
            enough = DESCENT.negligible_fall * self.settings.tol * point.value
            if not new.value < point.value - enough:
                return point
            point = new
            self._record(point)
        return point._replace(settled=False)

    def _record(self, point: BelievedPoint) -> None:
        bound = point.piece.value(point.found.certificate.dual_bound)
        self.history.add(self.n_iter, point.value, bound)


def disbelieve(
    doubted: DoubtedProblem,
    settings: SolverSettings,
    start: Start | None = None,
    solve: Fit = solve_as_chosen,
) -> BelievedPoint:
    """Solve a problem with doubted labels; ``start`` is one more point to begin at.

    The callback is told of every round of every exact descent while they run.  The
    result's history has the rounds of the descent that is kept, in the units of the
    objective; ``n_iter`` counts the iterations of all fits.
    """
    exact = AlternatingDescent(solve, settings, History(settings.callback))
    if np.isfinite(doubted.price).any():
        point = _best_of_limits(doubted, exact, start)
    else:
        point = _recorded(exact, doubted, doubted.all_believed, start)
    return point._replace(found=replace(point.found, n_iter=exact.n_iter))


def _best_of_limits(
    doubted: DoubtedProblem, exact: AlternatingDescent, start: Start | None
) -> BelievedPoint:
    """The best end at the limit of disbelief and at the smaller ones of the settings.

    What a smaller limit allows, a larger one allows too.  So the objective never rises
    from one of these limits to the next.
    """
    tol = max(exact.settings.tol, DESCENT.rough_tol)
    rough = AlternatingDescent(exact.solve, replace(exact.settings, tol=tol))
    believing = rough.round(doubted, doubted.all_believed, start)
    scores = out_of_fold_scores(doubted.problem, rough, believing.start)
    best: BelievedPoint | None = None
    for limit in _limits(doubted.max_disbelief):
        limited = replace(doubted, max_disbelief=limit)
        rough.guarded = exact.guarded = False
        if best is not None:
            best = _better(best, _onwards(exact, limited, best))
        afresh = best is None or limit in DESCENT.disbelief_landmarks
        if afresh:
            ends = _ends(limited, rough, start, believing, scores)
            end = min(ends, key=lambda end: end.value)
            # An end that is worse by more than the gap of rough fits is not refined.
            if best is None or end.value < best.value * (1 + tol):
                best = _better(best, _recorded(exact, limited, end.beliefs, end.start))
        # A limit that nothing ran into is as good as all larger ones.
        if afresh and not (rough.guarded or exact.guarded):
            break
    assert best is not None
    exact.n_iter += rough.n_iter
    return best


def _better(one: BelievedPoint | None, other: BelievedPoint) -> BelievedPoint:
    return other if one is None or other.value < one.value else one


def _limits(asked: float) -> Iterator[float]:
    """The limits of disbelief up to the one asked for, which comes last."""
    yield from (each for each in DESCENT.disbelief_limits if each < asked)
    yield asked


def _onwards(
    exact: AlternatingDescent, doubted: DoubtedProblem, best: BelievedPoint
) -> BelievedPoint:
    """Where the best end of a smaller limit leads when more may be disbelieved."""
    beliefs = doubted.beliefs(best.found.coef, best.found.intercept)
    exact.guarded |= beliefs.guarded
    if doubted.agree(beliefs, best.beliefs):
        return best
    return _recorded(exact, doubted, beliefs, best.start)


def _recorded(
    exact: AlternatingDescent,
    doubted: DoubtedProblem,
    beliefs: Beliefs,
    start: Start | None,
) -> BelievedPoint:
    """Where an exact descent leads, with the history of that descent alone."""
    before = len(exact.history.records)
    point = exact.run(doubted, beliefs, start)
    history = tuple(exact.history.records[before:])
    return point._replace(found=replace(point.found, history=history))


def _ends(
    doubted: DoubtedProblem,
    rough: AlternatingDescent,
    start: Start | None,
    believing: BelievedPoint,
    scores: Floats,
) -> Iterator[BelievedPoint]:
    """Where the starts lead."""
    point = believing
    for factor in DESCENT.price_factors:
        priced = doubted.dearer(factor)
        beliefs = priced.beliefs(point.found.coef, point.found.intercept)
        point = rough.run(priced, beliefs, point.start)
    yield point
    yield rough.run(doubted, doubted.beliefs_at(scores), believing.start)
    if start is not None:
        yield rough.run(doubted, doubted.beliefs(start.coef, start.intercept), start)


def out_of_fold_scores(
    problem: RobustProblem, rough: AlternatingDescent, start: Start
) -> Floats:
    """Scores (N, C) by classifiers, believing all labels, that never saw the row.

    Rows of a class too small for all folds are in every one of them.
    """
    fold = folds_of(problem.y, problem.n_classes)
    scores = problem.scores(start.coef, start.intercept)
    for k in range(DESCENT.n_folds):
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
        if len(rows) > DESCENT.n_folds:
            fold[rows] = np.arange(len(rows)) % DESCENT.n_folds
    return fold
