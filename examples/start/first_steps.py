"""
First steps
===========

A robust classifier is used like any other of scikit-learn's. What is new is what it
says about itself: the largest expected loss that an adversary can cause by moving
features and changing labels of the training data, within a budget.
"""

# %%
# Two measurements of irises, standardised, so that the radius is in standard deviations.

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from wdrsvm import RobustLinearSVC, WassersteinBall, worst_case_risk
from wdrsvm.plotting import WorstCaseDisplay

iris = load_iris(as_frame=True)
X = iris.data[["sepal width (cm)", "petal length (cm)"]]
y = iris.target_names[iris.target]
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

robust = make_pipeline(StandardScaler(), RobustLinearSVC(radius=0.05, label_cost=2.0))
robust.fit(X_train, y_train)
print(f"accuracy on test rows:   {robust.score(X_test, y_test):.3f}")
print(f"certified worst case:    {robust[-1].objective_:.6f}")
print(f"least possible at least: {robust[-1].dual_bound_:.6f}")

# %%
# The last two lines are the guarantee and its proof: no distribution within the budget
# has a larger expected loss than the first, and no classifier can promise less than the
# second.
#
# The worst case of *any* linear classifier can be computed, scikit-learn's included.

ball = WassersteinBall(radius=0.05, label_cost=2.0)
plain = make_pipeline(StandardScaler(), LinearSVC()).fit(X_train, y_train)
for name, model in {"robust": robust, "LinearSVC": plain}.items():
    risk = worst_case_risk(model, X_train, y_train, ball)
    print(f"{name:10s} worst case {risk:.3f}, accuracy {model.score(X_test, y_test):.3f}")

# %%
# What would the adversary do? A hollow marker is a label that it changes, an arrow a point
# that it moves. Against LinearSVC changing labels far from the boundary pays most, against
# the robust classifier moving a point does.

_, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained", sharey=True)
for ax, (name, model) in zip(axes, {"robust": robust, "LinearSVC": plain}.items()):
    WorstCaseDisplay.from_estimator(model, X_train, y_train, ball, ax=ax)
    ax.set_title(name)
plt.show()
