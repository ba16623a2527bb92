"""
A recipe for labels that nobody trusts
======================================

Wine with a fifth of its labels wrong at random, and nothing known of which. One
cross-validation on the labels as they are: the radius of the classifier that believes
all labels by log-loss; then the radius and label cost whose accuracy is best, if they
are two points ahead of that classifier.
"""

# %%
# The recipe is a function for ``refit`` of scikit-learn's search.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import scale

from wdrsvm import RobustLogisticRegression, radius_max
from wdrsvm.datasets import flip_labels


def recipe(results):
    """Position of the best pair of radius and label cost in the results of a search."""
    accuracy = results["mean_test_accuracy"]
    believing = np.isinf(results["param_label_cost"].astype(float))
    plain = np.argmax(np.where(believing, results["mean_test_neg_log_loss"], -np.inf))
    doubting = np.argmax(np.where(believing, 0.0, accuracy))
    return doubting if accuracy[doubting] > accuracy[plain] + 0.02 else plain


# %%
# The costs of the search are in units of the loss of equal scores.


def search_for(X, y):
    """The search, not yet fitted."""
    largest = radius_max(X, y, label_cost=np.inf, norm="linf", loss="logistic")
    grid = {
        "label_cost": np.log(len(np.unique(y))) * np.array([np.inf, 1.0, 0.75]),
        "radius": largest * np.array([0.004, 0.02, 0.08, 0.22]),
    }
    return GridSearchCV(
        RobustLogisticRegression(norm="linf", label_noise="random", tol=1e-2),
        grid,
        scoring=["accuracy", "neg_log_loss"],
        cv=StratifiedKFold(3, shuffle=True, random_state=0),
        refit=recipe,
    )


# %%
# Which labels did the chosen model disbelieve, and how good is it?

X, truth = load_wine(return_X_y=True)
X, labels = scale(X), flip_labels(truth, 0.2, random_state=1)
model = search_for(X, labels).fit(X, labels).best_estimator_
wrong, disbelieved = (
    np.flatnonzero(labels != truth),
    np.flatnonzero(model.label_belief_ < 1),
)
print(f"radius {model.radius:.3f}, label cost {model.label_cost:.2f}")
print(
    f"{len(wrong)} labels are wrong; {len(disbelieved)} are disbelieved, "
    f"{len(np.intersect1d(disbelieved, wrong))} of them rightly"
)
print(f"{model.score(X, truth):.1%} of the true labels")

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
