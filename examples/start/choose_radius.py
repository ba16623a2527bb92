"""
Radius and label cost by cross-validation
=========================================

:class:`wdrsvm.RobustLinearSVCCV` tries every pair of a radius and a label cost in every
fold, along one path a fold, which is much cheaper than a fit for each pair.
"""

# %%
# ``one_standard_error=True`` takes the largest radius whose score is within one standard
# error of the best: nearly the same accuracy, a stronger promise.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from wdrsvm import RobustLinearSVCCV, robust_path
from wdrsvm.plotting import PathDisplay, SearchDisplay

LABEL_COSTS = [0.5, 2.0, np.inf]
X, y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
search = RobustLinearSVCCV(15, LABEL_COSTS, one_standard_error=True).fit(X, y)
print(
    f"radius {search.radius_:.3g}, label cost {search.label_cost_:g}: cross-validated "
    f"accuracy {search.best_score_:.3f}, certified risk {search.objective_:.3f}"
)

# %%
# The scores with bands of one standard error, and what else happens along the path: the
# certified risks, one class's coefficients, the labels that an adversary would change.

path = robust_path(X, y, search.radii_, LABEL_COSTS)
_, axes = plt.subplots(2, 2, figsize=(11, 8), layout="constrained")
SearchDisplay.from_search(search, ax=axes[0, 0])
display = PathDisplay(path)
display.plot_objective(ax=axes[0, 1])
display.plot_coefficients(0, cost_index=1, ax=axes[1, 0])
display.plot_flipped_labels(X, y, ax=axes[1, 1])
plt.show()

# %%
# The same scores as a plane. The star is the choice.

SearchDisplay.from_search(search, kind="heatmap")
plt.show()
