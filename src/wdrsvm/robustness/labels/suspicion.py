"""How likely each label is wrong, how many labels to check, and how many are wrong at all.

The probability that a label is wrong is the mean of two: that of a model in which all
labels are wrong with the same probability, and that of a model in which this depends on the
class.  The first one is better if labels are wrong at random, and the second one if a class
is often taken for another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student

from ...arrays import Codes, Floats
from .noise_model import NoiseModel, Opinions, with_noise_by_class, with_uniform_noise


@dataclass(frozen=True)
class SuspicionSettings:
    """Numbers of the estimates about wrong labels.

    Attributes
    ----------
    n_groups : int
        Groups of rows that are left out in turn, for the interval.
    confidence : float
        Confidence of the interval.
    """

    n_groups: int = 10
    confidence: float = 0.9


SETTINGS = SuspicionSettings()


class NoiseModels(NamedTuple):
    """The two models whose probabilities are averaged."""

    uniform: NoiseModel
    by_class: NoiseModel

    def posterior(self, opinions: Opinions) -> Floats:
        """Probabilities of the true label (N, C)."""
        one, other = (model.posterior(opinions) for model in self)
        return (one + other) / 2

    def wrong_share(self, opinions: Opinions) -> float:
        """Estimated share of wrong labels."""
        right = self.posterior(opinions)[np.arange(len(opinions.y)), opinions.y]
        return float(opinions.weight @ (1 - right) / opinions.weight.sum())


def noise_models(opinions: Opinions, start: NoiseModels | None = None) -> NoiseModels:
    """Both models, fitted to the given labels."""
    first, second = (None, None) if start is None else start
    uniform = with_uniform_noise(opinions, first)
    return NoiseModels(uniform, with_noise_by_class(opinions, uniform, second))


def n_to_check(wrong: Floats) -> int:
    """The number of labels at the top of a list with the largest expected F1.

    ``wrong`` are the probabilities that the labels are wrong, in the order of the list.
    The expected F1 of the first k labels is 2 (sum of the first k) / (k + sum of all).  No
    label is worth a check if less than half a label is wrong by expectation.
    """
    total = wrong.sum()
    if total < 0.5:
        return 0
    found = 2 * np.cumsum(wrong) / (np.arange(1, len(wrong) + 1) + total)
    return int(found.argmax()) + 1


def share_interval(
    opinions: Opinions,
    models: NoiseModels,
    random_state: int,
    settings: SuspicionSettings = SETTINGS,
) -> tuple[float, float]:
    """A confidence interval of the share of wrong labels, by a jackknife over groups."""
    n_groups = min(settings.n_groups, len(opinions.y))
    group = _groups(opinions.y, n_groups, random_state)
    shares = []
    for g in range(n_groups):
        kept = opinions.take(np.flatnonzero(group != g))
        shares.append(noise_models(kept, models).wrong_share(kept))
    spread = np.sqrt((n_groups - 1) * np.var(shares))
    centre = models.wrong_share(opinions)
    width = spread * student.ppf((1 + settings.confidence) / 2, n_groups - 1)
    return max(0.0, float(centre - width)), min(1.0, float(centre + width))


def _groups(y: Codes, n_groups: int, random_state: int) -> Codes:
    """Groups of nearly equal size, with all classes spread over them."""
    shuffled = np.random.default_rng(random_state).permutation(len(y))
    order = shuffled[np.argsort(y[shuffled], kind="stable")]
    group = np.empty(len(y), dtype=np.intp)
    group[order] = np.arange(len(y)) % n_groups
    return group
