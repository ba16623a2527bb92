"""Rows are read in blocks, once each; only sums come from chunks elsewhere."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from wdrsvm import WassersteinBall
from wdrsvm.robustness.promises.errors import row_costs as module
from wdrsvm.robustness.promises.errors.row_costs import lazy_error, row_costs
from wdrsvm.robustness.promises.errors.wrong_costs import WrongCosts
from wdrsvm.rows.dask_engine import LocalEngine
from wdrsvm.rows.threads import at_most

X, y = load_iris(return_X_y=True)
BALL = WassersteinBall(0.1, 0.7)


def test_rows_without_weight_are_left_out():
    model = LogisticRegression(max_iter=1000).fit(X, y)
    weight = np.arange(150.0) % 3
    costs, classes = row_costs(model, X, y, BALL, weight)
    every = WrongCosts(model.coef_, model.intercept_, BALL)(X, y, None)
    np.testing.assert_allclose(costs.cost, every[weight > 0])
    np.testing.assert_array_equal(costs.code, y[weight > 0])
    np.testing.assert_array_equal(classes, model.classes_)


def test_a_pipeline_sees_blocks_of_an_array(monkeypatch):
    seen = []
    step = FunctionTransformer(lambda rows: seen.append(len(rows)) or rows)
    model = make_pipeline(step, LogisticRegression(max_iter=1000)).fit(X, y)
    seen.clear()
    monkeypatch.setattr("wdrsvm.rows.blocks.BLOCK_ENTRIES", 100)
    row_costs(model, X, y, BALL)
    assert sum(seen) == 150
    assert max(seen) <= 25


def test_only_sums_come_from_chunks(monkeypatch):
    da = pytest.importorskip("dask.array")
    model = LogisticRegression(max_iter=1000).fit(X, y)
    sizes = []
    gather = LocalEngine.gather

    def watched(self, values):
        found = gather(self, values)
        sizes.extend(np.size(part) for each in found for part in each)
        return found

    read = []
    chunk_costs = module._chunk_costs

    def counted(costs, chunk):
        read.append(len(chunk.y))
        return chunk_costs(costs, chunk)

    monkeypatch.setattr(module, "_chunk_costs", counted)
    many = np.tile(X, (40, 1))
    rows = da.from_array(many, chunks=(3000, 4))
    monkeypatch.setattr(LocalEngine, "gather", watched)
    found = lazy_error(model, rows, np.tile(y, 40), BALL, None, None)
    assert max(sizes) <= 1026
    assert sorted(read) == [3000, 3000]
    assert found == pytest.approx(lazy_error(model, da.from_array(X), y, BALL, None, None))


def test_threads_change_nothing(monkeypatch):
    monkeypatch.setattr("wdrsvm.rows.threads.MIN_ROWS", 1)
    monkeypatch.setattr("wdrsvm.rows.blocks.BLOCK_ENTRIES", 40)
    monkeypatch.setattr("wdrsvm.rows.threads.n_processors", lambda: 2)
    classifier, ball = (
        LogisticRegression(max_iter=1000).fit(X, y),
        WassersteinBall(0.1, 1.0),
    )
    trust, found = np.linspace(0.5, 2, len(y)), []
    for n_threads in (1, 2):
        with at_most(n_threads):
            found.append(row_costs(classifier, X, y, ball, None, trust)[0].cost)
    np.testing.assert_array_equal(*found)


def test_features_of_every_block_are_checked(monkeypatch):
    monkeypatch.setattr("wdrsvm.rows.blocks.BLOCK_ENTRIES", 40)
    classifier, broken = LogisticRegression(max_iter=1000).fit(X, y), X.copy()
    broken[-1, 0] = np.nan
    with pytest.raises(ValueError, match="X contains NaN"):
        row_costs(classifier, broken, y, WassersteinBall(0.1))
