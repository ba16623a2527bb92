"""
Some confusions are likelier than others
========================================

A label cost can be a matrix: the price of changing each label into each other one. A
cheap pair is a confusion to be prepared for, ``inf`` one that cannot happen.
"""

# %%
# Three kinds of trees, in two measurements. Whoever wrote down the labels knew oaks, but
# may have taken elms for beeches.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from wdrsvm import RobustLinearSVC
from wdrsvm.plotting import WorstCaseDisplay

NAMES = np.array(["beech", "elm", "oak"])
CENTRES = [(-1.6, 0.0), (1.6, 0.4), (0.0, 2.6)]
X, truth = make_blobs(240, centers=CENTRES, random_state=5)
y = NAMES[truth]

# %%
# In the order of the classes: an elm turned into a beech costs 0.5, oaks are never
# confused, anything else costs 4. The same budget buys very different worst cases.

by_pair = np.array([[0.0, 4.0, np.inf], [0.5, 0.0, np.inf], [np.inf, np.inf, 0.0]])
models = {
    "any confusion costs 2": RobustLinearSVC(0.05, 2.0).fit(X, y),
    "elms are taken for beeches": RobustLinearSVC(0.05, by_pair).fit(X, y),
}
_, axes = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained", sharey=True)
for ax, (title, model) in zip(axes, models.items()):
    WorstCaseDisplay.from_estimator(model, X, y, ax=ax)
    ax.set_title(f"{title}: risk {model.objective_:.3f}", fontsize="medium")
plt.show()

# %%
# Mass that the adversary relabels, by pair:

for title, model in models.items():
    worst = model.worst_case_distribution(X, y)
    flipped = worst.kind == "flipped"
    print(title)
    for given in NAMES:
        for other in NAMES[given != NAMES]:
            pair = flipped & (y[worst.source] == given) & (worst.y == other)
            print(f"  {given:6s} to {other:6s} {worst.weight[pair].sum():.3f}")
