r"""Points of a search that further folds cannot make the best.

Folds are run in rounds.  After each round the point with the best mean score leads.  Let a
point be behind the leader by d in the mean of the k folds so far, and let s be the spread
of such differences from fold to fold.  Over all n folds it will be behind by d as well, up
to an error with the standard deviation

.. math:: s \sqrt{(n - k) / (n k)},

if folds are alike.  A point that is behind by more than ``FAR`` of these is left out of the
folds to come.  Two folds say little of a spread, so it is the largest of three: the point's
own, that of all points together, and what shares of m rows held out may have.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..arrays import Flags, Floats
from ..robustness.paths.constant_points import CONSTANT_SHARE
from ._folds import FoldScores, SearchGrid

# Standard deviations behind the leader that no point makes up for.
FAR = 4.0
# Rows held out on which two classifiers may differ although their scores do not.
APART = 4.0
# Folds of the first round; later ones double what is done.
FIRST = 2
# Of fewer folds too few are left to save.
MIN_FOLDS = 4


@dataclass(frozen=True)
class Race:
    """Decides by one scorer; ``one_standard_error`` may take a larger radius in the end."""

    grid: SearchGrid
    metric: str
    stops_early: bool
    one_standard_error: bool

    def rounds(self, n_folds: int) -> list[slice]:
        """The folds of each round: the same ones however many are worked on at a time."""
        if not self.stops_early or n_folds < MIN_FOLDS:
            return [slice(0, n_folds)]
        ends = [0, FIRST]
        while ends[-1] < n_folds:
            ends.append(min(2 * ends[-1], n_folds))
        return [slice(*pair) for pair in pairwise(ends)]

    def left(self, folds: list[FoldScores], splits: list[tuple[Floats, Floats]]) -> Flags:
        """The points that the folds to come are run for."""
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
        """Those near, and the points of larger radii at their label costs."""
        table = near.reshape(len(self.grid.label_costs), len(self.grid.radii))
        order = np.argsort(self.grid.radii)
        kept = np.empty_like(table)
        kept[:, order] = np.logical_or.accumulate(table[:, order], axis=1)
        return kept.ravel()


def _is_far(behind: Floats, inside: Flags, n_folds: int, n_rows: int) -> Flags:
    """Whether points are too far behind (k, points) to come first."""
    mean, n_done = behind.mean(axis=0), len(behind)
    own = behind.var(axis=0, ddof=1)
    # Shares of m rows that differ by d: at least d of the rows are judged apart.
    least = (np.abs(mean) + APART / n_rows) / n_rows
    spread = np.sqrt(np.maximum(np.maximum(own, own[inside].mean()), least))
    error = spread * np.sqrt((n_folds - n_done) / (n_folds * n_done))
    return np.asarray(mean > FAR * error)
