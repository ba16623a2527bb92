"""
Which radius, which label cost?
===============================

The radius is a promise: *whatever happens within this distance of my data, the expected
loss stays below the certificate*. This example shows three ways to a radius, and where
each of them ends on the curve of the promise.
"""

# %%
# The label cost comes first, from what is known of the labels. Suppose that two in a
# hundred may be wrong, and that a change of label should be as dear as moving a flower by
# two standard deviations: then ``radius / label_cost = 0.02`` is a radius of 0.04.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

from wdrsvm import RobustLinearSVCCV, bootstrap_radius, radius_max, robust_path

X, y = load_iris(return_X_y=True)
X = StandardScaler().fit_transform(X)
LABEL_COST = 2.0
ways = {"two wrong labels in a hundred": 0.02 * LABEL_COST}

# %%
# The bootstrap takes the smallest radius whose certificate covers the risk on rows that
# were not trained on, in nine samples of ten. Cross-validation looks for accuracy, and
# with the rule of one standard error for the largest radius that costs none to speak of.

ways["bootstrap: holds on rows left out"] = bootstrap_radius(X, y).radius
search = RobustLinearSVCCV(label_costs=(LABEL_COST,), one_standard_error=True).fit(X, y)
ways["cross-validation, one standard error"] = search.radius_
ways["radius_max: nothing left to learn"] = radius_max(X, y, label_cost=LABEL_COST)
for way, radius in ways.items():
    print(f"{radius:6.3f}  {way}")

# %%
# All of them on the curve of certified risks. Here the first three nearly agree, which is
# luck: they answer different questions. It rises to that of a classifier that
# ignores the features, which it reaches at ``radius_max``.

radii = np.geomspace(1e-3, 1.2 * ways["radius_max: nothing left to learn"], 30)
path = robust_path(X, y, radii, [LABEL_COST])
_, ax = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
ax.semilogx(path.radii, path.objective[:, 0], color="0.4", label="certified risk")
for k, (way, radius) in enumerate(ways.items()):
    at = np.interp(radius, np.sort(radii), np.sort(path.objective[:, 0]))
    hollow = {"markerfacecolor": "none", "markersize": 18 - 4 * k, "markeredgewidth": 2}
    ax.plot(radius, at, "os^D"[k], color=f"C{k}", label=way, **hollow)
ax.set(xlabel="radius", ylabel="certified worst-case risk")
ax.legend(frameon=False)
plt.show()
