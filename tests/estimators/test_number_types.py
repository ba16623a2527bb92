"""Numbers of every type and layout: the same model, and no copy of large data."""

import numpy as np
import pytest
from scipy import sparse

from wdrsvm import RobustLinearSVC
from wdrsvm.rows import blocks, canonical

NARROW = [np.float32, np.int8, np.uint8, np.int64]
SOLVERS = ["interior-point", "newton", "first-order", "subgradient", "stochastic"]


def rows(n_rows=700):
    """Whole numbers, so that every type holds them."""
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % 3
    X = 40 + 20 * np.eye(3, 5)[y] + 15 * rng.normal(size=(n_rows, 5))
    return np.clip(np.rint(X), 0, 127), y


@pytest.fixture
def large(monkeypatch):
    """Makes all data count as large, of several blocks."""
    monkeypatch.setattr(canonical, "MAX_ENTRIES", 0)
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 1000)


def fitted(X, y, solver="auto"):
    return RobustLinearSVC(1.0, 20.0, solver=solver, tol=1e-2).fit(X, y)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, *NARROW])
def test_large_data_are_read_where_they_are(dtype, order, large, tmp_path):
    X, y = rows()
    np.save(tmp_path / "X.npy", np.asarray(X, dtype=dtype, order=order))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    kept = RobustLinearSVC()._training_data(mapped, y, None, None).rows.X
    assert np.shares_memory(kept, mapped)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_number_types_change_nothing(solver, large):
    X, y = rows()
    expected = fitted(X, y, solver)
    for each in (X.astype(dtype) for dtype in NARROW):
        found = fitted(each, y, solver)
        np.testing.assert_array_equal(found.coef_, expected.coef_)
        assert found.objective_ == expected.objective_
        np.testing.assert_allclose(
            found.decision_function(each), found.decision_function(X)
        )


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_layout_changes_no_more_than_the_gap_allows(solver, large):
    X, y = rows()
    expected = fitted(X, y, solver)
    found = fitted(np.asfortranarray(X, dtype=np.float32), y, solver)
    assert found.dual_bound_ <= expected.objective_
    assert expected.dual_bound_ <= found.objective_


@pytest.mark.parametrize("order", ["C", "F"])
def test_small_data_have_one_form(order):
    X, y = rows(200)
    expected = fitted(X, y)
    found = fitted(np.asarray(X, dtype=np.float32, order=order), y)
    np.testing.assert_array_equal(found.coef_, expected.coef_)


@pytest.mark.parametrize("dtype", [np.float32, np.int8])
def test_sparse_data_of_narrow_numbers(dtype):
    X, y = rows(200)
    expected = fitted(sparse.csr_array(X), y)
    found = fitted(sparse.csr_array(X.astype(dtype)), y)
    np.testing.assert_array_equal(found.coef_, expected.coef_)


def test_scores_are_those_of_all_rows_at_once(large):
    X, y = rows()
    model = fitted(X, y)
    expected = X @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(X.astype(np.float32)), expected)
    np.testing.assert_allclose(model.decision_function(sparse.csr_array(X)), expected)
