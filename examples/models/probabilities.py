"""
Probabilities that do not exaggerate
====================================

:class:`wdrsvm.RobustLogisticRegression` has the same ball around the log-loss, and
hence probabilities. Where there are few rows for the number of features, those of an
ordinary logistic regression are too sure of themselves.
"""

# %%
# A hundred rows of 40 features, six of which tell something. Both models at their best
# radius or penalty by cross-validated log-loss, and the ordinary one as it comes.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibrationDisplay
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import scale

from wdrsvm import RobustLogisticRegression

X, y = make_classification(
    3000, 40, n_informative=6, n_redundant=0, class_sep=0.8, random_state=1
)
X_train, X_test, y_train, y_test = train_test_split(
    scale(X), y, train_size=100, random_state=0
)
how = {"scoring": "neg_log_loss", "cv": 5}
radii = {"radius": np.geomspace(0.003, 0.3, 8)}
penalties = {"C": np.geomspace(1e-3, 10, 8)}
models = {
    "robust, radius chosen": GridSearchCV(RobustLogisticRegression(tol=1e-4), radii, **how),
    "ordinary, penalty chosen": GridSearchCV(LogisticRegression(), penalties, **how),
    "ordinary, default": LogisticRegression(),
}

# %%
# A calibrated model lies on the diagonal: of rows with probability 0.8, eight in ten
# belong to the class.

_, ax = plt.subplots(figsize=(6, 5), layout="constrained")
for (name, model), marker in zip(models.items(), "os^"):
    model.fit(X_train, y_train)
    loss = log_loss(y_test, model.predict_proba(X_test))
    accuracy = accuracy_score(y_test, model.predict(X_test))
    print(f"{name:25s} log-loss {loss:.3f}, accuracy {accuracy:.3f}")
    CalibrationDisplay.from_estimator(
        model, X_test, y_test, n_bins=8, name=name, ax=ax, marker=marker
    )
plt.show()

# %%
# Choosing a radius or a penalty is what matters; the two are then much alike. What only
# the robust model adds is the certificate: the largest expected log-loss within its
# radius.

best = models["robust, radius chosen"].best_estimator_
print(f"radius {best.radius:.3f}: certified log-loss {best.objective_:.3f}")
