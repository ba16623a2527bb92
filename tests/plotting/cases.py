"""Rows and grids that displays are drawn of."""

import numpy as np
from sklearn.datasets import load_iris
from sklearn.preprocessing import scale

X, y = load_iris(return_X_y=True)
X = scale(X)
RADII, COSTS = [0.2, 0.01, 0.05], [0.5, np.inf]
