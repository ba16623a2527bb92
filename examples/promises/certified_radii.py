"""
Certified radii
===============

How far must a row move before its prediction changes? For linear classifiers
:func:`wdrsvm.certified_radius` is the exact answer, in any of the three norms.
"""

# %%
# The curves show for each radius which share of the test rows is predicted rightly *and*
# keeps its prediction wherever it is moved within that radius.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

from wdrsvm import RobustLinearSVC
from wdrsvm.plotting import CertifiedRadiusDisplay

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, random_state=0)
models = {
    "RobustLinearSVC, radius 0.1": RobustLinearSVC(0.1, np.inf, tol=1e-3),
    "RobustLinearSVC, radius 0.01": RobustLinearSVC(0.01, np.inf, tol=1e-3),
    "LogisticRegression": LogisticRegression(max_iter=1000),
    "LinearSVC": LinearSVC(),
}
_, axes = plt.subplots(1, 2, figsize=(12, 4.4), layout="constrained", sharey=True)
for name, model in models.items():
    model.fit(X_train, y_train)
    for ax, norm in zip(axes, ("l2", "linf")):
        CertifiedRadiusDisplay.from_estimator(
            model, X_test, y_test, norm=norm, name=name, ax=ax
        )
        ax.set_title(f"{norm} norm, in units of full ink")
plt.show()

# %%
# All begin at about the same accuracy; a larger radius of training makes predictions harder
# to overturn. LogisticRegression's default penalty does as much here, without saying how
# much: what the robust fit adds is the certificate. Pictures of digits are fragile in the
# linf norm: a tenth of full ink on every pixel overturns a half of them.
#
# The least and the most certain test row of the robust model:

robust = models["RobustLinearSVC, radius 0.1"]
radii = robust.certified_radius(X_test)
_, axes = plt.subplots(1, 2, figsize=(5, 2.8), layout="constrained")
for ax, row in zip(axes, (np.argmin(radii), np.argmax(radii))):
    ax.imshow(X_test[row].reshape(8, 8), cmap="gray_r")
    ax.set_title(f"a {y_test[row]}, certified to {radii[row]:.3f}", fontsize="medium")
    ax.set_axis_off()
plt.show()
