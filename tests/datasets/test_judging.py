"""Tables on which studies judge, with the counts that are known of them."""

import os

import numpy as np
import pytest

from wdrsvm.datasets import load
from wdrsvm.datasets.judging import LOADERS, SOURCES

SHAPES = {
    "abalone": (4177, 9),
    "contraceptive": (1473, 9),
    "movement_libras": (360, 90),
    "shuttle": (58000, 9),
    "mnist_5k": (5000, 784),
    "fashion_mnist": (15000, 784),
    "acsf1": (200, 1460),
    "osuleaf": (442, 427),
    "banking77": (10003, 384),
    "clinc150": (15000, 384),
}


def test_every_source_has_a_loader():
    assert set(LOADERS) == set(SOURCES) == set(SHAPES)


@pytest.mark.data
@pytest.mark.skipif(not os.environ.get("WDRSVM_DATA"), reason="WDRSVM_DATA names no folder")
@pytest.mark.parametrize("name", SHAPES)
def test_sizes_and_classes(name):
    found = load(name)
    assert found.data.shape == SHAPES[name]
    assert np.isfinite(found.data).all()
    counts = np.bincount(found.target)
    assert counts.min() > 0
    assert len(counts) == len(found.target_names)
    if "data_test" in found:
        assert found.data_test.shape[1] == found.data.shape[1]
        assert set(found.target_test) == set(found.target)


def test_a_file_that_is_not_there_is_named_with_its_origin(monkeypatch, tmp_path):
    monkeypatch.setenv("WDRSVM_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"shuttle\.npz.*table 148 of the UCI"):
        load("shuttle")
