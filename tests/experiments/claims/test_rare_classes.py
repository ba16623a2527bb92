"""Rare classes: imbalanced rows with few features."""

import numpy as np
import pytest

from wdrsvm.experiments.claims import rare_classes


def test_few_features_and_rare_classes(small_tables):
    split = rare_classes.rare_split("osuleaf", 0)
    counts = np.bincount(split.y)
    assert split.X.shape[1] == 2 < len(counts)
    assert counts.min() == 5
    assert counts.max() == 30


@pytest.mark.parametrize("method", ["WDR-MSVM", "one-vs-rest, balanced", "logistic"])
def test_a_model_on_rare_classes(method, small_tables, monkeypatch):
    few = {"radius": (0.05,), "label_cost": (2.0,)}
    make, grid = rare_classes.MODELS[method.partition(",")[0]]
    grid = few if "radius" in grid else grid
    monkeypatch.setitem(rare_classes.MODELS, method.partition(",")[0], (make, grid))
    (record,) = rare_classes.run({"table": "osuleaf", "method": method, "repetition": 0})
    assert 0 <= record["worst_recall"] <= record["balanced_accuracy"] <= 1


def test_weighted_models_have_class_weights(small_tables, monkeypatch):
    given = []

    def make(class_weight):
        given.append(class_weight)
        return rare_classes.LogisticRegression(class_weight=class_weight)

    monkeypatch.setitem(rare_classes.MODELS, "logistic", (make, {"C": (1.0,)}))
    for method in ("logistic", "logistic, balanced"):
        rare_classes.run({"table": "osuleaf", "method": method, "repetition": 0})
    assert given == [None, "balanced"]
