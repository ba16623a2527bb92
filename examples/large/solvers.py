"""
How solvers converge
====================

``solver="auto"`` picks by size. Every solver ends with the same certificate; the curves
show how far each one's objective is above what is proven possible, as it goes.
"""

# %%
# A problem of the size at which an interior point and Newton's method are about equally
# fast. Each solver runs once before, to compile.

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.preprocessing import scale

from wdrsvm import RobustLinearSVC
from wdrsvm.plotting import ConvergenceDisplay

X, y = make_classification(
    1500, 10, n_informative=8, n_classes=4, n_clusters_per_class=1, random_state=0
)
X = scale(X)
_, axes = plt.subplots(1, 2, figsize=(11.5, 4.2), layout="constrained", sharey=True)
for solver in ("interior-point", "newton", "first-order"):
    model = RobustLinearSVC(0.02, 1.0, solver=solver, tol=1e-4).fit(X, y)
    for ax, against in zip(axes, ("iterations", "seconds")):
        ConvergenceDisplay.from_estimator(model, X, y, against=against, ax=ax)
plt.show()

# %%
# Iterations are not comparable: one of the interior point solves a linear system, one of
# Newton's is a step of several passes over the rows, one of the first-order method a
# single pass. On dense data with many more rows than features the first-order method is
# far behind; it is there for sparse and very wide data.
#
# Objective and lower bound close in on the optimum from both sides.

model = RobustLinearSVC(0.02, 1.0, solver="first-order", tol=1e-3)
ConvergenceDisplay.from_estimator(model, X, y, metric="objective")
plt.show()
