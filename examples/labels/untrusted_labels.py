"""
Labels that nobody trusts: two lines
====================================

A fifth of Wine's labels is wrong at random, and nothing is known of which.  The search
tries fits that believe all labels, and fits that disbelieve more and more of them.  Doubt
is chosen only if the labels of rows left out speak for it.
"""

# %%
# The answer is the second line.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import scale

from wdrsvm import RobustLogisticRegressionCV
from wdrsvm.datasets import flip_labels

X, truth = load_wine(return_X_y=True)
X, labels = scale(X), flip_labels(truth, 0.2, random_state=1)
model = RobustLogisticRegressionCV(label_noise="random").fit(X, labels)

# %%
# How good is it, beside a tuned logistic regression that believes all labels?

logistic = GridSearchCV(LogisticRegression(), {"C": np.logspace(-3, 2, 10)})
logistic.fit(X, labels)
for name, each in {"doubting": model, "logistic regression": logistic}.items():
    print(f"{name}: {np.mean(each.predict(X) == truth):.1%} of the true labels")

# %%
# Which labels should somebody look at?  The list is ranked.  Its column ``check`` marks
# those that are more probably wrong than right.

suspects = model.suspects()
print(suspects.to_frame().head(8))
wrong = np.flatnonzero(labels != truth)
disbelieved = np.flatnonzero(model.label_belief_ < 0.5)
found = np.intersect1d(suspects.row[: suspects.n_suspects], wrong)
print(
    f"{len(wrong)} labels are wrong; {suspects.n_suspects} are to be checked, "
    f"{len(found)} of them rightly"
)

# %%
# Two directions of the features, from above: crosses are labels that are wrong, rings those
# that were not believed.

plane = PCA(2).fit_transform(X)
_, ax = plt.subplots(figsize=(6, 4.4), layout="constrained")
for code, (colour, marker) in enumerate(zip(("#0072B2", "#D55E00", "#009E73"), "os^")):
    ax.scatter(*plane[labels == code].T, s=18, color=colour, marker=marker, label=code)
ax.scatter(*plane[wrong].T, s=60, color="black", marker="x", label="wrong")
ring = {"s": 130, "facecolors": "none", "edgecolors": "black"}
ax.scatter(*plane[disbelieved].T, **ring, label="disbelieved")
ax.set(xlabel="first component", ylabel="second component")
ax.legend(title="given label", fontsize="small")
plt.show()
