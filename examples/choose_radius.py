"""Choose radius and label cost on Wine, and look at the whole path on the way.

The search tries every pair of a radius and a label cost in every fold, along one path a
fold.  The picture has the scores with bands of one standard error, the certified risks, one
class's coefficients and the labels an adversary would change.
"""

import sys

import matplotlib
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from wdrsvm import RobustLinearSVCCV, robust_path
from wdrsvm.plotting import PathDisplay, SearchDisplay

LABEL_COSTS = [0.5, 2.0, np.inf]


def main(n_radii=15, file=None):
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    search = RobustLinearSVCCV(n_radii, LABEL_COSTS, one_standard_error=True).fit(X, y)
    print(
        f"radius {search.radius_:.3g}, label cost {search.label_cost_:g}: cross-validated "
        f"accuracy {search.best_score_:.3f}, certified risk {search.objective_:.3f}"
    )
    path = robust_path(X, y, search.radii_, LABEL_COSTS)
    if file is not None:
        draw(search, path, X, y, file)
    return search, path


def draw(search, path, X, y, file):
    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 2, figsize=(11, 8), layout="constrained")
    SearchDisplay.from_search(search, ax=axes[0, 0])
    display = PathDisplay(path)
    display.plot_objective(ax=axes[0, 1])
    display.plot_coefficients(0, cost_index=1, ax=axes[1, 0])
    display.plot_flipped_labels(X, y, ax=axes[1, 1])
    figure.savefig(file, dpi=110)


if __name__ == "__main__":
    main(file=sys.argv[1] if len(sys.argv) > 1 else "choose_radius.png")
