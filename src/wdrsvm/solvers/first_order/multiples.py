r"""The best multiple of a classifier, for hinge losses.

A point of the method has rows that lack a little of their margin.  Multiplying it by s > 1
costs radius L(M) more and gives them the rest.  A row of loss l > 0 has at s the loss

    max(0, 1 - s (1 - l)),

and one without loss has none.  So the losses at s = 1 tell those at any s >= 1, and

    s radius L(M) + sum_n w_n max(0, 1 - s (1 - l_n))

is piecewise linear and convex in s: its minimum is at a kink.  Flips of labels are left
out; the risk of the multiple, which counts, has them.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Floats


def best_multiple(loss: Floats, weight: Floats, cost: float) -> tuple[float, float]:
    """The best s >= 1, and what the sum above gains by it.

    ``cost`` is radius L(M).
    """
    short = (loss > 0) & (loss < 1)
    lead, mass = 1 - loss[short], weight[short]
    order = np.argsort(-lead)
    lead, mass = lead[order], mass[order]
    # Rows with a large lead have lost their loss first.
    beyond = loss >= 1
    slope = cost - float(mass @ lead) + float(weight[beyond] @ (loss[beyond] - 1))
    slopes = slope + np.cumsum(mass * lead)
    n_settled = int(np.searchsorted(slopes, 0.0))
    if slope >= 0 or n_settled == len(lead):
        return 1.0, 0.0
    best = 1 / lead[n_settled]
    kinks = np.append(1.0, 1 / lead[: n_settled + 1])
    falls = np.append(slope, slopes[:n_settled]) * np.diff(kinks)
    return float(best), -float(falls.sum())
