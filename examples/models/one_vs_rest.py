"""
One machine, or one a class?
============================

With fewer features than classes some class lies between others, and no line separates
it from the rest. One machine for all classes can compare scores; one machine a class
has to tell its class from everything else at once.
"""

# %%
# The paper's simulation: 8 classes in 4 features, a few classes rare in training, all
# equally frequent in testing. Mean over five draws, at each radius.

import matplotlib.pyplot as plt
import numpy as np

from wdrsvm import one_vs_rest_path, robust_path
from wdrsvm.datasets import IMBALANCED_SHARES, make_simulation

RADII, LABEL_COSTS, N_DRAWS = np.geomspace(1e-4, 0.05, 8), [1.0], 5


def accuracies(n_features):
    """Test accuracy (2, draws, radii) of one machine, and of one a class."""
    found = np.empty((2, N_DRAWS, len(RADII)))
    for draw in range(N_DRAWS):
        data = make_simulation(
            200, 800, n_features, 8, shares=IMBALANCED_SHARES[8], random_state=draw
        )
        for k, path_of in enumerate((robust_path, one_vs_rest_path)):
            path = path_of(data.X_train, data.y_train, RADII, LABEL_COSTS, norm="l1")
            predicted = path.predict(data.X_test)[:, 0]
            found[k, draw] = (predicted == data.y_test).mean(axis=1)
    return found


_, axes = plt.subplots(1, 2, figsize=(10.5, 4), layout="constrained", sharey=True)
for ax, n_features in zip(axes, (4, 10)):
    found = accuracies(n_features)
    names = ("one machine", "one machine a class")
    for name, mean, style in zip(names, found.mean(axis=1), ("o-", "s--")):
        ax.semilogx(RADII, mean, style, label=name)
    lead = found[0].max(axis=1) - found[1].max(axis=1)
    ax.set(xlabel="radius", title=f"8 classes, {n_features} features")
    print(f"{n_features} features: {100 * lead.mean():.1f} points ahead at the best radius")
axes[0].set_ylabel("test accuracy")
axes[0].legend(frameon=False)
plt.show()
