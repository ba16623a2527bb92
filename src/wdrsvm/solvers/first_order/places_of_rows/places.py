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

from ....arrays import Codes, Flags, Floats, Singles
from ..layout import Layout
from ..samples import SampleArrays
from ..settings import FIRST_ORDER


class Places(NamedTuple):
    """The places of row n are ``classes[starts[n] : starts[n + 1]]``; ``rows`` are those
    with more than one.  ``loss`` (N,) are the losses of the rows."""

    starts: Codes
    classes: Codes
    rows: Codes
    loss: Floats

    def order(self, rng: np.random.Generator, row_width: int) -> Codes:
        """The rows in random order, and again while that takes less than an epoch's rest.

        ``row_width`` is the number of a row's entries.
        """
        work = max(1, len(self.classes) * row_width)
        n_passes = int(FIRST_ORDER.short_pass_work / work)
        n_passes = min(max(n_passes, 1), FIRST_ORDER.max_passes)
        return np.concatenate([rng.permutation(self.rows) for _ in range(n_passes)])

    def row_of_each(self) -> Codes:
        """The row of each place."""
        return np.repeat(np.arange(len(self.loss)), np.diff(self.starts))


def find_places(
    layout: Layout, rows: SampleArrays, alpha: Floats, touch: Floats, free: Floats
) -> Places:
    """The places at the point of tables (T, C) and (E, C), for masses (N, C)."""
    n_rows, n_classes = alpha.shape
    table = touch.astype(np.float32)
    is_constant = layout.fit_intercept and len(free) == 1
    step = max(1, FIRST_ORDER.scores_at_a_time // n_classes)
    counts, classes, losses = [], [], []
    for part in (slice(first, first + step) for first in range(0, n_rows, step)):
        scores = rows.singles[part] @ table
        scores += free[0] if is_constant else layout.free[part] @ free
        is_place, loss = _contested(scores, rows.y[part], alpha[part])
        counts.append(np.count_nonzero(is_place, axis=1))
        classes.append(np.flatnonzero(is_place) % n_classes)
        losses.append(loss)
    n_places = np.concatenate(counts)
    starts = np.concatenate([[0], np.cumsum(n_places)])
    found = np.concatenate(classes), np.flatnonzero(n_places > 1)
    return Places(starts, *found, np.concatenate(losses).astype(np.float64))


def _contested(scores: Singles, y: Codes, alpha: Floats) -> tuple[Flags, Singles]:
    """Which classes are places (n, C), and the losses (n,); ``scores`` are overwritten."""
    every = np.arange(len(y))
    scores -= scores[every, y][:, None] - 1
    # The label's own entry is 1 now: it is always a place.
    is_place = (scores > -FIRST_ORDER.place_slack) | (alpha > 0)
    scores[every, y] = 0.0
    return is_place, scores.max(axis=1)
