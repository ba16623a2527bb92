"""
Labels wrong at random, disbelieved
===================================

With ``label_noise="random"`` a fit may disbelieve a label at the price ``label_cost``.
It says which ones it did not believe, and what they should rather have been.
"""

# %%
# A quarter of the labels of three clusters is wrong.

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from wdrsvm import RobustLogisticRegression
from wdrsvm.datasets import flip_labels
from wdrsvm.plotting import WorstCaseDisplay

CENTRES = [(-2.0, -1.0), (2.0, -1.2), (0.0, 2.0)]
X, truth = make_blobs(90, centers=CENTRES, cluster_std=1.0, random_state=0)
labels = flip_labels(truth, 0.25)
wrong = labels != truth

believing = RobustLogisticRegression(0.05).fit(X, labels)
doubting = RobustLogisticRegression(0.05, 0.9, label_noise="random").fit(X, labels)
disbelieved = doubting.label_belief_ < 1
print(
    f"{wrong.sum()} of {len(labels)} labels are wrong; {disbelieved.sum()} are "
    f"disbelieved, {(disbelieved & wrong).sum()} of them rightly."
)
for name, model in {"believing": believing, "doubting": doubting}.items():
    print(f"{name}: {model.score(X, truth):.1%} of the true labels")

# %%
# Points have the colours of their given labels; a ring marks what was not believed.

_, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained", sharey=True)
titles = {"believes all labels": believing, "rings: disbelieved": doubting}
for ax, (title, model) in zip(axes, titles.items()):
    WorstCaseDisplay.from_estimator(model, X, labels, worst_case=False, ax=ax)
    ax.set_title(title)
axes[1].scatter(*X[disbelieved].T, s=90, facecolors="none", edgecolors="black")
plt.show()
