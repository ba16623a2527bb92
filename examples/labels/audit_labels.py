"""
Find wrong labels, fix or confirm them
======================================

Every tenth label of Wine is wrong. Each round the audit names the most suspicious
labels that nobody has looked at; a person (here: the true labels) fixes or confirms
them; and ``label_trust=inf`` tells the next audit and the next fit that these are
verified.
"""

# %%
# A label is suspicious if the adversary would have to pay for the label that the other
# rows suggest, and gains by the one that is given.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from wdrsvm import RobustLinearSVC, audit_labels
from wdrsvm.datasets import flip_labels
from wdrsvm.plotting import LabelAuditDisplay

X, truth = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
labels, trust = flip_labels(truth, 0.1), np.ones(len(truth))

display = LabelAuditDisplay.from_audit(audit_labels(X, labels), n_labels=25)
for bar, row in zip(display.ax_.patches, display.audit.row):
    bar.set_hatch("" if labels[row] != truth[row] else "////")
display.ax_.set_title("hatched: the label was right")
plt.show()

# %%
# Ten labels a round. The certified risk falls with every wrong label that is fixed, and
# with every right one that the adversary can no longer change.

history = []
for n_verified in (0, 10, 20, 30):
    model = RobustLinearSVC(label_cost=2.0).fit(X, labels, label_trust=trust)
    history.append((np.sum(labels != truth), model.objective_))
    print(
        f"{n_verified:3d} labels verified, {history[-1][0]:2d} wrong, "
        f"worst-case risk {model.objective_:.3f}"
    )
    looked_at = audit_labels(X, labels, label_trust=trust).row[:10]
    labels[looked_at], trust[looked_at] = truth[looked_at], np.inf
