"""
Has the data drifted beyond the promise?
========================================

A certificate holds within a radius. Whether new data are within it can be measured:
:func:`wdrsvm.observed_radius` is the distance of new rows from the training rows, in the
cost of the ball itself.
"""

# %%
# Two sensors in their own units, three states of a machine. With ``feature_cost="std"``
# movement is measured in standard deviations of the training rows, and no scaler is
# needed. The adversary's budget is 0.4 of them, and changing a label costs 2.

import matplotlib.pyplot as plt
import numpy as np

from wdrsvm import RobustLinearSVC, observed_radius

BUDGET, N_ROWS = 0.4, 600
CENTRES = np.array([[40.0, 1010.0], [70.0, 1020.0], [55.0, 1045.0]])
rng = np.random.default_rng(1)


def batch(drift=0.0):
    """Rows whose temperature reads too high by so many degrees."""
    y = rng.integers(0, 3, N_ROWS)
    noise = 4 * rng.normal(size=(N_ROWS, 2))
    return CENTRES[y] + noise + np.array([drift, 0.0]), y


X, y = batch()
model = RobustLinearSVC(BUDGET, label_cost=2.0, feature_cost="std").fit(X, y)
print("standard deviations:", (1 / model.feature_cost_).round(1))
curve = model.error_curve(X, y)
print(curve.sentence())

# %%
# The temperature sensor holds for five batches, and then reads a degree and a half more
# with each batch. ``feature_cost_`` hands the model's own units on.

drifts = 1.5 * np.maximum(np.arange(16) - 4, 0)
units = {"label_cost": 2.0, "feature_cost": model.feature_cost_}
observed, errors = [], []
for drift in drifts:
    X_new, y_new = batch(drift)
    observed.append(observed_radius(X, X_new, y, y_new, **units))
    errors.append(1 - model.score(X_new, y_new))
print(observed[4].sentence())
print(observed[-1].sentence())

# %%
# Samples of one source are apart too: below the noise floor nothing can be seen. Above
# it, the radius says how far the rows are, and the drift how much of that must be the
# source's. While the radius is below the budget, the error of the batch is below the
# certified one, for sure. Beyond the budget nothing is promised any more, although the
# error may stay low: the worst case is worse than this drift.

number = np.arange(len(drifts))
_, (above, below) = plt.subplots(
    2, 1, figsize=(7.5, 5.6), layout="constrained", sharex=True
)
above.plot(number, [each.radius for each in observed], "o-", label="radius")
above.plot(number, [each.drift for each in observed], "s--", label="drift, at least")
above.plot(number, [each.noise_floor for each in observed], ":", label="noise floor")
above.axhline(BUDGET, color="C3", label="budget of the certificate")
above.set(ylabel="standard deviations")
below.plot(number, errors, "o-", label="error of the batch")
below.axhline(curve.at(BUDGET), color="C3", label="certified within the budget")
below.set(xlabel="batch", ylabel="share of wrong predictions")
kept = np.flatnonzero([each.radius <= BUDGET for each in observed]).max()
for ax in (above, below):
    ax.axvspan(-0.5, kept + 0.5, color="0.5", alpha=0.15, label="promise holds")
    ax.set_xlim(-0.5, len(drifts) - 0.5)
    ax.legend(frameon=False, loc="center left" if ax is below else "upper left")
plt.show()
