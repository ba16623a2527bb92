"""Equal nominal distributions become equal arrays."""

import numpy as np
import pytest
from scipy import sparse

from wdrsvm.problem import canonical_rows
from wdrsvm.rows import canonical

rng = np.random.default_rng(0)
X = np.round(rng.normal(size=(20, 3)), 1)
y = rng.integers(0, 3, 20)
TRUST = rng.choice([0.5, 1.0, np.inf], 20)


def assert_same(one, other):
    dense = [part.toarray() if sparse.issparse(part) else part for part in (one.X, other.X)]
    np.testing.assert_array_equal(*dense)
    np.testing.assert_array_equal(one.y, other.y)
    np.testing.assert_array_equal(one.weight, other.weight)
    np.testing.assert_array_equal(one.label_trust, other.label_trust)


def arrays_of(rows):
    return rows.X, rows.y, rows.weight, rows.label_trust


def as_measure(X, y, weight, trust):
    """Mass of each distinct (x, y, trust)."""
    mass = {}
    for row, label, w, t in zip(X, y, weight / weight.sum(), trust, strict=True):
        key = (*(row + 0.0), label, t)
        mass[key] = mass.get(key, 0.0) + w
    return {key: w for key, w in mass.items() if w > 0}


def test_the_distribution_is_kept():
    weight = rng.exponential(size=20)
    doubled = np.tile(X, (2, 1)), np.tile(y, 2), np.tile(weight, 2), np.tile(TRUST, 2)
    found = canonical_rows(*doubled)
    expected, actual = as_measure(*doubled), as_measure(*arrays_of(found))
    np.testing.assert_array_equal(doubled[0][found.source], found.X)
    assert actual.keys() == expected.keys()
    assert all(actual[key] == pytest.approx(expected[key]) for key in actual)


def test_weights_are_repeated_rows():
    times = rng.integers(0, 4, 20)
    weighted = canonical_rows(X, y, times.astype(float), TRUST)
    repeated = canonical_rows(
        X.repeat(times, 0), y.repeat(times), np.ones(times.sum()), TRUST.repeat(times)
    )
    assert_same(weighted, repeated)


def test_row_order_leaves_no_trace():
    order = rng.permutation(20)
    weight = rng.integers(1, 5, 20).astype(float)
    assert_same(
        canonical_rows(X, y, weight, TRUST),
        canonical_rows(X[order], y[order], weight[order], TRUST[order]),
    )


def test_row_order_leaves_no_trace_in_the_last_bit():
    weight = np.array([0.1, 0.2, 0.3, 0.4])
    rows, labels = np.zeros((4, 1)), np.array([0, 0, 0, 1])
    assert_same(
        canonical_rows(rows, labels, weight),
        canonical_rows(rows, labels, weight[[2, 1, 0, 3]]),
    )


def test_the_scale_of_the_weights_leaves_no_trace():
    weight = rng.integers(1, 5, 20).astype(float)
    assert_same(canonical_rows(X, y, weight), canonical_rows(X, y, 4 * weight))


def test_zero_weights_are_dropped():
    weight = np.where(np.arange(20) % 3, 1.0, 0.0)
    kept = weight > 0
    assert_same(
        canonical_rows(X, y, weight, TRUST),
        canonical_rows(X[kept], y[kept], weight[kept], TRUST[kept]),
    )


def test_negative_zero_is_zero():
    rows = np.array([[0.0, 1.0], [-0.0, 1.0], [0.0, 0.5]])
    found = canonical_rows(rows, np.zeros(3, int), np.ones(3))
    np.testing.assert_array_equal(found.X, [[0.0, 0.5], [0.0, 1.0]])
    np.testing.assert_allclose(found.weight, [1 / 3, 2 / 3])


def test_labels_and_trust_keep_equal_features_apart():
    rows = np.zeros((4, 2))
    found = canonical_rows(rows, np.array([0, 0, 1, 1]), np.ones(4))
    assert len(found.y) == 2
    found = canonical_rows(
        rows, np.zeros(4, int), np.ones(4), np.array([1.0, np.inf, 1.0, 0.0])
    )
    np.testing.assert_array_equal(found.label_trust, [0.0, 1.0, np.inf])
    np.testing.assert_array_equal(found.weight, [0.25, 0.5, 0.25])


def test_no_trust_stays_no_trust():
    assert canonical_rows(X, y, np.ones(20)).label_trust is None


def test_weights_sum_to_one():
    weight = rng.exponential(size=20) * 1e6
    assert canonical_rows(X, y, weight).weight.sum() == pytest.approx(1.0, rel=1e-14)


def test_sparse_rows_stay_sparse_and_equal_dense_ones():
    weight = rng.integers(0, 3, 20).astype(float)
    found = canonical_rows(sparse.csr_array(X), y, weight, TRUST)
    assert sparse.issparse(found.X)
    assert found.X.format == "csr"
    assert_same(found, canonical_rows(X, y, weight, TRUST))


def test_no_features_leave_one_row_a_label():
    found = canonical_rows(np.empty((20, 0)), y, np.ones(20))
    np.testing.assert_array_equal(found.y, np.unique(y))


def test_rows_too_many_to_sort_are_only_normalised(monkeypatch):
    monkeypatch.setattr(canonical, "MAX_ENTRIES", 59)
    found = canonical_rows(X, y, np.full(20, 2.0), TRUST)
    assert found.X is X
    np.testing.assert_array_equal(found.y, y)
    np.testing.assert_allclose(found.weight, 1 / 20)
    monkeypatch.setattr(canonical, "MAX_ENTRIES", 60)
    assert canonical_rows(X, y, np.full(20, 2.0), TRUST).X is not X


@pytest.mark.parametrize("limit", [0, canonical.MAX_ENTRIES], ids=["as it is", "merged"])
def test_every_row_knows_what_became_of_it(limit, monkeypatch):
    monkeypatch.setattr(canonical, "MAX_ENTRIES", limit)
    weight = rng.integers(0, 3, 40).astype(float)
    data = np.tile(X, (2, 1)), np.tile(y, 2), weight, np.tile(TRUST, 2)
    found = canonical_rows(*data)
    np.testing.assert_array_equal(found.became == -1, weight == 0)
    carried = weight > 0
    for whole, merged in ((data[0], found.X), (data[1], found.y)):
        np.testing.assert_array_equal(whole[carried], merged[found.became[carried]])
    total = np.bincount(found.became[carried], weight[carried])
    np.testing.assert_allclose(total / total.sum(), found.weight)


def test_rows_that_are_nowhere_become_nothing():
    found = canonical.places(np.array([3, 0]), np.array([7, 8]), 5)
    assert found.tolist() == [8, -1, -1, 7, -1]
    assert found.dtype == np.intp


def test_distinct_rows_begin_where_something_differs():
    rows = np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 2.0], [1.0, 2.0], [1.0, 2.0]])
    found = canonical._differs_from_previous(rows)
    assert found.tolist() == [True, False, True, True, False]
    assert found.dtype == bool
    assert canonical._differs_from_previous(rows[:0]).tolist() == []


def test_rows_are_sorted_by_label_trust_and_features():
    X = np.array([[2.0, 0.0, 5.0], [1.0, 9.0, 0.0], [1.0, 9.0, -1.0], [2.0, 0.0, 5.0]])
    y = np.array([1, 0, 0, 0])
    found = canonical_rows(X, y, np.array([1.0, 2.0, 3.0, 4.0]))
    # The first two features do not tell the second row from the third.
    assert found.source.tolist() == [2, 1, 3, 0]
    assert found.became.tolist() == [3, 1, 0, 2]
    assert found.weight.tolist() == [0.3, 0.2, 0.4, 0.1]
    trust = np.array([1.0, 5.0, 5.0, 2.0])
    found = canonical_rows(X[:, :2], y, np.ones(4), trust)
    assert found.label_trust.tolist() == [2.0, 5.0, 1.0]
    assert found.y.tolist() == [0, 0, 1]
    assert found.weight.tolist() == [0.25, 0.5, 0.25]
    assert canonical.LEADING == 2


def test_rows_become_floats_side_by_side_where_they_are_sorted():
    X = np.asfortranarray(np.arange(12, dtype=np.int32).reshape(4, 3))
    found = canonical_rows(X, np.zeros(4, int), np.ones(4))
    assert found.X.dtype == np.float64
    assert found.X.flags.c_contiguous
    np.testing.assert_array_equal(found.X, X)


def test_rows_too_many_to_sort_lose_only_those_without_weight(monkeypatch):
    monkeypatch.setattr(canonical, "MAX_ENTRIES", 1)
    weight = np.array([0.0, 3.0, 0.0, 1.0])
    trust = np.array([1.0, 2.0, 3.0, 4.0])
    for given, kept in ((trust, [2.0, 4.0]), (None, None)):
        found = canonical_rows(X[:4].astype(np.float32), y[:4], weight, given)
        assert found.X.dtype == np.float32
        np.testing.assert_array_equal(found.X, X[[1, 3]].astype(np.float32))
        assert found.weight.tolist() == [0.75, 0.25]
        assert found.y.tolist() == y[[1, 3]].tolist()
        assert kept == (None if given is None else found.label_trust.tolist())
        assert (found.source.tolist(), found.became.tolist()) == ([1, 3], [-1, 0, -1, 1])
    # Rows without features count as rows of one.
    monkeypatch.setattr(canonical, "MAX_ENTRIES", 3)
    nothing = np.empty((4, 0))
    assert canonical_rows(nothing, y[:4], np.ones(4)).X is nothing
