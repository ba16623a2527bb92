r"""What turned true labels into given ones: models of label noise on out-of-fold opinions.

s[n, c] are log-probabilities of the labels, from models that never saw the label of row n.
Models that learn from wrong labels are less certain than the truth is.  Therefore

    p[n, :] = softmax(t s[n, :] + b)          probabilities of the true label,
    P(given k | true c) = T[c, k]             the confusion,
    P(given k | row n)  = sum_c p[n, c] T[c, k].

The sharpness t, the offsets b and the confusion T maximise the likelihood of the given
labels times weak priors.  T is one of three kinds:

    none        the identity: all doubt is overlap of the classes,
    uniform     1 - r on the diagonal, r / (C - 1) elsewhere,
    by class    any T, whose rows shrink to a uniform one by pseudo-labels.

By Bayes' rule, P(true c | row, given k) is proportional to p[n, c] T[c, k].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit, softmax

from ...arrays import Codes, Floats
from ...solvers.runtime.blas_threads import single_threaded_blas


@dataclass(frozen=True)
class NoiseSettings:
    """Numbers of the fit of a noise model.

    Attributes
    ----------
    usual_share : float
        Share of wrong labels that the priors expect.
    share_labels : float
        Pseudo-labels of the prior on the share of wrong labels.
    class_labels : float
        Pseudo-labels per class that follow a uniform confusion.
    usual_sharpness : float
        Sharpness that its prior expects.
    sharpness_weight, offset_weight : float
        Weights of the normal priors on the log of the sharpness, and on the offsets.
    max_iter, inner_iter : int
        Alternations between T and (t, b), and steps on (t, b) in each of them.
    tol : float
        Alternations end if no entry of T changes by more.
    """

    usual_share: float = 0.2
    share_labels: float = 20.0
    class_labels: float = 10.0
    usual_sharpness: float = 1.5
    sharpness_weight: float = 5.0
    offset_weight: float = 0.3
    max_iter: int = 50
    inner_iter: int = 5
    tol: float = 1e-3


SETTINGS = NoiseSettings()
# Beyond these bounds, probabilities are 0 or 1 for every purpose.
LOG_SHARPNESS, LARGEST = (-3.0, 3.0), 15.0


class Opinions(NamedTuple):
    """Out-of-fold log-probabilities (N, C), given labels and weights with mean 1."""

    log_probability: Floats
    y: Codes
    weight: Floats

    @property
    def n_classes(self) -> int:
        return int(self.log_probability.shape[1])

    def take(self, rows: Codes) -> Opinions:
        """Some of the rows, perhaps repeated."""
        return Opinions(self.log_probability[rows], self.y[rows], self.weight[rows])

    def relabelled(self, y: Codes) -> Opinions:
        """The same rows with other labels."""
        return self._replace(y=y)


@dataclass(frozen=True, eq=False)
class NoiseModel:
    """Sharpness t, offsets b (C,), confusion T (C, C), and the log-likelihood."""

    sharpness: float
    offset: Floats
    confusion: Floats
    log_likelihood: float

    def true_probability(self, log_probability: Floats) -> Floats:
        """Probabilities of the true label (N, C), without a look at the given one."""
        return np.asarray(softmax(self.sharpness * log_probability + self.offset, axis=1))

    def posterior(self, opinions: Opinions) -> Floats:
        """Probabilities of the true label (N, C), for the given ones."""
        true = self.true_probability(opinions.log_probability)
        joint = true * self.confusion[:, opinions.y].T
        return np.asarray(joint / joint.sum(axis=1, keepdims=True))

    def given_probability(self, log_probability: Floats) -> Floats:
        """Probabilities of the given label (N, C)."""
        return np.asarray(self.true_probability(log_probability) @ self.confusion)

    @property
    def point(self) -> Floats:
        """The parameters (log t, b)."""
        return np.asarray(np.r_[np.log(self.sharpness), self.offset])


def uniform_confusion(share: float, n_classes: int) -> Floats:
    """A share of the labels is wrong, and all wrong labels are equally likely."""
    confusion = np.full((n_classes, n_classes), share / (n_classes - 1))
    np.fill_diagonal(confusion, 1 - share)
    return confusion


def without_noise(
    opinions: Opinions, start: NoiseModel | None = None, settings: NoiseSettings = SETTINGS
) -> NoiseModel:
    """The model in which all labels are right."""
    confusion = np.eye(opinions.n_classes)
    point = _first_point(opinions, start, settings)

    def cost(x: Floats) -> tuple[float, Floats]:
        return _cost(x, opinions, confusion, settings)

    return _model(_least(cost, point, 100), opinions, confusion)


def with_uniform_noise(
    opinions: Opinions, start: NoiseModel | None = None, settings: NoiseSettings = SETTINGS
) -> NoiseModel:
    """The model in which each label is wrong with the same probability."""
    n_classes = opinions.n_classes
    # With more wrong labels than chance makes, classes would only swap their names.
    largest = (n_classes - 1) / n_classes
    prior = settings.share_labels * np.array(
        [settings.usual_share, 1 - settings.usual_share]
    )

    def cost(x: Floats) -> tuple[float, Floats]:
        share = largest * expit(x[-1])
        value, slope = _cost(
            x[:-1], opinions, uniform_confusion(share, n_classes), settings
        )
        value -= float(prior @ np.log([share, 1 - share]))
        by_share = _slope_of_share(x[:-1], opinions, share) - (
            prior[0] / share - prior[1] / (1 - share)
        )
        return value, np.r_[slope, by_share * share * (1 - expit(x[-1]))]

    first = settings.usual_share if start is None else 1 - start.confusion[0, 0]
    point = np.r_[_first_point(opinions, start, settings), logit(first / largest)]
    found = _least(cost, point, 200)
    share = largest * expit(found[-1])
    return _model(found[:-1], opinions, uniform_confusion(share, n_classes))


def with_noise_by_class(
    opinions: Opinions,
    uniform: NoiseModel,
    start: NoiseModel | None = None,
    settings: NoiseSettings = SETTINGS,
) -> NoiseModel:
    """The model with any confusion; it begins at the uniform one, or where it is told."""
    share = max(1 - float(uniform.confusion[0, 0]), settings.usual_share)
    usual = uniform_confusion(share, opinions.n_classes)
    point = uniform.point if start is None else start.point
    confusion = usual if start is None else start.confusion
    for _ in range(settings.max_iter):
        before, confusion = (
            confusion,
            next_confusion(
                _model(point, opinions, confusion), opinions, settings.class_labels * usual
            ),
        )

        def cost(x: Floats, T: Floats = confusion) -> tuple[float, Floats]:
            return _cost(x, opinions, T, settings)

        point = _least(cost, point, settings.inner_iter)
        if np.abs(confusion - before).max() <= settings.tol:
            break
    return _model(point, opinions, confusion)


def next_confusion(model: NoiseModel, opinions: Opinions, pseudo: Floats) -> Floats:
    """Expected counts of (true, given) pairs, with pseudo-labels, as shares."""
    expected = model.posterior(opinions) * opinions.weight[:, None]
    by_given = pseudo.T.copy()
    np.add.at(by_given, opinions.y, expected)
    return np.asarray(by_given.T / by_given.T.sum(axis=1, keepdims=True))


def _first_point(
    opinions: Opinions, start: NoiseModel | None, settings: NoiseSettings
) -> Floats:
    if start is not None:
        return start.point
    usual = np.log(settings.usual_sharpness)
    return np.concatenate([[usual], np.zeros(opinions.n_classes)])


def _model(point: Floats, opinions: Opinions, confusion: Floats) -> NoiseModel:
    made = NoiseModel(float(np.exp(point[0])), point[1:], confusion, 0.0)
    given = made.given_probability(opinions.log_probability)
    seen = given[np.arange(len(opinions.y)), opinions.y]
    likelihood = float(opinions.weight @ np.log(np.maximum(seen, np.finfo(float).tiny)))
    return NoiseModel(made.sharpness, made.offset, confusion, likelihood)


def _cost(
    point: Floats, opinions: Opinions, confusion: Floats, settings: NoiseSettings
) -> tuple[float, Floats]:
    """Minus the log of likelihood times priors, and its slope in (log t, b)."""
    S, y, weight = opinions
    sharpness, offset = np.exp(point[0]), point[1:]
    p = softmax(sharpness * S + offset, axis=1)
    joint = p * confusion[:, y].T
    seen = np.maximum(joint.sum(axis=1), np.finfo(np.float64).tiny)
    # The slope in the scores t s + b: what is believed less what the label makes of it.
    slope = weight[:, None] * (p - joint / seen[:, None])
    away = point[0] - np.log(settings.usual_sharpness)
    value = -(weight @ np.log(seen)) + 0.5 * (
        settings.sharpness_weight * away**2 + settings.offset_weight * offset @ offset
    )
    by_sharpness = sharpness * np.vdot(slope, S) + settings.sharpness_weight * away
    by_offset = slope.sum(axis=0) + settings.offset_weight * offset
    return float(value), np.r_[by_sharpness, by_offset]


def _slope_of_share(point: Floats, opinions: Opinions, share: float) -> float:
    """Slope of minus the log-likelihood in the share of wrong labels."""
    S, y, weight = opinions
    p = softmax(np.exp(point[0]) * S + point[1:], axis=1)
    right = p[np.arange(len(y)), y]
    others = (1 - right) / (opinions.n_classes - 1)
    seen = (1 - share) * right + share * others
    return float(weight @ ((right - others) / np.maximum(seen, np.finfo(float).tiny)))


def _least(
    cost: Callable[[Floats], tuple[float, Floats]], point: Floats, max_iter: int
) -> Floats:
    """The least point; the log of the sharpness, which comes first, has bounds."""
    bounds = [LOG_SHARPNESS] + [(-LARGEST, LARGEST)] * (len(point) - 1)
    # The method's own systems are tiny, and threads would only wait for each other.
    with single_threaded_blas():
        found = minimize(
            cost,
            point,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": max_iter},
        )
    return np.asarray(found.x)
