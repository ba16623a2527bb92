"""Chunks of a dask collection against the same rows in memory."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from wdrsvm.inputs.dask_collections import (
    Census,
    Encoding,
    LazyRows,
    RawChunk,
    _blocks_of,
    _checked_chunk,
    _encoded,
    _known_lengths,
    _row_blocks,
    aligned_blocks,
    checked_block,
    is_lazy,
    known_rows,
)
from wdrsvm.inputs.dask_collections import (
    observed_rows as observed_rows_of,
)
from wdrsvm.rows.dask_engine import LocalEngine

da = pytest.importorskip("dask.array")

# The second chunk is empty, the third has no weight.
SIZES = (3, 0, 2, 4)
X = np.arange(18.0).reshape(9, 2)
Y = np.array(["b", "a", "b", "c", "c", "a", "c", "b", "a"])
CODES = np.array([1, 0, 1, 2, 2, 0, 2, 1, 0])
WEIGHT = np.array([1.0, 0.0, 2.0, 0.0, 0.0, 0.5, 4.0, 1.0, 3.0])
TRUST = np.array([1.0, 2.0, np.inf, 1.0, 1.0, 0.0, 3.0, 0.5, 1.0])
CLASSES = np.array(["a", "b", "c"])


def observed_rows(X, y, weight, trust, class_weight):
    return observed_rows_of(LazyRows.of(checked_block, X, y, weight, trust), class_weight)


def lazy(values, sizes=SIZES):
    return da.from_array(values, chunks=(sizes, *values.shape[1:]))


def of_unknown_sizes(values):
    there = lazy(values)
    sizes = ((np.nan,) * len(SIZES), *there.chunks[1:])
    return da.Array(there.dask, there.name, sizes, dtype=there.dtype)


def computed(blocks):
    return LocalEngine().gather(blocks)


def assert_rows(found, kept, factors=(1.0, 1.0, 1.0), with_trust=True):
    """The chunks hold these rows of the table, normalised, and know how many they are."""
    chunks = computed(list(found.chunks))
    weight = (WEIGHT * np.array(factors)[CODES])[kept]
    sizes = [len(chunk.y) for chunk in chunks]
    assert found.sizes == tuple(sizes)
    assert all(type(size) is int and size > 0 for size in found.sizes)
    assert (found.n_rows, found.n_features) == (len(kept), 2)
    np.testing.assert_array_equal(np.vstack([chunk.X for chunk in chunks]), X[kept])
    codes = np.concatenate([chunk.y for chunk in chunks])
    np.testing.assert_array_equal(codes, CODES[kept])
    assert codes.dtype == np.intp
    np.testing.assert_allclose(
        np.concatenate([chunk.weight for chunk in chunks]), weight / weight.sum()
    )
    if with_trust:
        trust = np.concatenate([chunk.label_trust for chunk in chunks])
        np.testing.assert_array_equal(trust, TRUST[kept])
    else:
        assert all(chunk.label_trust is None for chunk in chunks)


@pytest.mark.parametrize("columns_are_lazy", [True, False])
@pytest.mark.parametrize(
    ("class_weight", "factors"),
    [
        (None, (1.0, 1.0, 1.0)),
        ("balanced", (1 / 3.5, 1 / 4.0, 1 / 4.0)),
        ({"a": 0.5, "b": 2.0, "c": 0.0}, (0.5, 2.0, 0.0)),
    ],
)
def test_chunks_hold_the_rows_with_weight(class_weight, factors, columns_are_lazy):
    given = [lazy(c) if columns_are_lazy else c for c in (Y, WEIGHT, TRUST)]
    found, classes = observed_rows(lazy(X), *given, class_weight)
    np.testing.assert_array_equal(classes, CLASSES)
    kept = np.flatnonzero(WEIGHT * np.array(factors)[CODES])
    assert_rows(found, kept, factors)


def test_without_weights_all_rows_count_alike():
    found, _ = observed_rows(lazy(X), lazy(Y), None, None, None)
    assert found.sizes == (3, 2, 4)
    for chunk in computed(list(found.chunks)):
        np.testing.assert_allclose(chunk.weight, 1 / 9)
        assert chunk.label_trust is None


def test_known_classes_need_not_all_be_there():
    kept = np.flatnonzero(WEIGHT)
    found = known_rows(checked_block, lazy(X), lazy(Y), lazy(WEIGHT), lazy(TRUST), CLASSES)
    assert_rows(found, kept)
    more = np.array(["a", "b", "c", "d"])
    found = known_rows(checked_block, lazy(X), lazy(Y), lazy(WEIGHT), None, more)
    assert_rows(found, kept, with_trust=False)
    with pytest.raises(ValueError, match="sample_weight must not be zero in every row"):
        known_rows(checked_block, lazy(X), lazy(Y), lazy(0 * WEIGHT), None, CLASSES)


def test_rows_are_checked_by_what_is_asked_for():
    found = known_rows(lambda X: X[:, :1] + 1.0, lazy(X), Y, WEIGHT, None, CLASSES)
    assert found.n_features == 1
    first = computed(list(found.chunks))[0]
    np.testing.assert_array_equal(first.X, X[[0, 2], :1] + 1.0)


def test_what_chunks_tell():
    rows = LazyRows.of(checked_block, lazy(X), lazy(Y), lazy(WEIGHT), lazy(TRUST))
    assert rows.with_trust
    assert [told.n_rows for told in rows.census] == list(SIZES)
    assert [told.n_features for told in rows.census] == [2] * 4
    np.testing.assert_array_equal(rows.labels, CLASSES)
    carried, mass = rows.by_class(CLASSES)
    np.testing.assert_array_equal(carried, [[0, 2, 0], [0, 0, 0], [0, 0, 0], [2, 1, 1]])
    np.testing.assert_array_equal(mass, [[0, 3, 0], [0, 0, 0], [0, 0, 0], [3.5, 1, 4]])
    assert carried.dtype == np.intp
    assert not LazyRows.of(checked_block, lazy(X), lazy(Y), None, None).with_trust


def test_a_census_counts_labels_with_and_without_weight():
    told = Census.of(RawChunk(X[:3], Y[:3], np.array([0.0, 2.0, 1.0]), None))
    assert (told.n_features, told.n_rows) == (2, 3)
    assert told.labels.tolist() == ["a", "b"]
    assert told.carried.tolist() == [1, 1]
    assert told.mass.tolist() == [2.0, 1.0]
    assert told.mass.dtype == np.float64
    last = Census.of(RawChunk(X[:3], Y[:3], np.array([1.0, 0.0, 0.0]), None))
    assert last.carried.tolist() == [0, 1]
    nothing = Census.of(RawChunk(X[:0], Y[:0], WEIGHT[:0], None))
    assert nothing.mass.dtype == np.float64
    assert nothing.mass.shape == nothing.carried.shape == (0,)


def test_an_encoding_names_the_rows_with_weight():
    chunk = RawChunk(X[:4], Y[:4], np.array([1.0, 3.0, 0.0, 2.0]), TRUST[:4])
    labelled = Encoding(CLASSES, np.array([0.0, 0.5, 1.0]))(chunk)
    assert labelled.rows.tolist() == [0, 3]
    assert labelled.y.tolist() == [1, 2]
    assert labelled.weight.tolist() == [0.5, 2.0]
    assert labelled.label_trust.tolist() == [1.0, 1.0]
    encoded = _encoded(chunk, labelled)
    np.testing.assert_array_equal(encoded.X, X[[0, 3]])
    assert encoded.y is labelled.y
    whole = Encoding(CLASSES, np.ones(3))(chunk._replace(weight=np.ones(4)))
    assert _encoded(chunk, whole).X is chunk.X


def test_columns_are_cut_as_the_rows_are():
    engine = LocalEngine()
    for rows in (lazy(X), of_unknown_sizes(X)):
        blocks = aligned_blocks(engine, rows, Y, None, TRUST)
        assert blocks[2] == [None] * 4
        for block, column in ((blocks[0], X), (blocks[1], Y), (blocks[3], TRUST)):
            parts = computed(block)
            assert [len(part) for part in parts] == list(SIZES)
            np.testing.assert_array_equal(np.concatenate(parts), column)


def test_no_column_is_left_out_in_silence():
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        aligned_blocks(LocalEngine(), lazy(X), Y, WEIGHT)


def test_lazy_columns_take_the_chunks_of_the_rows():
    blocks = aligned_blocks(LocalEngine(), lazy(X), lazy(Y, (5, 4)), lazy(WEIGHT), None)
    assert [len(part) for part in computed(blocks[1])] == list(SIZES)
    unknown = aligned_blocks(LocalEngine(), of_unknown_sizes(X), lazy(Y), None, None)
    assert [len(part) for part in computed(unknown[1])] == list(SIZES)


class Counting(LocalEngine):
    """Counts how often something is computed."""

    def __init__(self):
        self.n_gathered = 0

    def gather(self, values):
        self.n_gathered += 1
        return super().gather(values)


@pytest.mark.parametrize(
    ("rows", "column", "times"),
    [
        (lazy(X), Y, 0),
        (of_unknown_sizes(X), lazy(Y), 0),
        (of_unknown_sizes(X), None, 0),
        (of_unknown_sizes(X), Y, 1),
    ],
)
def test_lengths_are_computed_only_where_they_are_needed(rows, column, times):
    engine = Counting()
    aligned_blocks(engine, rows, column, None, None)
    assert engine.n_gathered == times


def test_blocks_of_columns_are_joined():
    split = da.from_array(X, chunks=((4, 5), (1, 1)))
    blocks = computed(_row_blocks(split))
    np.testing.assert_array_equal(np.vstack(blocks), X)
    assert [block.shape for block in blocks] == [(4, 2), (5, 2)]
    assert len(_row_blocks(lazy(Y))) == 4


def test_known_lengths_are_integers():
    lengths = _known_lengths(lazy(X))
    assert lengths == list(SIZES)
    assert all(type(length) is int for length in lengths)
    assert _known_lengths(of_unknown_sizes(X)) is None
    assert _known_lengths(object()) is None


def test_columns_of_another_length_or_cut_are_refused():
    lengths = list(SIZES)
    for column in (Y[:-1], lazy(Y[:-1], (3, 5))):
        with pytest.raises(ValueError, match="y must have 9 rows, as X has, got 8"):
            _blocks_of("y", column, 4, lengths)
    with pytest.raises(ValueError, match="it has 2, X has 4"):
        _blocks_of("y", lazy(Y, (5, 4)), 4, None)
    names = ("y", "sample_weight", "label_trust")
    for place, name in enumerate(names):
        columns = [Y, WEIGHT, TRUST]
        columns[place] = columns[place][:-1]
        with pytest.raises(ValueError, match=f"^{name} must have 9 rows"):
            aligned_blocks(LocalEngine(), lazy(X), *columns)


def test_a_chunk_is_checked_as_rows_in_memory_are():
    found = _checked_chunk(checked_block, X[:2], Y[:2], None, None)
    assert found.weight.tolist() == [1.0, 1.0]
    assert found.label_trust is None
    found = _checked_chunk(checked_block, X[:2], [0.0, 1.0], [2, 3], [1, np.inf])
    assert found.weight.tolist() == [2.0, 3.0]
    assert found.label_trust.tolist() == [1.0, np.inf]
    with pytest.warns(DataConversionWarning):
        column = _checked_chunk(checked_block, X[:2], Y[:2, None], None, None)
    assert column.y.shape == (2,)


@pytest.mark.parametrize(
    ("y", "weight", "trust", "message"),
    [
        (Y[:3], None, None, "y must have 2 rows, as X has, got 3"),
        (np.array([0.0, np.nan]), None, None, "y must have a label in every row"),
        (Y[:2], [1.0, -1.0], None, "sample_weight must be >= 0"),
        (Y[:2], [1.0], None, "sample_weight must have shape"),
        (Y[:2], None, [1.0, -1.0], "label_trust must be >= 0"),
    ],
)
def test_a_bad_chunk_is_refused(y, weight, trust, message):
    with pytest.raises(ValueError, match=message):
        _checked_chunk(checked_block, X[:2], y, weight, trust)


def test_a_block_is_read_as_it_is():
    for dtype in (np.float32, np.int8, np.uint64):
        assert checked_block(X.astype(dtype)).dtype == dtype
    assert checked_block(X > 3).dtype == np.float64
    assert checked_block(X[:0]).shape == (0, 2)
    thin = checked_block(sparse.coo_matrix(X))
    assert isinstance(thin, sparse.csr_array)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        checked_block(np.where(X > 3, X, np.nan))


@pytest.mark.parametrize(
    ("y", "weight", "class_weight", "message"),
    [
        (np.full(9, "a"), None, None, "y must have at least 2 classes"),
        (np.arange(9) + 0.5, None, None, "Unknown label type"),
        (Y, 0 * WEIGHT, None, "sample_weight must not be zero in every row"),
        (Y, (CODES == 1).astype(float), None, "leave weight on 1 class"),
        (Y, None, {"a": 1.0, "b": 0.0, "c": 0.0}, "leave weight on 1 class"),
    ],
)
def test_bad_tables_are_refused(y, weight, class_weight, message):
    with pytest.raises(ValueError, match=message):
        observed_rows(lazy(X), y, weight, None, class_weight)


def test_one_chunk_is_enough():
    found, _ = observed_rows(lazy(X, (9,)), Y, WEIGHT, TRUST, None)
    assert_rows(found, np.flatnonzero(WEIGHT))


def test_two_classes_are_enough():
    found, classes = observed_rows(lazy(X), lazy(Y == "a"), None, None, None)
    assert classes.tolist() == [False, True]
    assert (found.n_rows, found.n_features) == (9, 2)


def test_lazy_is_what_dask_calls_its_own():
    assert is_lazy(lazy(X))
    assert not is_lazy(X)


@pytest.mark.filterwarnings("error")
def test_many_classes_are_no_regression():
    """scikit-learn takes more than 20 values that occur once for a regression."""
    y = np.repeat(np.arange(30), 2)
    sizes = (20, 40)
    table = lazy(np.ones((60, 2)), sizes)
    _, classes = observed_rows(table, lazy(y, sizes), None, None, None)
    np.testing.assert_array_equal(classes, np.arange(30))


def test_deviations_are_those_of_rows_in_memory_that_have_weight():
    found = LazyRows.of(checked_block, lazy(X), lazy(Y), lazy(WEIGHT), None).deviations()
    mean = np.average(X, axis=0, weights=WEIGHT)
    expected = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=WEIGHT))
    np.testing.assert_allclose(found, expected)
