"""
Curved boundaries: an RBF kernel
================================

:class:`wdrsvm.RobustSVC` is the robust machine on the features of a kernel. The ball
lies in that feature space; certified radii are told in the space of the inputs.
"""

# %%
# Three classes that no straight line separates, and kernel machines of three radii.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles
from sklearn.model_selection import train_test_split

from wdrsvm import RobustSVC
from wdrsvm.plotting import CertifiedRadiusDisplay, WorstCaseDisplay

rng = np.random.default_rng(0)
ring, y = make_circles(200, factor=0.5, noise=0.12, random_state=0)
X = np.vstack([ring, rng.normal((1.3, 1.3), 0.25, (80, 2))])
y = np.array(["outer", "inner", "corner"])[np.append(y, np.full(80, 2))]
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

models = {r: RobustSVC(r, 1.0, gamma=1.0).fit(X_train, y_train) for r in (0.001, 0.02, 0.1)}
_, axes = plt.subplots(1, 3, figsize=(14, 4.4), layout="constrained", sharey=True)
for ax, (radius, model) in zip(axes, models.items()):
    WorstCaseDisplay.from_estimator(model, X_train, y_train, ax=ax)
    accuracy = model.score(X_test, y_test)
    ax.set_title(f"radius {radius}: accuracy {accuracy:.2f}", fontsize="medium")
plt.show()

# %%
# The larger the radius, the smoother the boundary. Certified radii are lower bounds here:
# the distance of inputs that their features need to reach another prediction.

_, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
for radius, model in models.items():
    CertifiedRadiusDisplay.from_estimator(
        model, X_test, y_test, name=f"radius {radius}", ax=ax
    )
plt.show()

# %%
# For thousands of rows, ``n_components`` draws landmarks; what they leave out is
# reported.

fewer = RobustSVC(0.02, 1.0, gamma=1.0, n_components=40).fit(X_train, y_train)
print(f"40 landmarks leave out {fewer.dropped_trace_:.1e} of the kernel's trace")
print(f"accuracy {fewer.score(X_test, y_test):.3f}")
