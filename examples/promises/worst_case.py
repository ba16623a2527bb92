"""
The worst case, as data
=======================

Behind the worst-case risk is a distribution: rows with other labels, rows moved
elsewhere. :func:`wdrsvm.worst_case_distribution` gives it as weighted rows. If it looks
absurd, tell the ball what cannot happen.
"""

# %%
# Three clusters, and three adversaries with the same budget: one that may change labels,
# one that may only move points, and one that may only move them inside the range of the
# data.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs
from sklearn.preprocessing import scale

from wdrsvm import RobustLinearSVC
from wdrsvm.plotting import WorstCaseDisplay

X, y = make_blobs(120, centers=[(-2, -1), (2, -1.2), (0, 2)], random_state=3)
X, y = scale(X), np.array(["ash", "birch", "cedar"])[y]
box = (X.min(axis=0), X.max(axis=0))
adversaries = {
    "changes labels": RobustLinearSVC(0.08, label_cost=2.0, norm="l1"),
    "moves points": RobustLinearSVC(0.08, label_cost=np.inf, norm="l1"),
    "moves points in a box": RobustLinearSVC(0.08, np.inf, norm="l1", support=box),
}

_, axes = plt.subplots(1, 3, figsize=(14, 4.4), layout="constrained")
for ax, (name, model) in zip(axes, adversaries.items()):
    WorstCaseDisplay.from_estimator(model.fit(X, y), X, y, ax=ax)
    ax.set_title(f"{name}: risk {model.objective_:.3f}")
plt.show()

# %%
# Without a box moving pays at a constant rate however far it goes, so that one point
# spends the whole budget: the arrow goes on beyond the picture. In a box each way ends at
# a wall, and several points have to go. Here this makes the worst case more plausible, but
# no less bad.
#
# The atoms as a table: the masses that come from one row add up to what the row had, and
# the transport cost, recomputed from the definition, is the radius.

worst = adversaries["changes labels"].worst_case_distribution(X, y)
table = worst.to_frame()
print(table[table.kind != "kept"].round(4).to_string(index=False))
print(f"transport cost {worst.transport_cost:.4f}")
print(f"expected loss  {worst.risk:.4f}, worst case {worst.supremum:.4f}")
