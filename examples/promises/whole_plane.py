"""
All radii and label costs at once
=================================

:func:`wdrsvm.robust_path` has the optimal classifiers of a whole grid, each with its
own certificate, for a fraction of what fitting them one by one costs.
"""

# %%
# 25 radii and 12 label costs: 300 classifiers, and for each the proof that it is optimal.

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris
from sklearn.preprocessing import scale

from wdrsvm import robust_path
from wdrsvm.plotting import PathDisplay

iris = load_iris()
X, y = scale(iris.data), iris.target
label_costs = np.geomspace(0.1, 10, 12)
began = time.perf_counter()
path = robust_path(X, y, 25, label_costs)
seconds = time.perf_counter() - began
gap = (path.objective - path.dual_bound) / path.objective
print(f"{path.objective.size} classifiers in {seconds:.1f} s, largest gap {gap.max():.0e}")

# %%
# The plane of certified risks. It rises with the radius and falls with the label cost.
# Where it is 1 the adversary has won: a classifier that ignores the features is as good
# as any.

_, ax = plt.subplots(figsize=(6.8, 4.4), layout="constrained")
ax.set(xscale="log", yscale="log", xlabel="radius", ylabel="label cost")
mesh = ax.pcolormesh(path.radii, label_costs, path.objective.T, cmap="viridis")
lines = ax.contour(
    path.radii, label_costs, path.objective.T, [0.2, 0.5, 0.9], colors="white"
)
ax.clabel(lines)
ax.figure.colorbar(mesh, ax=ax, label="certified worst-case risk")
plt.show()

# %%
# Coefficients along one line of the plane. Unlike those of a ridge they reach zero, all
# at once at ``radius_max``.

PathDisplay(path).plot_coefficients(2, cost_index=8, feature_names=iris.feature_names)
plt.show()
