"""Find wrong labels, fix or confirm them, and train on what is now known.

Every tenth label of Wine is wrong.  Each round the audit names the most suspicious labels
that nobody has looked at; a person (here: the true labels) fixes or confirms them; and
``label_trust=inf`` tells the next audit and the next fit that these are verified.
"""

import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from wdrsvm import RobustLinearSVC, audit_labels

LABELS_A_ROUND = 10


def with_wrong_labels(truth, share, rng):
    """Labels of which a share has been changed at random."""
    labels = truth.copy()
    wrong = rng.choice(len(truth), round(share * len(truth)), replace=False)
    n_classes = truth.max() + 1
    labels[wrong] = (truth[wrong] + rng.integers(1, n_classes, len(wrong))) % n_classes
    return labels


def main(n_rounds=3, share=0.1, seed=0):
    X, truth = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    labels = with_wrong_labels(truth, share, np.random.default_rng(seed))
    trust = np.ones(len(labels))
    history = []
    for done in range(n_rounds + 1):
        model = RobustLinearSVC(label_cost=2.0).fit(X, labels, label_trust=trust)
        history.append((np.sum(labels != truth), model.objective_))
        print(
            f"{np.isinf(trust).sum():3d} labels verified, {history[-1][0]:2d} wrong, "
            f"worst-case risk {model.objective_:.3f}"
        )
        if done < n_rounds:
            audit = audit_labels(X, labels, label_trust=trust)
            looked_at = audit.row[:LABELS_A_ROUND]
            labels[looked_at] = truth[looked_at]
            trust[looked_at] = np.inf
    return history


if __name__ == "__main__":
    main()
