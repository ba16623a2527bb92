r"""How rows are smoothed in a bounded ball: formulas of some rows.

Every ordered pair (label c, winner j) has a plane, and the score of row n is

    s_cj(n) = (x_n, 1) . plane_cj + margin,     s_cc = 0.

The loss of label c is T logsumexp_j(s_cj / T), the loss of the row is
mu logsumexp_c((loss_c - lam k[n, c]) / mu), where T = max(temperature, mu).  Both are
upper bounds.  The derivatives are masses  pi_cj = w p_c q_cj  with softmaxes p and q: an
adversary's plan.

If no label can be flipped, only a row's own label is computed.  Arrays of some rows are
(labels, winners, rows), because reductions along the last axis of few entries are slow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ....arrays import Codes, Flags, Floats
from ....problem import RobustProblem
from ....rows.blocks import dense_rows
from ...interior_point.bounded.layout import add_local
from ..settings import NEWTON


class PairPoint(NamedTuple):
    """Planes (C, C, P + 1) by label and winner, lam, and the smoothing."""

    plane: Floats
    lam: float
    mu: float


class PairSums(NamedTuple):
    """Sums over rows.

    ``moments`` (C, C, P + 1) are sums of pi_cj (x_n, 1); ``dual`` is the value of the
    masses as multipliers, ``on_flips`` what their labels cost.
    """

    loss: float
    dual: float
    on_flips: float
    moments: Floats
    n_soft: int


class PairRows(NamedTuple):
    """Scores and softmaxes of some rows, by label (L, n) or label and winner (L, C, n).

    The first axis has all labels, or only the row's own.
    """

    scores: Floats
    price: Floats
    of_label: Floats
    of_winner: Floats
    loss_of_label: Floats
    loss: Floats


class PairFrames(NamedTuple):
    """How scores change with the reduced variables of a step.

    ``frame`` (C, C, P + 1, W) turns (x, 1) into the derivatives by the local variables:
    ``n_shared`` differences of coefficients, lam, and ``n_own`` directions of the pair's
    own variables.  The global vector has the coefficients of all classes, lam, and the
    lengths along the own directions of all pairs (C, C, n_own).
    """

    frame: Floats
    n_shared: int
    n_own: int

    @property
    def size(self) -> int:
        """Numbers of the global vector."""
        return self.place_of_lam + 1 + len(self.frame) ** 2 * self.n_own

    @property
    def place_of_lam(self) -> int:
        return self.n_shared * len(self.frame)

    def places(self, label: int, winner: int) -> tuple[slice, slice, Codes]:
        """Places of a pair in the global vector: of both classes, and of the others."""
        n, lam = self.n_shared, self.place_of_lam
        first = lam + 1 + (label * len(self.frame) + winner) * self.n_own
        others = np.append(lam, np.arange(first, first + self.n_own))
        plus, minus = slice(winner * n, winner * n + n), slice(label * n, label * n + n)
        return plus, minus, others


@dataclass(frozen=True)
class PairSmoothing:
    """A softmax over winners and labels."""

    temperature: float
    margin: float
    has_flips: bool

    def rows(self, at: PairPoint, problem: RobustProblem, rows: Any, X: Floats) -> PairRows:
        """The smoothed loss of some rows and its softmaxes."""
        scores = self._scores(at.plane, X)
        if self.has_flips:
            price = problem.label_price(rows).T
        else:
            each = np.arange(len(X))
            scores = np.ascontiguousarray(scores[problem.y[rows], :, each].T)[None]
            price = np.zeros((1, len(X)))
        loss_of_label, of_winner = _softmax(scores, self.rivalry(at.mu), axis=1)
        possible = np.isfinite(price)
        net = loss_of_label - at.lam * np.where(possible, price, 0.0)
        loss, of_label = _softmax(np.where(possible, net, -np.inf), at.mu, axis=0)
        price = np.where(possible, price, 0.0)
        return PairRows(scores, price, of_label, of_winner, loss_of_label, loss)

    def rivalry(self, mu: float) -> float:
        """The temperature of the softmax over winners."""
        return max(self.temperature, mu)

    def _scores(self, plane: Floats, X: Floats) -> Floats:
        """(C, C, n) by label and winner."""
        n_classes = len(plane)
        flat = plane.reshape(n_classes**2, -1)
        scores = flat[:, :-1] @ X.T + flat[:, -1:]
        scores = scores.reshape(n_classes, n_classes, len(X))
        scores += self.margin * ~np.eye(n_classes, dtype=bool)[:, :, None]
        return scores

    def sums(
        self, at: PairPoint, problem: RobustProblem, rows: slice
    ) -> tuple[PairSums, Floats]:
        """Sums over some rows, and how soft each of them is."""
        X, weight = dense_rows(problem.X[rows]), problem.weight[rows]
        found = self.rows(at, problem, rows, X)
        mass = self.masses(found, problem.y[rows], weight)
        softness = 1.0 - (found.of_label * found.of_winner.max(axis=1)).max(axis=0)
        flat = mass.reshape(-1, len(X))
        moments = np.hstack([flat @ X, flat.sum(axis=1)[:, None]])
        sums = PairSums(
            loss=float(weight @ found.loss),
            dual=self._dual(found, weight, at.mu, mass),
            on_flips=float((found.of_label * found.price).sum(axis=0) @ weight),
            moments=moments.reshape(*mass.shape[:2], -1),
            n_soft=int(np.count_nonzero(softness > NEWTON.saturated)),
        )
        return sums, softness

    def margins(self, at: PairPoint, problem: RobustProblem, rows: slice) -> Floats:
        """By how much each row's largest piece exceeds its second largest."""
        found = self.rows(at, problem, rows, dense_rows(problem.X[rows]))
        net = found.scores - at.lam * found.price[:, None]
        if self.has_flips:
            net[
                np.repeat(np.isinf(problem.label_price(rows)).T[:, None], len(net), 1)
            ] = -np.inf
            # Another label without another winner is no piece, because it gains nothing.
            label, row = np.nonzero(problem.y[rows] != np.arange(len(net))[:, None])
            net[label, label, row] = -np.inf
        flat = net.reshape(-1, net.shape[2])
        second, first = np.partition(flat, (-2, -1), axis=0)[-2:]
        return np.asarray(first - second)

    def masses(self, found: PairRows, y: Codes, weight: Floats) -> Floats:
        """pi of all labels and winners, (C, C, n)."""
        mass = weight * found.of_label[:, None] * found.of_winner
        if self.has_flips:
            return np.asarray(mass)
        n_classes, each = mass.shape[1], np.arange(len(y))
        whole = np.zeros((n_classes, n_classes, len(y)))
        whole[y, :, each] = mass[0].T
        return whole

    def _dual(self, found: PairRows, weight: Floats, mu: float, mass: Floats) -> float:
        """margin times the masses of rivals, plus the entropy of the loss itself."""
        rivals = mass.sum() - np.einsum("ccn->", mass)
        value = self.margin * float(rivals)
        share = self.temperature / self.rivalry(mu)
        if share == 0:
            return value
        mean = (found.of_winner * found.scores).sum(axis=1)
        entropy = (found.of_label * (found.loss_of_label - mean)).sum(axis=0)
        return value + share * float(entropy @ weight)

    def gram(
        self, at: PairPoint, frames: PairFrames, problem: RobustProblem, rows: Codes
    ) -> Floats:
        """The curvature of some rows in the global vector of a step."""
        X, weight, y = dense_rows(problem.X[rows]), problem.weight[rows], problem.y[rows]
        found = self.rows(at, problem, rows, X)
        empty = np.zeros((frames.size, frames.size))
        curvature = _Curvature(self.rivalry(at.mu), at.mu, self.has_flips, frames, empty)
        mean = np.zeros((len(X), frames.size))
        X = np.hstack([X, np.ones((len(X), 1))])
        for c in range(len(at.plane)):
            part = self._of_label(found, y, weight, X, c)
            if part is None:
                continue
            kept, label_rows = part
            mean[kept] += curvature.add_label(c, label_rows)
        if self.has_flips or curvature.is_joint:
            curvature.total[...] -= mean.T @ ((weight / at.mu)[:, None] * mean)
        return curvature.total

    def _of_label(
        self, found: PairRows, y: Codes, weight: Floats, X: Floats, label: int
    ) -> tuple[Codes, _LabelRows] | None:
        """The rows to which the adversary may give a label."""
        line = label if self.has_flips else 0
        given = found.of_label[line] if self.has_flips else np.asarray(y == label, float)
        kept = np.flatnonzero(given > NEWTON.negligible_mass)
        if not len(kept):
            return None
        return kept, _LabelRows(
            X[kept],
            weight[kept],
            given[kept],
            found.of_winner[line][:, kept],
            found.price[line, kept],
        )


class _LabelRows(NamedTuple):
    """Rows (x, 1) with the share p of a label, shares q (C, n) of winners, and prices."""

    X: Floats
    weight: Floats
    share: Floats
    winners: Floats
    price: Floats


@dataclass(frozen=True, eq=False)
class _Curvature:
    """The matrix of a step, to which labels are added one after the other."""

    rivalry: float
    mu: float
    has_flips: bool
    frames: PairFrames
    total: Floats

    @property
    def is_joint(self) -> bool:
        """Whether winners and labels have one common softmax."""
        return self.rivalry == self.mu

    def add_label(self, label: int, rows: _LabelRows) -> Floats:
        """Add a label's curvature; return its share of the mean derivative (n, size)."""
        lam = self.frames.place_of_lam
        mean = np.zeros((len(rows.X), self.frames.size))
        for winner in range(len(self.frames.frame)):
            if winner != label:
                self._add_pair(label, winner, rows, mean)
        shifted = mean.copy()
        shifted[:, lam] -= rows.price
        if self.is_joint:
            stay = rows.weight * rows.share * rows.winners[label] / self.mu
            self.total[lam, lam] += stay @ rows.price**2
            return rows.share[:, None] * shifted
        given = rows.weight * rows.share
        self.total[...] -= mean.T @ ((given / self.rivalry)[:, None] * mean)
        if self.has_flips:
            self.total[...] += shifted.T @ ((given / self.mu)[:, None] * shifted)
        return rows.share[:, None] * shifted

    def _add_pair(self, label: int, winner: int, rows: _LabelRows, mean: Floats) -> None:
        """Add the pair's own squares, and its part of the label's mean derivative."""
        change = rows.X @ self.frames.frame[label, winner]
        n, q = self.frames.n_shared, rows.winners[winner]
        plus, minus, own = self.frames.places(label, winner)
        mean[:, plus] += q[:, None] * change[:, :n]
        mean[:, minus] -= q[:, None] * change[:, :n]
        mean[:, own] += q[:, None] * change[:, n:]
        if self.is_joint:
            change[:, n] -= rows.price
        force = rows.weight * rows.share * q / self.rivalry
        gram = change.T @ (force[:, None] * change)
        add_local(self.total, gram, plus, minus, own)


def _softmax(values: Floats, temperature: float, axis: int) -> tuple[Floats, Floats]:
    """temperature * logsumexp(values / temperature) along an axis, and its derivatives."""
    top = values.max(axis=axis, keepdims=True)
    powers = np.exp((values - top) / temperature)
    total = powers.sum(axis=axis, keepdims=True)
    powers /= total
    return np.squeeze(top + temperature * np.log(total), axis), powers


def softness_flags(softness: Floats) -> Flags:
    """Rows whose curvature counts."""
    return np.asarray(softness > NEWTON.saturated)
