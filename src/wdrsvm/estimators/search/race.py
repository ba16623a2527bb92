r"""Leave out points of a search that can no longer become the best.

Folds are run in rounds.  After each round the leader is the point with the best mean score.
Let d be the difference between the mean scores of the leader and of another point over the
k folds so far.  Let s be the standard deviation of this difference from fold to fold.  If
folds are alike, the difference over all n folds is d, up to an error with the standard
deviation

.. math:: s \sqrt{(n - k) / (n k)}.

If d is more than ``far`` times this error, the point is left out of further folds.  Two
folds give a poor estimate of s.  Therefore s is the largest of three values: the estimate
of the point, the mean estimate of all points, and the least standard deviation that a
difference of shares of m held-out rows can have.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...arrays import Flags, Floats
from ...robustness.paths.constant_points import CONSTANT_SHARE
from .folds import FoldScores
from .grid import SearchGrid


@dataclass(frozen=True)
class RaceSettings:
    """Numbers of a race.

    Attributes
    ----------
    far : float
        Number of errors behind the leader at which a point is left out.
    apart : float
        Number of held-out rows on which two classifiers with equal scores may still differ.
    first : int
        Number of folds in the first round; each later round doubles the folds done.
    min_folds : int
        With fewer folds, leaving points out saves too little.
    """

    far: float = 3.0
    apart: float = 4.0
    first: int = 2
    min_folds: int = 4


RACE = RaceSettings()


@dataclass(frozen=True)
class Race:
    """Decides by one scorer which points stay in the search.

    With ``one_standard_error`` the final choice may have a larger radius than the leader.
    """

    grid: SearchGrid
    metric: str
    stops_early: bool
    one_standard_error: bool

    def rounds(self, n_folds: int) -> list[slice]:
        """The folds of each round; they do not depend on the number of jobs."""
        if not self.stops_early or n_folds < RACE.min_folds:
            return [slice(0, n_folds)]
        ends = [0, RACE.first]
        while ends[-1] < n_folds:
            ends.append(min(2 * ends[-1], n_folds))
        return [slice(*pair) for pair in pairwise(ends)]

    def left(self, folds: list[FoldScores], splits: list[tuple[Floats, Floats]]) -> Flags:
        """The points that stay in the next folds."""
        if not folds:
            return np.ones(len(self.grid.params), dtype=bool)
        scores = np.array([fold.scores[self.metric] for fold in folds])
        inside = np.isfinite(scores).all(axis=0)
        share = np.array([fold.risk / fold.constant_risk for fold in folds])
        may_lead = inside & (share < 1 - 2 * CONSTANT_SHARE).all(axis=0)
        if not may_lead.any():
            return inside
        promising = inside & (share < 1 - CONSTANT_SHARE / 2).any(axis=0)
        leader = np.where(may_lead, scores.mean(axis=0), -np.inf).argmax()
        behind = scores[:, [leader]] - scores
        n_rows = min(len(test) for _, test in splits)
        near = ~_is_far(behind, inside, len(splits), n_rows)
        return promising & (
            self._with_larger_radii(near) if self.one_standard_error else near
        )

    def _with_larger_radii(self, near: Flags) -> Flags:
        """The near points, and all points with a larger radius and the same label cost."""
        table = near.reshape(len(self.grid.label_costs), len(self.grid.radii))
        order = np.argsort(self.grid.radii)
        kept = np.empty_like(table)
        kept[:, order] = np.logical_or.accumulate(table[:, order], axis=1)
        return kept.ravel()


def _is_far(behind: Floats, inside: Flags, n_folds: int, n_rows: int) -> Flags:
    """Whether points are too far ``behind`` (k, points) the leader to become the best."""
    mean, n_done = behind.mean(axis=0), len(behind)
    own = behind.var(axis=0, ddof=1)
    # If two shares of m rows differ by d, predictions differ on at least d m rows.
    least = (np.abs(mean) + RACE.apart / n_rows) / n_rows
    spread = np.sqrt(np.maximum(np.maximum(own, own[inside].mean()), least))
    error = spread * np.sqrt((n_folds - n_done) / (n_folds * n_done))
    return np.asarray(mean > RACE.far * error)
