"""How likely each label is wrong, by the classifier of a search that has not seen it.

The opinions are those of the mean classifier, or of the chosen point, in the folds.  The
models of the noise are those of :func:`wdrsvm.audit_labels`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....arrays import Codes, Floats
from ....robustness.labels.noise_model import Opinions
from ....robustness.labels.out_of_fold import LEAST_PROBABILITY
from ....robustness.labels.suspicion import noise_models
from .opinions import Told


class JudgedLabels(NamedTuple):
    """About all rows: the probability that the label is wrong, the likeliest other label,
    and its log-odds over the given one.

    Rows that are in no fold, and verified labels, have the probability 0 and the log-odds
    -inf.
    """

    wrong: Floats
    other: Codes
    log_odds: Floats


def judged_labels(
    told: Told, codes: Codes, points: Floats, trust: Floats | None
) -> JudgedLabels:
    """Judge the labels by the sum of all points' scores, with weights ``points``."""
    is_open = told.visits > 0
    if trust is not None:
        is_open &= np.isfinite(trust)
    weight = np.where(is_open, told.weight, 0.0)
    # If no label is open there is nothing to estimate, and any weight will do.
    weight = weight if weight.any() else np.ones_like(weight)
    likelihood = np.maximum(told.log_probability(points), np.log(LEAST_PROBABILITY))
    opinions = Opinions(likelihood, codes, weight / weight.mean())
    true = noise_models(opinions).posterior(opinions)
    n, others = np.arange(len(codes)), true.copy()
    others[n, codes] = -1.0
    with np.errstate(divide="ignore"):
        log_odds = np.log(others.max(axis=1)) - np.log(true[n, codes])
    return JudgedLabels(
        wrong=np.where(is_open, 1 - true[n, codes], 0.0),
        other=others.argmax(axis=1),
        log_odds=np.where(is_open, log_odds, -np.inf),
    )
