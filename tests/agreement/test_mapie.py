"""Sets at radius 0 beside those of MAPIE, where it is installed."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import scale

from wdrsvm import RobustConformalClassifier, WassersteinBall

mapie = pytest.importorskip("mapie.classification")


def test_sets_at_radius_zero_are_as_small_as_those_of_mapie():
    """Averages over splits: gaps of scores beside probabilities, at the same coverage."""
    ours, theirs = [], []
    for seed in range(5):
        X, y = load_wine(return_X_y=True)
        X, X_new, y, y_new = train_test_split(scale(X), y, train_size=50, random_state=seed)
        model = LogisticRegression(C=0.01).fit(X, y)
        X, X_new, y, _ = train_test_split(X_new, y_new, test_size=0.5, random_state=seed)
        plain = RobustConformalClassifier(model, 0.95, WassersteinBall(0.0), cv="prefit")
        ours.append(plain.fit(X, y).predict_set(X_new).sum(axis=1).mean())
        peer = mapie.SplitConformalClassifier(model, confidence_level=0.95, prefit=True)
        sets = peer.conformalize(X, y).predict_set(X_new)[1][:, :, 0]
        theirs.append(sets.sum(axis=1).mean())
    # MAPIE may leave sets empty, ours hold the prediction.
    assert np.mean(ours) <= np.mean(theirs) + 0.1
