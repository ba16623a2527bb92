r"""Coefficients nearby at which no flip is worth more than its price, and no pair too long.

The smoothed risk and the multipliers are known to many digits when some flips still add
more to the loss than their price: their shares, which grow by a factor in each lesson, were
too small.  The true risk charges all of it.  Around M the smoothed risk is taken as
<S, H S> / 2 with S = M' - M and H the curvature of the preconditioner.  Each close flip k
and each long pair of classes is a hold: a number, linear in S, that shall not be positive,

    excess_k + <A_k, S>,      A_k = (e_i - e_j) x_k',

where x_k is the row, or the direction of the pair.  With the changes of the multipliers,

    S = -H^-1 sum_k change_k A_k,    excess_k + <A_k, S> = excess_k - (gram change)_k.

This is zero where a multiplier lies between its bounds, at most zero where it is at the
lower one, and at least zero at the upper one.  The multipliers are the next shares of the
labels and of the lengths.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from .....arrays import Codes, Flags, Floats
from ..curvature.preconditioner import (
    ClassInverse,
    Preconditioner,
    into_basis,
    out_of_basis,
)
from .close import CloseFlips, Priors
from .settings import LEVELS

if TYPE_CHECKING:
    from .descent import FlipDescent


class Holds(NamedTuple):
    """Differences of the classes ``upper`` and ``lower`` (K,) along ``directions`` (K, Q),
    in the basis of the preconditioner, by how much each is too large, its multiplier, the
    most that this can become, and its cost: a unit of the radius's multiplier pays for."""

    upper: Codes
    lower: Codes
    directions: Floats
    excess: Floats
    multipliers: Floats
    most: Floats
    costs: Floats

    def gram(self, inverse: ClassInverse) -> Floats:
        """<A_k, H^-1 A_l> (K, K): only holds of one class touch each other."""
        found = np.zeros((len(self.excess), len(self.excess)), self.directions.dtype)
        for c in np.union1d(self.upper, self.lower).tolist():
            plus, minus = np.flatnonzero(self.upper == c), np.flatnonzero(self.lower == c)
            holds = np.append(plus, minus)
            lines = self.directions[holds]
            lines[len(plus) :] *= -1
            found[np.ix_(holds, holds)] += inverse.gram(c, lines)
        return found

    def pull(self, changes: Floats, n_classes: int) -> Floats:
        """sum_k change_k A_k (C, Q)."""
        every = np.arange(len(changes))
        shape = n_classes, len(changes)
        pulls = sparse.csr_array((changes, (self.upper, every)), shape)
        pulls -= sparse.csr_array((changes, (self.lower, every)), shape)
        return np.asarray(pulls @ self.directions)


class Level(NamedTuple):
    """The coefficients (C, Q), the shares that follow, the forces between the classes
    (C, C), each pair twice, and the true risk of the point from which this was computed, or
    a little more."""

    coef: Floats
    priors: Priors
    forces: Floats
    risk: float


def level_of(descent: FlipDescent) -> Level | None:
    """None if the systems lose all digits."""
    precondition = descent.precondition
    assert isinstance(precondition, Preconditioner)
    band = LEVELS.band * descent.mu
    most_pairs = int(LEVELS.pairs_share * descent.most_holds)
    most_flips = descent.most_holds - most_pairs
    close, priors, gain = descent.design.look(descent.at, band, most_flips)
    pairs = _long_pairs(descent, most_pairs)
    flips = _of_flips(descent, close, precondition.basis)
    lengths, forces = _of_pairs(descent, pairs, precondition.basis)
    holds = Holds(
        *(np.concatenate(columns) for columns in zip(flips, lengths, strict=True))
    )
    gram = holds.gram(precondition.inverse)
    gram[np.diag_indices(len(gram))] *= 1 + LEVELS.added_stiffness
    changes = balanced_changes(gram, holds)
    if changes is None:
        return None
    step = -precondition.inverse(
        holds.pull(changes, len(descent.coef)).astype(precondition.kind)
    )
    coef = descent.coef + out_of_basis(step, precondition.basis)
    n_flips, found = len(close.rows), holds.multipliers + changes
    forces[pairs], forces[pairs[::-1]] = found[n_flips:], found[n_flips:]
    shares = found[:n_flips] / close.most
    close.teach(priors, descent.design.problem.y, shares)
    return Level(coef, priors, forces, descent.risk + gain - descent.sums.added)


def _of_flips(descent: FlipDescent, close: CloseFlips, basis: Floats | None) -> Holds:
    rows = descent.design.features(close.rows)
    problem = descent.design.problem
    y, trust = problem.y[close.rows], problem.label_trust
    costs = descent.flip_cost * (np.ones(len(y)) if trust is None else trust[close.rows])
    told = close.excess, close.mass, close.most, costs
    return Holds(y, close.labels, into_basis(rows, basis), *told)


def _long_pairs(descent: FlipDescent, most: int) -> tuple[Codes, Codes]:
    lengths = np.triu(descent.smoothed.lengths, 1)
    first, second = np.nonzero(lengths > (1 - LEVELS.length_band) * descent.lam)
    if len(first) > most:
        order = np.argsort(-lengths[first, second], kind="stable")[:most]
        first, second = first[order], second[order]
    return first, second


def _of_pairs(
    descent: FlipDescent, pairs: tuple[Codes, Codes], basis: Floats | None
) -> tuple[Holds, Floats]:
    """The holds of long pairs, and the forces between all classes now."""
    smoothed, (first, second) = descent.smoothed, pairs
    forces = descent.left * smoothed.slopes * smoothed.lengths
    differences = descent.coef[first] - descent.coef[second]
    differences[:, descent.n_touchable :] = 0.0
    differences /= smoothed.lengths[pairs][:, None]
    excess = smoothed.lengths[pairs] - descent.lam
    turned = into_basis(differences.astype(descent.design.kind), basis)
    most, costs = np.full(len(first), np.inf), np.ones(len(first))
    return Holds(first, second, turned, excess, forces[pairs], most, costs), forces


def balanced_changes(gram: Floats, holds: Holds) -> Floats | None:
    """The changes of the multipliers, by guesses of which lie between their bounds."""
    low, high = -holds.multipliers, holds.most - holds.multipliers
    at_low, at_high = (holds.excess <= 0) & (low == 0), np.zeros(len(low), dtype=bool)
    changes, free = np.zeros_like(low), ~at_low
    for _ in range(LEVELS.rounds):
        changes = np.where(at_low, low, np.where(at_high, high, 0.0))
        rise = _fill_free(changes, free, gram, holds)
        if rise is None:
            return None
        lacking = holds.excess - gram @ changes - rise * holds.costs
        was_free = free
        at_low = np.where(at_low, lacking <= 0, free & (changes < low))
        at_high = np.where(at_high, lacking >= 0, free & (changes > high))
        free = ~(at_low | at_high)
        if (free != was_free).sum() <= LEVELS.few_wrong * len(free):
            break
    return np.clip(changes, low, high)


def _fill_free(changes: Floats, free: Flags, gram: Floats, holds: Holds) -> float | None:
    """Fill in the free changes; returns the rise of the radius's multiplier."""
    rest, costs = changes[~free], holds.costs[free]
    right = holds.excess[free] - (gram[:, ~free] @ rest)[free]
    solved = _solved(gram[np.ix_(free, free)], np.stack([right, costs], axis=1))
    if solved is None:
        return None
    plain, dearer = solved.T
    # All multipliers together cost the radius, before and after.
    surplus, relief = costs @ plain + holds.costs[~free] @ rest, costs @ dearer
    rise = float(surplus / relief) if relief > 0 else 0.0
    changes[free] = plain - rise * dearer
    return rise


def _solved(gram: Floats, right: Floats) -> Floats | None:
    """None where the matrix has lost its digits."""
    if len(gram) == 0:
        return right
    try:
        factor = cho_factor(gram, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return None
    told = right.astype(gram.dtype)
    return np.asarray(cho_solve(factor, told, check_finite=False), dtype=np.float64)
