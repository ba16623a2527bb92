"""Flips that are worth their price, or nearly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np

from .....arrays import Codes, Floats
from .....problem.norms import TINY
from ..settings import PRODUCTS
from .settings import LEVELS
from .spanned import Spanned

# Logarithms of shares (C, n) of blocks, by the number of the first row.
Priors: TypeAlias = dict[int, Floats]


class CloseFlips(NamedTuple):
    """Numbers of ``rows`` in order, the ``labels`` to which they may be flipped, the
    ``excess`` of what each flip adds to the loss over its price, its ``mass``, and the most
    mass it can have."""

    rows: Codes
    labels: Codes
    excess: Floats
    mass: Floats
    most: Floats

    @classmethod
    def of(cls, spanned: Spanned, excess: Floats, first: int, band: float) -> Self:
        """Of a softened block that begins at row ``first``, those within ``band``.

        Rows whose label is flipped as a whole are left out: more than their price is paid.
        """
        block, masses = spanned.block, spanned.shares
        kept = masses[block.y, np.arange(len(block.y))]
        rows, labels = np.nonzero(((excess > -band) & (kept > LEVELS.least_kept)).T)
        weight = block.weight[rows]
        mass = weight * masses[labels, rows]
        return cls(rows + first, labels, excess[labels, rows], mass, weight)

    @classmethod
    def joined(cls, parts: Sequence[Self], most: int) -> Self:
        """The ``most`` of them with the largest excess."""
        columns: list[Any] = [np.concatenate(each) for each in zip(*parts, strict=True)]
        found = cls(*columns)
        if len(found.rows) <= most:
            return found
        largest = np.sort(np.argpartition(-found.excess, most)[:most])
        columns = [column[largest] for column in columns]
        return cls(*columns)

    def teach(self, priors: Priors, y: Codes, shares: Floats) -> None:
        """Put these ``shares`` in the place of what a lesson taught."""
        starts = np.array(sorted(priors))
        blocks = np.searchsorted(starts, self.rows, side="right") - 1
        for k in np.unique(blocks).tolist():
            part, first = blocks == k, int(starts[k])
            prior = priors[first]
            found = np.exp(prior.astype(np.float64))
            own = y[first : first + found.shape[1]], np.arange(found.shape[1])
            found[self.labels[part], self.rows[part] - first] = shares[part]
            priors[first] = np.log(_with_own(found, own)).astype(prior.dtype)


class Look(NamedTuple):
    """The close flips at a point, what a lesson there would teach, and what all flips add
    to the loss without smoothing."""

    close: CloseFlips
    priors: Priors
    gain: float

    @classmethod
    def joined(cls, parts: Sequence[Self], most: int) -> Self:
        close = CloseFlips.joined([part.close for part in parts], most)
        priors: Priors = {}
        for part in parts:
            priors |= part.priors
        return cls(close, priors, sum(part.gain for part in parts))


def _with_own(shares: Floats, own: tuple[Codes, Codes]) -> Floats:
    """Shares (C, n) that sum to one by those of the labels, which are not zero."""
    shares[own] = 0.0
    total = np.maximum(shares.sum(axis=0), TINY)
    shares *= np.minimum(1.0, LEVELS.most_flipped / total)
    shares = np.maximum(shares, PRODUCTS.least_share)
    shares[own] = 0.0
    shares[own] = 1 - shares.sum(axis=0)
    return shares
