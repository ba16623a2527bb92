"""Splits of the tables on which the claims are judged."""

import numpy as np

from wdrsvm.experiments.claims.data import random_split, rows_of, some_classes, standardised
from wdrsvm.experiments.splits import Split


def test_a_split_is_standardised_by_its_training_rows(small_tables):
    split = random_split(*rows_of("osuleaf"), 200, 0)
    assert len(split.y) == 90
    assert len(split.y_test) == 60
    np.testing.assert_allclose(split.X.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(split.X.std(axis=0), 1.0)


def test_many_features_become_a_few_components():
    X = np.random.default_rng(0).normal(size=(50, 30))
    split = standardised(Split(X, None, X[:5], None), 4)
    assert split.X.shape == (50, 4)
    np.testing.assert_allclose(split.X[:5], split.X_test)
    np.testing.assert_allclose(np.corrcoef(split.X.T), np.eye(4), atol=1e-8)


def test_rare_classes_of_tables_are_left_out(monkeypatch):
    from wdrsvm.experiments.claims import data

    X, y = np.arange(200.0)[:, None], np.repeat([0, 1, 2], [100, 97, 3])
    monkeypatch.setattr(data, "load", lambda name, return_X_y: (X, y))
    data.rows_of.cache_clear()
    assert len(rows_of("shuttle")[1]) == 197
    assert len(rows_of("banking77")[1]) == 200
    data.rows_of.cache_clear()


def test_some_classes_get_new_codes():
    X, y = np.arange(10)[:, None], np.arange(10) % 5
    kept, codes = some_classes(X, y, 2, 3)
    assert set(codes) == {0, 1}
    assert len(np.unique(kept[:, 0] % 5)) == 2
