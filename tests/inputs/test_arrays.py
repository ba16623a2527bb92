"""Checks of what a user gives, each at its boundaries."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.exceptions import DataConversionWarning

from wdrsvm import WassersteinBall, audit_labels, bootstrap_radius, radius_max
from wdrsvm.inputs.arrays import (
    READ_AS_THEY_ARE,
    _are_codes,
    are_missing,
    as_matrix,
    check_kernel_ball,
    check_scores,
    check_size,
    check_some_weight,
    check_two_classes,
    check_weighted_classes,
    checked_features,
    checked_flag,
    checked_loss,
    checked_trust,
    checked_weight,
    class_factors,
    label_codes,
    need_no_conversion,
    nominal_weight,
    nonnegative_weight,
    observed_classes,
    some_rows,
)
from wdrsvm.problem import LOSSES
from wdrsvm.problem.norms import HUGE, TINY

from ..robustness.cases import CODES, FEATURES

X = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 4.0]])
CLASSES = np.array(["a", "b", "c"])


@pytest.mark.parametrize("convert", [sparse.coo_matrix, sparse.csc_array, sparse.csr_array])
def test_sparse_features_become_arrays_of_floats(convert):
    found = checked_features(convert(X.astype(np.int32)))
    assert isinstance(found, sparse.csr_array)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found.toarray(), X)


def test_a_sparse_matrix_of_any_numbers_is_an_array_of_floats():
    found = as_matrix(sparse.csr_matrix(X.astype(np.int8)))
    assert isinstance(found, sparse.csr_array)
    assert found.dtype == np.float64
    assert as_matrix(X) is X
    given = sparse.csr_array(X)
    assert np.shares_memory(as_matrix(given).data, given.data)


def test_dense_features_become_floats():
    found = checked_features(X.astype(np.float32))
    assert isinstance(found, np.ndarray)
    assert found.dtype == np.float64
    with pytest.raises(ValueError, match="Input X contains NaN"):
        checked_features([[np.nan]])


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_features_may_be_huge_but_no_larger(sign):
    check_size(np.array([[0.0, sign * HUGE]]))
    with pytest.raises(ValueError, match=r"no entries larger than 1e[+]60, got 1e[+]61"):
        check_size(np.array([[0.0, sign * 10 * HUGE]]))


def test_labels_are_sorted_and_coded():
    classes, codes = observed_classes(["b", "a", "b"])
    assert classes.tolist() == ["a", "b"]
    assert codes.tolist() == [1, 0, 1]
    assert codes.dtype == np.intp
    with pytest.warns(DataConversionWarning):
        observed_classes(np.array([[0], [1]]))
    with pytest.raises(ValueError, match="Unknown label type"):
        observed_classes([0.5, 1.5])


def test_two_classes_are_enough_and_one_is_not():
    check_two_classes(CLASSES[:2])
    with pytest.raises(ValueError, match=r"at least 2 classes, got 1 class: \['a'\]"):
        check_two_classes(CLASSES[:1])


@pytest.mark.parametrize("value", [True, False, np.True_, np.False_, 1, 0, np.int64(1)])
def test_flags_are_true_or_false(value):
    assert checked_flag(value, "flag") is bool(value)


@pytest.mark.parametrize("value", [2, -1, 1.0, "yes", None])
def test_other_flags_are_refused(value):
    with pytest.raises(ValueError, match="flag must be True or False, got"):
        checked_flag(value, "flag")


def test_codes_are_places_among_the_classes():
    found = label_codes(["c", "a", "c", "b"], CLASSES)
    assert found.tolist() == [2, 0, 2, 1]
    assert found.dtype == np.intp
    nothing = label_codes(np.array([], dtype=str), CLASSES)
    assert nothing.dtype == np.intp
    assert nothing.shape == (0,)
    with pytest.warns(DataConversionWarning):
        label_codes(CLASSES[:, None], CLASSES)
    with pytest.raises(ValueError, match=r"does not know: \['d'\]; its classes are \['a'"):
        label_codes(["a", "d"], CLASSES)


def test_weights_are_one_unless_given():
    assert checked_weight(None, 2).tolist() == [1.0, 1.0]
    assert checked_weight([0, 2], 2).tolist() == [0.0, 2.0]
    for wrong in ([1.0], [[1.0, 1.0]], np.ones((1, 2, 1)), 1.0):
        with pytest.raises(ValueError, match=r"^sample_weight must have shape \(2,\), got"):
            checked_weight(wrong, 2)
    with pytest.raises(ValueError, match="must not be zero in every row"):
        checked_weight([0.0, 0.0], 2)


@pytest.mark.parametrize("size", [TINY, 1.0, HUGE])
def test_weights_of_moderate_size_stay_as_they_are(size):
    assert checked_weight([size, 0.0], 2).tolist() == [size, 0.0]


@pytest.mark.parametrize("size", [5e-324, TINY / 2, HUGE * 2, 1e308])
def test_weights_of_odd_size_keep_their_ratios(size):
    found = checked_weight([size, 0.0], 2)
    assert 0.5 <= found[0] < 1
    assert found[1] == 0
    ratio = checked_weight([1e308, 0.25 * 1e308], 2)
    assert ratio[1] / ratio[0] == 0.25


def test_weights_are_finite_and_not_below_zero():
    assert nonnegative_weight([0.0, 0.25], 2).tolist() == [0.0, 0.25]
    assert nonnegative_weight([], 0).shape == (0,)
    assert nonnegative_weight(["1", "2"], 2).dtype == np.float64
    with pytest.raises(ValueError, match="sample_weight must be >= 0, but its least is -1"):
        nonnegative_weight([1.0, -1.0], 2)
    for odd in (np.nan, np.inf):
        with pytest.raises(ValueError, match=r"^Input sample_weight contains"):
            nonnegative_weight([1.0, odd], 2)


def test_some_weight_is_enough():
    check_some_weight(np.array([0.0, 1.0]))
    check_weighted_classes(np.array([0.0, 1.0, 2.0]))
    with pytest.raises(ValueError, match="leave weight on 1 class"):
        check_weighted_classes(np.array([0.0, 1.0]))


def test_trust_may_be_infinite_or_zero():
    assert checked_trust(None, 2) is None
    assert checked_trust([0, np.inf], 2).tolist() == [0.0, np.inf]
    assert checked_trust([0.5, TINY], 2).tolist() == [0.5, TINY]
    for wrong in ([np.nan, 1.0], [-1.0, 1.0]):
        with pytest.raises(ValueError, match="label_trust must be >= 0 in every row"):
            checked_trust(wrong, 2)
    with pytest.raises(ValueError, match=r"^label_trust must have shape \(2,\)"):
        checked_trust([1.0], 2)
    with pytest.raises(ValueError, match=r"^label_trust must be between"):
        checked_trust([TINY / 10, 1.0], 2)


def test_factors_of_classes():
    codes, weight = np.array([0, 0, 1]), np.array([0.25, 0.25, 2.0])
    given = (CLASSES, codes, weight)
    assert class_factors(None, *given).tolist() == [1.0, 1.0, 1.0]
    assert class_factors("balanced", *given).tolist() == [2.0, 0.5, 0.0]
    named = {"a": 3.0, "b": 0.0, "c": 0.5}
    assert class_factors(named, *given).tolist() == [3.0, 0.0, 0.5]
    assert class_factors({"a": 3.0, "b": 2.0}, CLASSES[:2], codes, weight).tolist() == [
        3,
        2,
    ]
    huge = class_factors({"a": 1e300, "b": 5e299}, CLASSES[:2], codes, weight)
    assert huge[0] / huge[1] == 2
    assert huge[0] < 1
    with pytest.raises(ValueError, match="class_weight"):
        class_factors("uneven", *given)
    for wrong in (-1.0, np.inf):
        with pytest.raises(ValueError, match="class_weight must be finite and >= 0"):
            class_factors({"a": wrong, "b": 1.0}, CLASSES[:2], codes, weight)


def test_balanced_factors_are_zero_where_a_class_has_no_weight():
    """Whatever memory held before: many small arrays, all of them checked."""
    dirty = [np.full(3, 7.0) for _ in range(50)]
    del dirty
    for _ in range(50):
        found = class_factors("balanced", CLASSES, np.array([1]), np.array([4.0]))
        assert found.tolist() == [0.0, 0.25, 0.0]


def test_weights_of_rows_and_classes_multiply():
    codes = np.array([0, 1, 1])
    found = nominal_weight([1.0, 2.0, 4.0], {"a": 0.5, "b": 3.0}, CLASSES[:2], codes)
    assert found.tolist() == [0.5, 6.0, 12.0]
    balanced = nominal_weight([1.0, 2.0, 6.0], "balanced", CLASSES[:2], codes)
    assert balanced.tolist() == [1.0, 0.25, 0.75]
    assert nominal_weight(None, None, CLASSES[:2], codes).tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(ValueError, match="leave weight on 1 class"):
        nominal_weight([1.0, 0.0, 0.0], None, CLASSES[:2], codes)


def test_losses_go_by_name():
    loss = LOSSES["logistic"]
    assert checked_loss("logistic") is loss
    assert checked_loss(loss) is loss
    for wrong in ("hinge", 3, None):
        with pytest.raises(ValueError, match="one of 'crammer-singer', 'logistic', got"):
            checked_loss(wrong)


def test_a_kernels_ball_is_round():
    check_kernel_ball(WassersteinBall(0.1, 2.0))
    for shape in (
        {"norm": "l1"},
        {"feature_cost": [1.0]},
        {"support": (0.0, 1.0)},
        {"categorical": [([0, 1], 1.0)]},
    ):
        with pytest.raises(ValueError, match="norm must be 'l2', and feature_cost"):
            check_kernel_ball(WassersteinBall(0.1, 2.0, **shape))


@pytest.mark.parametrize("classes", [[0, 1, 5], [5, 0, 1], [0.0, 1.0, 5.0]])
def test_codes_are_positions_in_classes_of_any_order(classes):
    classes, y = np.array(classes), np.array([5, 0, 1, 1, 5])
    np.testing.assert_array_equal(classes[label_codes(y, classes)], y)
    assert label_codes(y, classes).dtype == np.intp
    with pytest.raises(ValueError, match="does not know"):
        label_codes(np.array([0, 7]), classes)
    with pytest.raises(ValueError, match="does not know"):
        label_codes(np.array([0, 3]), classes)


def test_lengths_must_agree():
    short = CODES[:-1]
    for ask in (radius_max, audit_labels, bootstrap_radius):
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            ask(FEATURES, short)


def test_labels_in_a_column_are_taken_with_a_warning():
    with pytest.warns(DataConversionWarning, match="column-vector"):
        found = radius_max(FEATURES, CODES[:, None], label_cost=0.7)
    assert found == radius_max(FEATURES, CODES, label_cost=0.7)


@pytest.mark.parametrize("factor", [-1.0, np.inf, np.nan])
def test_class_weights_must_be_numbers(factor):
    with pytest.raises(ValueError, match="class_weight must be finite and >= 0"):
        radius_max(FEATURES, CODES, class_weight={0: factor, 1: 1.0, 2: 1.0})


def test_class_weights_below_one_are_weights():
    half = {0: 0.5, 1: 0.5, 2: 0.25}
    double = {0: 1.0, 1: 1.0, 2: 0.5}
    assert radius_max(FEATURES, CODES, class_weight=half) == radius_max(
        FEATURES, CODES, class_weight=double
    )


def test_entries_that_cannot_be_squared_are_refused():
    with pytest.raises(ValueError, match="X must have no entries larger than"):
        radius_max(1e300 * FEATURES, CODES)


@pytest.mark.parametrize("factor", [1e-300, 1e250])
def test_the_size_of_weights_does_not_matter(factor):
    weight = np.linspace(0.5, 1.0, 12)
    found = radius_max(FEATURES, CODES, label_cost=0.7, sample_weight=factor * weight)
    assert found == pytest.approx(
        radius_max(FEATURES, CODES, label_cost=0.7, sample_weight=weight)
    )


def test_weights_below_zero_are_refused():
    with pytest.raises(ValueError, match="sample_weight must be >= 0, but its least is -1"):
        radius_max(FEATURES, CODES, sample_weight=np.r_[-1.0, np.ones(11)])


@pytest.mark.parametrize("odd", [np.inf, np.nan])
def test_weights_are_finite(odd):
    with pytest.raises(ValueError, match="sample_weight"):
        radius_max(FEATURES, CODES, sample_weight=np.r_[odd, np.ones(11)])


@pytest.mark.parametrize(
    "kind",
    [np.asarray, np.ndarray.tolist, pd.DataFrame, sparse.csr_array, sparse.coo_array],
    ids=["array", "list", "frame", "csr", "coo"],
)
def test_some_rows_are_of_the_kind_that_was_given(kind):
    given = kind(np.arange(12.0).reshape(4, 3))
    found = some_rows(given, np.array([2, 0]))
    assert isinstance(found, type(given)) or sparse.issparse(given)
    dense = found.toarray() if sparse.issparse(found) else np.asarray(found)
    np.testing.assert_array_equal(dense, [[6, 7, 8], [0, 1, 2]])


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[1.0], [2.0]], np.array([0, 1])),
        (np.array([[1.0], [2.0]]), [0, 1]),
        (np.array([1.0, 2.0]), np.array([0, 1])),
        (np.array([[1.0], [np.nan]]), np.array([0, 1])),
        (np.array([[1.0], [np.inf]]), np.array([0, 1])),
        (np.array([[1.0], [-np.inf]]), np.array([0, 1])),
        (np.array([[1.0], [2.0]]), np.array([0, 1, 1])),
        (np.array([[1.0], [2.0]]), np.array([[0], [1]])),
        (np.array([[1.0], [2.0]]), np.array([0.0, 1.0])),
        (np.array([["1"], ["2"]]), np.array([0, 1])),
        (np.empty((0, 1)), np.empty(0, dtype=int)),
    ],
)
def test_what_is_no_plain_pair_of_arrays_needs_conversion(X, y):
    plain = np.array([[1.0], [2.0]]), np.array([0, 1])
    assert need_no_conversion(*plain, READ_AS_THEY_ARE) is True
    assert need_no_conversion(*plain, [np.float32]) is False
    assert need_no_conversion(X, y, READ_AS_THEY_ARE) is False


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, float])
def test_labels_that_are_codes_are_copied(dtype):
    y = np.array([2, 0, 1, 2], dtype=dtype)
    y.flags.writeable = False
    found = label_codes(y, np.arange(3))
    np.testing.assert_array_equal(found, [2, 0, 1, 2])
    assert found.dtype == np.intp
    assert not np.shares_memory(found, y)
    for wrong in (-1, 3):
        with pytest.raises(ValueError, match=rf"does not know: \[{wrong}"):
            label_codes(np.array([0, wrong]), np.arange(3))


def test_labels_that_are_numbers_are_found_without_sorting_them(monkeypatch):
    def refuse(*args, **options):
        raise AssertionError("labels are sorted")

    monkeypatch.setattr(np, "unique", refuse)
    for kind in (bool, np.int8, np.uint8, np.float32):
        classes = np.array([0, 1]) if kind is bool else np.array([4, 7])
        found = label_codes(classes[[1, 0, 1]].astype(kind), classes.astype(kind))
        assert found.tolist() == [1, 0, 1]
    with pytest.raises(AssertionError, match="labels are sorted"):
        label_codes(np.array(["b", "a"]), np.array(["a", "b"]))


@pytest.mark.parametrize(
    ("column", "classes", "are_codes"),
    [
        ([0, 1, 2], [0, 1, 2], True),
        ([0], [0, 1, 2], True),
        ([1, 2], [0, 1, 2], True),
        ([0, 3], [0, 1, 2], False),
        ([-1, 0], [0, 1, 2], False),
        ([0, 1], [0, 2], False),
        ([0.0, 1.0], [0, 1], False),
        ([0, 1], [0.0, 1.0], False),
        ([], [0, 1], False),
    ],
)
def test_codes_are_whole_numbers_from_zero_on(column, classes, are_codes):
    for kind in (np.int64, np.uint8) if are_codes else (None,):
        given = np.array(column, dtype=kind), np.array(classes, dtype=kind)
        assert bool(_are_codes(*given)) is are_codes


def test_only_tables_are_features(monkeypatch):
    for wrong in (np.ones(3), np.ones((2, 2, 2)), np.ones((0, 2)), np.ones((2, 0))):
        with pytest.raises(ValueError, match="array"):
            checked_features(wrong)
    # A plain array of finite floats needs no more than one look at its entries.
    monkeypatch.setattr("wdrsvm.inputs.arrays.check_array", None)
    assert checked_features(X) is X


def test_missing_labels_of_any_kind_and_shape():
    for given, missing in (
        ([1, 2], [False, False]),
        ([1.0, np.nan], [False, True]),
        (np.array(["2020-01-01", "NaT"], dtype="M8[D]"), [False, True]),
        (np.array(["a", None], dtype=object), [False, True]),
        (np.array([["a"], [np.nan]], dtype=object), [[False], [True]]),
        (np.array(None, dtype=object), False),
        (np.array("a"), False),
    ):
        found = are_missing(np.asarray(given))
        assert found.dtype == bool
        assert found.tolist() == missing


def test_indices_of_sparse_features_have_32_bits():
    wide = sparse.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    found = as_matrix(wide)
    assert found.indices.dtype == found.indptr.dtype == np.int32


def test_nothing_is_no_plain_pair():
    nothing = np.empty((0, 1)), np.empty(0, dtype=int)
    assert need_no_conversion(*nothing, READ_AS_THEY_ARE) is False
    one = np.ones((1, 1)), np.zeros(1, dtype=int)
    assert need_no_conversion(*one, READ_AS_THEY_ARE) is True


def test_scores_that_are_not_numbers_are_refused_where_nobody_has_looked_before():
    wrong = np.array([[np.nan, 0.0]])
    check_scores(wrong)
    with config_context(assume_finite=True):
        check_scores(np.zeros((1, 2)))
        with pytest.raises(ValueError, match="finite entries only"):
            check_scores(wrong)
