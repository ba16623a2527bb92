"""
Coming from cleanlab
====================

cleanlab takes labels and out-of-fold probabilities, and returns a mask of label issues.
:func:`wdrsvm.audit_labels` takes and returns the same, with a cut-off that says how many
labels are worth a check.
"""

# %%
# A fifth of Wine's labels is wrong. Any model can give the probabilities.

import numpy as np
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from wdrsvm import audit_labels
from wdrsvm.datasets import flip_labels

X, truth = load_wine(return_X_y=True)
labels = flip_labels(truth, 0.2, random_state=3)
wrong = labels != truth
model = make_pipeline(StandardScaler(), LogisticRegression())
pred_probs = cross_val_predict(model, X, labels, method="predict_proba")

# %%
# The mask and the quality scores have cleanlab's form: one entry per row of the data.


def f1(mask):
    """Harmonic mean of precision and recall."""
    return 2 * (mask & wrong).sum() / (mask.sum() + wrong.sum())


audit = audit_labels(None, labels, pred_probs=pred_probs)
print(audit.sentence())
print(f"F1 of the mask: {f1(audit.issue_mask()):.2f}")
print("worst labels:", np.argsort(audit.label_quality)[:5])

# %%
# The same with cleanlab, if it is installed.

try:
    from cleanlab.filter import find_label_issues
except ImportError:
    print("cleanlab is not installed")
else:
    mask = find_label_issues(labels, pred_probs, n_jobs=1)
    print(f"F1 of cleanlab's mask: {f1(mask):.2f}")

# %%
# Without probabilities, the audit fits models of its own.

own = audit_labels(X, labels)
print(f"F1 with models of its own: {f1(own.issue_mask()):.2f}")
