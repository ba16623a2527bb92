r"""The loss family on a score matrix ``z`` of shape (N, C).

    l(z, c) = temperature * logsumexp_j((z_j + margin [j != c]) / temperature) - z_c

At temperature 0 the logsumexp becomes a maximum; with margin 1 this is the Crammer-Singer
loss.  Temperature 1 with margin 0 is multinomial logistic regression.  Every loss of the
family is convex with the slopes M_j - M_c at infinity.  Therefore one robust reformulation
holds for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..arrays import Codes, Floats
from ..rows.along_rows import row_maxima


@dataclass(frozen=True)
class Loss:
    """A member of the loss family.

    Parameters
    ----------
    temperature : float
        0 for a maximum, a larger number for a smoothed maximum.
    margin : float
        Amount that is added to the scores of all classes other than the label.

    Examples
    --------
    >>> import numpy as np
    >>> from wdrsvm.problem import Loss
    >>> Loss(temperature=0.0, margin=1.0).of_labels(np.array([[2.0, 0.5]]))
    array([[0. , 2.5]])
    """

    temperature: float
    margin: float

    def of_equal_scores(self, n_classes: int) -> float:
        """Loss of any label if all classes have the same score."""
        return _of_equal_scores(self, n_classes)

    def of_labels(self, scores: Floats) -> Floats:
        """Loss of each row for each label, shape (N, C)."""
        if self.temperature == 0:
            rivals = _largest_of_others(scores) + self.margin - scores
            return np.maximum(rivals, 0.0)
        sharp = scores / self.temperature
        if self.margin == 0:
            return self.temperature * logsumexp(sharp)[:, None] - scores
        return self._smooth_with_margin(scores, sharp)

    def of_own_labels(self, scores: Floats, y: Codes) -> Floats:
        """Loss of each row for its own label, shape (N,): one column of ``of_labels``."""
        rows = np.arange(len(y))
        if self.temperature == 0:
            others = scores.copy()
            others[rows, y] = -np.inf
            return np.maximum(row_maxima(others) + self.margin - scores[rows, y], 0.0)
        if self.margin == 0:
            sharp = scores / self.temperature
            return np.asarray(self.temperature * logsumexp(sharp) - scores[rows, y])
        return np.asarray(self.of_labels(scores)[rows, y])

    def _smooth_with_margin(self, scores: Floats, sharp: Floats) -> Floats:
        losses = np.empty_like(scores)
        shift = self.margin / self.temperature
        for c in range(scores.shape[1]):
            raised = sharp + shift
            raised[:, c] -= shift
            losses[:, c] = self.temperature * logsumexp(raised) - scores[:, c]
        return losses


@lru_cache
def _of_equal_scores(loss: Loss, n_classes: int) -> float:
    return float(loss.of_labels(np.zeros((1, n_classes)))[0, 0])


def softmax(sharp: Floats) -> Floats:
    """Softmax of each row, shape (N, C)."""
    _, powers, total = _powers(sharp)
    powers /= total
    return powers.T


def logsumexp(sharp: Floats) -> Floats:
    """log sum exp of each row, shape (N,)."""
    largest, _, total = _powers(sharp)
    return np.asarray(largest + np.log(total))


def _powers(sharp: Floats) -> tuple[Floats, Floats, Floats]:
    """Largest entry of each row (N,), powers relative to it (C, N), and their sum (N,).

    The classes are the first axis, because NumPy reduces rows of few entries slowly.
    """
    powers = np.array(sharp.T, order="C")
    largest = powers.max(axis=0, initial=-np.inf)
    powers -= largest
    np.exp(powers, out=powers)
    return largest, powers, powers.sum(axis=0)


def lead_of(scores: Floats, y: Codes) -> Floats:
    """How far the score of each row's label is above the largest other one, (N,)."""
    rows = np.arange(len(y))
    others = scores.copy()
    others[rows, y] = -np.inf
    return np.asarray(scores[rows, y] - row_maxima(others))


def _largest_of_others(scores: Floats) -> Floats:
    """For each entry, the largest score in the other columns of the same row."""
    rows, best = np.arange(len(scores)), scores.argmax(axis=1)
    others = scores.copy()
    others[rows, best] = -np.inf
    largest = np.repeat(scores[rows, best][:, None], scores.shape[1], axis=1)
    largest[rows, best] = row_maxima(others)
    return largest


LOSSES = {
    "crammer-singer": Loss(temperature=0.0, margin=1.0),
    "logistic": Loss(temperature=1.0, margin=0.0),
}
