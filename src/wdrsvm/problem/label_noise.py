r"""Labels that are wrong at random: training may disbelieve labels, at a price.

Here the label cost helps the fit; in the ball it limits the adversary.  k[n, c] is the
label cost of row n times the row's trust.  b_n in [0, 1] is the belief in the label of row
n.  L is the Lipschitz modulus of the ball.  The objective is

    F(M, b) = eps L(M) + min over beliefs of  sum_n w_n ( b_n l(z_n, y_n) + (1 - b_n) p_n )

where the price p_n of disbelieving the label of row n is

    trim      min_c k[n, c]                    the row is dropped,
    repair    min_c ( l(z_n, c) + k[n, c] )    the row gets the label c instead.

Two guards limit the beliefs.  At most a given share of all weight is disbelieved.  Each
class keeps at least the weight of its lightest row.  Without the guards, b_n is 1 or 0,
whichever costs less, and F is a sum of min(l, p).

F is not convex.  For fixed beliefs it is a convex function: the risk of a robust problem
with trusted labels on the believed weight (``ConvexPiece``).  This function lies above F.
It equals F where the fixed beliefs are the best ones.  Finding the best beliefs is a
fractional knapsack.  Taking the largest gains l - p first solves it exactly, because the
limits of the guards are nested.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..arrays import Codes, Floats
from ..cached import cached_property
from ..rows.blocks import scores_of
from ..rows.memory_rows import MemoryRows
from .certificate.gap import Certificate
from .problem import RobustProblem

# Shares of a row's weight that differ by less are treated as equal.
BELIEF_ROUNDING = 1e-9


class Beliefs(NamedTuple):
    """The belief in each label (N,), and the best other label of each row (N,).

    ``guarded`` says whether a guard has prevented some disbelief.
    """

    belief: Floats
    label: Codes
    guarded: bool


class Offers(NamedTuple):
    """For each row: the loss, the price of disbelief, and the best other label."""

    loss: Floats
    price: Floats
    label: Codes


class ConvexPiece(NamedTuple):
    """The convex problem for given beliefs: F is at most mass * risk + paid.

    ``mass`` is the believed weight, and ``paid`` is the price of all disbelief.
    """

    problem: RobustProblem
    mass: float
    paid: float

    def value(self, risk: float) -> float:
        return self.mass * risk + self.paid

    def certified(self, found: Certificate) -> Certificate:
        """A certificate of the convex problem, converted to the units of F."""
        objective, bound, lam = found
        return Certificate(self.value(objective), self.value(bound), lam)


@dataclass(frozen=True, eq=False)
class DoubtedProblem:
    """A robust problem whose label costs are prices of disbelief.

    Without ``guards`` any weight may be disbelieved, also all of a class.
    """

    problem: RobustProblem
    repair: bool
    max_disbelief: float
    guards: bool = True

    @cached_property
    def price(self) -> Floats:
        """Price of each other label (N, C); infinite for labels without any weight."""
        price = self.problem.flip_cost()
        mass = np.bincount(self.problem.y, self.problem.weight, self.problem.n_classes)
        price[:, mass == 0] = np.inf
        return price

    def dearer(self, factor: float) -> DoubtedProblem:
        """The same problem with all prices multiplied."""
        ball = replace(self.problem.ball, label_cost=factor * self._label_cost)
        return replace(self, problem=replace(self.problem, ball=ball))

    @property
    def _label_cost(self) -> Floats:
        return np.asarray(self.problem.ball.label_cost)

    @property
    def all_believed(self) -> Beliefs:
        return Beliefs(np.ones(self.problem.n_rows), self.problem.y, False)

    def offers(self, scores: Floats) -> Offers:
        """Loss, price of disbelief and best other label of each row, at given scores."""
        n = np.arange(len(scores))
        losses = self.problem.loss.of_labels(scores)
        if self.repair:
            offer = losses + self.price
            label = offer.argmin(axis=1)
            price = offer[n, label]
        else:
            label = np.where(np.isfinite(self.price), losses, np.inf).argmin(axis=1)
            price = self.price.min(axis=1)
        given = self.problem.y
        return Offers(losses[n, given], price, np.where(np.isfinite(price), label, given))

    def beliefs(self, coef: Floats, intercept: Floats) -> Beliefs:
        """The beliefs with the least objective for a given classifier."""
        return self.beliefs_at(scores_of(self.problem.X, coef, intercept))

    def beliefs_at(self, scores: Floats) -> Beliefs:
        """The beliefs with the least objective for given scores, within the guards."""
        loss, price, label = self.offers(scores)
        weight, y = self.problem.weight, self.problem.y
        doubtful = np.flatnonzero((loss > price) & (weight > 0))
        order = doubtful[np.argsort(price[doubtful] - loss[doubtful], kind="stable")]
        taken = self._allowed(order) if self.guards else weight[order]
        share = taken / weight[order]
        belief = np.ones(len(y))
        belief[order] = 1 - np.where(share > 1 - BELIEF_ROUNDING, 1.0, share)
        belief[belief > 1 - BELIEF_ROUNDING] = 1.0
        return Beliefs(belief, label, bool((belief[order] > 0).any()))

    def _allowed(self, order: Codes) -> Floats:
        """Weight that the guards let go, of rows in the order of their gains."""
        weight, y = self.problem.weight, self.problem.y
        taken = weight[order].copy()
        for c in np.unique(y[order]):
            of_class = y[order] == c
            lightest = weight[(y == c) & (weight > 0)].min()
            room = weight[y == c].sum() - lightest
            taken[of_class] = _up_to(room, taken[of_class])
        return _up_to(self.max_disbelief, taken)

    def agree(self, one: Beliefs, other: Beliefs) -> bool:
        """Whether two beliefs lead to the same convex problem."""
        if np.abs(one.belief - other.belief).max() > BELIEF_ROUNDING:
            return False
        doubted = other.belief < 1
        return not self.repair or np.array_equal(one.label[doubted], other.label[doubted])

    def convex_piece(self, beliefs: Beliefs) -> ConvexPiece:
        """The convex problem for given beliefs."""
        if (beliefs.belief == 1).all():
            trusted = replace(self.problem.ball, label_cost=np.inf)
            problem = replace(self.problem, ball=trusted).with_rows(label_trust=None)
            return ConvexPiece(problem, 1.0, 0.0)
        return self._repaired(beliefs) if self.repair else self._trimmed(beliefs)

    def _trimmed(self, beliefs: Beliefs) -> ConvexPiece:
        doubted = beliefs.belief < 1
        lost = (self.problem.weight * (1 - beliefs.belief))[doubted]
        paid = float(lost @ self.price[doubted].min(axis=1))
        kept = np.flatnonzero(beliefs.belief)
        weight = self.problem.weight[kept] * beliefs.belief[kept]
        return self._piece(kept, self.problem.y[kept], weight, paid)

    def _repaired(self, beliefs: Beliefs) -> ConvexPiece:
        """A row whose label is believed in part becomes two rows."""
        weight, belief = self.problem.weight, beliefs.belief
        kept, doubted = np.flatnonzero(belief), np.flatnonzero(belief < 1)
        lost = weight[doubted] * (1 - belief[doubted])
        paid = float(lost @ self.price[doubted, beliefs.label[doubted]])
        return self._piece(
            np.concatenate([kept, doubted]),
            np.concatenate([self.problem.y[kept], beliefs.label[doubted]]),
            np.concatenate([weight[kept] * belief[kept], lost]),
            paid,
        )

    def _piece(self, rows: Codes, y: Codes, weight: Floats, paid: float) -> ConvexPiece:
        mass = float(weight.sum())
        ball = replace(
            self.problem.ball, radius=self.problem.radius / mass, label_cost=np.inf
        )
        believed = MemoryRows(self.problem.X[rows], y, weight / mass)
        problem = replace(self.problem, rows=believed, ball=ball)
        return ConvexPiece(problem, mass, paid)

    def value(self, coef: Floats, intercept: Floats) -> float:
        """F for a given classifier."""
        piece = self.convex_piece(self.beliefs(coef, intercept))
        return piece.value(piece.problem.risk(coef, intercept).value)


def _up_to(room: float, amounts: Floats) -> Floats:
    """The amounts, cut so that their running sum does not exceed ``room``."""
    return np.diff(np.minimum(np.cumsum(amounts), room), prepend=0.0)
