"""Data and weights at the ends of double precision: fitted, or refused in one sentence."""

import numpy as np
import pytest
from scipy import sparse

from wdrsvm import (
    RobustLinearSVC,
    RobustLogisticRegression,
    RobustOneVsRestSVC,
    RobustSVC,
    radius_max,
)

ESTIMATORS = [
    RobustLinearSVC,
    RobustLogisticRegression,
    RobustSVC,
    RobustOneVsRestSVC,
]
y = np.arange(30) % 3
X = np.random.default_rng(0).normal(size=(30, 4)) + 2 * np.eye(3, 4)[y]


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("size", [1e61, -1e300])
def test_features_that_overflow_are_refused(estimator, size):
    huge = X.copy()
    huge[3, 1] = size
    with pytest.raises(ValueError, match=r"^X must have no entries larger than 1e\+60"):
        estimator().fit(huge, y)


def test_sparse_features_that_overflow_are_refused():
    with pytest.raises(ValueError, match=r"larger than 1e\+60, got"):
        RobustLinearSVC().fit(sparse.csr_array(X * 1e200), y)
    with pytest.raises(ValueError, match=r"larger than 1e\+60, got"):
        radius_max(X * 1e200, y)


@pytest.mark.parametrize("size", [1e-300, np.finfo(float).smallest_subnormal])
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_features_that_vanish_teach_nothing(size, norm):
    model = RobustLinearSVC(norm=norm).fit(X * size, y)
    assert model.objective_ == pytest.approx(1.0, rel=1e-6)
    assert np.isfinite(model.decision_function(X * size)).all()


@pytest.mark.parametrize("size", [1e308, 1e-308, 1e61])
def test_only_ratios_of_weights_count(size):
    ratios = np.random.default_rng(1).uniform(0.1, 1.0, 30)
    exact = 2.0 ** np.rint(np.log2(ratios))
    expected = RobustLinearSVC().fit(X, y, sample_weight=exact)
    power = 2.0 ** np.floor(np.log2(size))
    found = RobustLinearSVC().fit(X, y, sample_weight=exact * power)
    np.testing.assert_array_equal(found.coef_, expected.coef_)


def test_class_weights_may_be_large_together_with_weights():
    heavy = dict.fromkeys(range(3), 1e300)
    found = RobustLinearSVC(class_weight=heavy).fit(X, y, sample_weight=np.full(30, 1e300))
    np.testing.assert_allclose(found.coef_, RobustLinearSVC().fit(X, y).coef_)


@pytest.mark.parametrize("trust", [1e-300, 1e300])
def test_trust_that_overflows_is_refused(trust):
    with pytest.raises(ValueError, match=r"^label_trust must be between 1e-60 and 1e\+60"):
        RobustLinearSVC().fit(X, y, label_trust=np.full(30, trust))


@pytest.mark.parametrize(
    "given",
    [
        X.astype(">f8"),
        X.astype(np.longdouble),
        np.repeat(X, 2, axis=0)[::2],
        np.asfortranarray(X),
        X[:, ::-1][:, ::-1],
    ],
    ids=["big-endian", "longdouble", "strided", "fortran", "reversed"],
)
def test_layouts_change_nothing(given):
    expected = RobustLinearSVC().fit(X, y)
    np.testing.assert_array_equal(RobustLinearSVC().fit(given, y).coef_, expected.coef_)


def test_read_only_data_are_left_alone():
    given = [X.copy(), y.copy(), np.ones(30)]
    for array in given:
        array.setflags(write=False)
    expected = RobustLinearSVC().fit(X, y)
    found = RobustLinearSVC().fit(*given, label_trust=given[2])
    np.testing.assert_allclose(found.coef_, expected.coef_)


def test_one_row_is_refused_by_fit_and_taken_by_partial_fit():
    with pytest.raises(ValueError, match="at least 2 classes"):
        RobustLinearSVC().fit(X[:1], y[:1])
    model = RobustLinearSVC().partial_fit(X[:1], y[:1], classes=[0, 1, 2])
    assert np.isfinite(model.decision_function(X)).all()
