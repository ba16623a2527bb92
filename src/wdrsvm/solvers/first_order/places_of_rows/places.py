r"""Places: the classes among which the mass of each row may move in the next epochs.

A row of a hinge has mass on two or three classes, whatever their number.  At a point with
scores z its places are its label y, the classes with mass, and those whose loss
z_j + 1 - z_y is positive or nearly so.  A row whose only place is its label stays at rest.
Scores of all rows are matrix products in single precision, which take a fraction of an
epoch's time; an epoch over the places alone (``native.l2_places``) then takes a fraction,
too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....arrays import Codes, Floats, Matrix, Singles
from ..kernels import contested_classes
from ..layout import Layout
from ..samples import SampleArrays
from ..settings import FIRST_ORDER
from .masses import dense_rows


class Places(NamedTuple):
    """The places of row n are ``classes[starts[n] : starts[n + 1]]``; ``rows`` are those
    with more than one.  ``loss`` (N,) are the losses of the rows, ``masses`` those on the
    places, which an epoch changes."""

    starts: Codes
    classes: Codes
    rows: Codes
    loss: Floats
    masses: Floats

    def order(self, rng: np.random.Generator, row_width: int, moves: Floats) -> Codes:
        """The rows in random order, and again while that takes less than an epoch's rest;
        then the restless ones again.

        ``row_width`` is the number of a row's entries, ``moves`` (N,) the mass that each
        row moved in the last epoch.
        """
        work = max(1, len(self.classes) * row_width)
        n_passes = int(FIRST_ORDER.short_pass_work / work)
        n_passes = min(max(n_passes, 1), FIRST_ORDER.max_passes)
        passes = n_passes * [self.rows]
        passes += FIRST_ORDER.restless_passes * [self._restless(moves)]
        return np.concatenate([rng.permutation(rows) for rows in passes])

    def lasting_epochs(self, n_classes: int, width: float = np.inf) -> int:
        """Epochs until places are looked for again: more where all scores take longer than
        visits of the places, and one alone where they have such a width."""
        if width < np.inf:
            return 1
        n_scores = len(self.loss) * n_classes
        is_costly = n_scores > FIRST_ORDER.scores_per_place * len(self.classes)
        turns = FIRST_ORDER.turns_of_few_places if is_costly else 1
        return turns * FIRST_ORDER.sweeps_per_turn

    def _restless(self, moves: Floats) -> Codes:
        """The rows that moved most: those make nearly all moves of the next epoch, too."""
        moved = moves[self.rows]
        n_restless = int(FIRST_ORDER.restless_share * len(moved))
        # On tables most rows do not move at all.
        if np.count_nonzero(moved) <= n_restless:
            return np.asarray(self.rows[moved > 0])
        return np.asarray(self.rows[moved >= np.partition(moved, -n_restless)[-n_restless]])

    def row_of_each(self) -> Codes:
        """The row of each place."""
        return np.repeat(np.arange(len(self.loss)), np.diff(self.starts))


def find_places(
    layout: Layout,
    rows: SampleArrays,
    alpha: Matrix,
    touch: Floats,
    free: Floats,
    width: float = np.inf,
) -> Places:
    """The places at the point of tables (T, C) and (E, C), for masses (N, C).

    Classes without mass whose loss lacks more than ``width`` to the largest one of the row
    are left out.
    """
    n_rows, n_classes = alpha.shape
    table, slack = touch.astype(np.float32), FIRST_ORDER.place_slack
    step = max(1, FIRST_ORDER.scores_at_a_time // n_classes)
    counts, losses = np.empty(n_rows, dtype=np.intp), np.empty(n_rows)
    n_scores, classes, masses = min(step, n_rows) * n_classes, [], []
    memory, held = np.empty(n_scores, dtype=np.intp), np.empty(n_scores)
    for part in (slice(first, first + step) for first in range(0, n_rows, step)):
        scores = rows.singles[part] @ table
        scores += _free_scores(layout, free, part)
        rows_of_part = scores, rows.y[part], dense_rows(alpha, part)
        out = counts[part], memory, held, losses[part]
        n_found = contested_classes(*rows_of_part, slack, width, *out)
        classes.append(memory[:n_found].copy())
        masses.append(held[:n_found].copy())
    starts = np.concatenate([[0], np.cumsum(counts)])
    found = np.concatenate(classes), np.flatnonzero(counts > 1)
    return Places(starts, *found, losses, np.concatenate(masses))


def _free_scores(layout: Layout, free: Floats, part: slice) -> Singles:
    """What the free columns add to the scores of some rows; one line if it is the same."""
    is_constant = layout.fit_intercept and len(free) == 1
    added = free[0] if is_constant else layout.free[part] @ free
    return np.asarray(added, dtype=np.float32)
