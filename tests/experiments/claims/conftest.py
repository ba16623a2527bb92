"""Small tables in place of those of the claims, so that no file is needed."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.utils import Bunch

from wdrsvm.experiments.claims import data, many_classes, wrong_labels


def made_up(name, *, return_X_y=False):
    """Iris in place of tables, digits in place of embeddings and of the crowd."""
    found = load_iris() if name in data.TABLES else load_digits()
    if return_X_y:
        return found.data, found.target
    rng = np.random.default_rng(0)
    is_test = rng.random(len(found.target)) < 0.5
    train = found.target[~is_test]
    unsure = rng.random(len(train)) < 0.3
    crowd = np.where(unsure, rng.integers(0, 10, len(train)), train)
    return Bunch(
        data=found.data,
        target=found.target,
        is_test=is_test,
        crowd_majority=crowd,
        crowd_random=crowd,
        data_test=found.data,
        target_test=found.target,
    )


@pytest.fixture
def small_tables(monkeypatch):
    """All tables of the claims are small ones."""
    for module in (data, many_classes, wrong_labels):
        monkeypatch.setattr(module, "load", made_up)
    data.rows_of.cache_clear()
    yield
    data.rows_of.cache_clear()
