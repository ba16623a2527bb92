"""Rows that tests of several estimators share."""

import numpy as np
from sklearn.datasets import load_iris, load_wine, make_classification
from sklearn.preprocessing import scale

IRIS, SPECIES = load_iris(return_X_y=True)
IRIS = scale(IRIS)
WINE, CULTIVAR = load_wine(return_X_y=True)
WINE = scale(WINE)
# At 20 nothing beats a constant classifier, at the others something does.
RADII_WITH_A_CONSTANT = [20.0, 0.5, 0.01]
RADII, COSTS = [0.2, 0.05, 0.01], (0.5, np.inf)


def rows(n_rows=80, seed=0):
    X, y = make_classification(
        n_rows, 4, n_informative=3, n_redundant=0, n_classes=3, n_clusters_per_class=1,
        flip_y=0.1, random_state=seed,
    )  # fmt: skip
    return scale(X), y
