"""
Rare classes
============

Weights decide whose losses count. With ``class_weight="balanced"`` every class has the
same weight in the nominal distribution, however few its rows are; the promise is then
one about balanced risks.
"""

# %%
# A class has 5 of 200 rows. Test rows are balanced, and tell how many of each class are
# found. As the data are, errors in the rare class hardly count, and three in ten of its
# rows are missed; with equal weights one in ten, for some rows of the other classes.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import balanced_accuracy_score, recall_score
from sklearn.preprocessing import StandardScaler

from wdrsvm import RobustLinearSVC
from wdrsvm.datasets import make_simulation

X_train, y_train, X_test, y_test = make_simulation(
    shares=(0.45, 0.30, 0.225, 0.025), random_state=4
)
scaler = StandardScaler().fit(X_train)
X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)
print("rows of each class:", np.bincount(y_train))

recalls = {}
for name, weight in {"as it is": None, "balanced": "balanced"}.items():
    model = RobustLinearSVC(0.1, np.inf, class_weight=weight).fit(X_train, y_train)
    predicted = model.predict(X_test)
    recalls[name] = recall_score(y_test, predicted, average=None)
    print(
        f"{name:9s} balanced accuracy {balanced_accuracy_score(y_test, predicted):.3f}, "
        f"certified risk {model.objective_:.3f}"
    )

# %%
# The two certified risks are not comparable: they are about different distributions.

_, ax = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
places = np.arange(4)
for shift, (name, recall) in zip((-0.2, 0.2), recalls.items()):
    hatch = "" if name == "as it is" else "///"
    ax.bar(places + shift, recall, 0.38, label=name, hatch=hatch, edgecolor="white")
ax.set_xticks(places, [f"class {k}\n{n} rows" for k, n in enumerate(np.bincount(y_train))])
ax.set(ylabel="recall on test rows", ylim=(0, 1.18))
ax.legend(title="class weight", ncols=2, frameon=False)
plt.show()
