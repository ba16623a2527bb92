"""Box and categories of estimators: given, found in a frame, widened for other data."""

import numpy as np
import pandas as pd
import pytest

from wdrsvm import (
    RobustLinearSVC,
    RobustLinearSVCCV,
    RobustLogisticRegression,
    RobustOneVsRestSVC,
)

GROUPS = [([2, 3, 4], 1.0)]


def frame_and_labels(n_rows=45, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % 3
    numbers = pd.DataFrame(
        np.eye(3)[y][:, :2] + rng.normal(size=(n_rows, 2)), columns=["a", "b"]
    )
    colour = pd.Series(np.where(rng.random(n_rows) < 0.6, np.array([*"uvw"])[y], "u"))
    return pd.concat([numbers, pd.get_dummies(colour, prefix="colour")], axis=1), y


@pytest.mark.parametrize(
    "kind", [RobustLinearSVC, RobustLogisticRegression, RobustOneVsRestSVC]
)
def test_limits_found_in_a_frame_are_those_that_could_be_given(kind):
    frame, y = frame_and_labels()
    X = frame.to_numpy(dtype=float)
    found = kind(norm="l1", support="auto", categorical="auto").fit(frame, y)
    given = kind(norm="l1", support=(X.min(axis=0), X.max(axis=0)), categorical=GROUPS)
    np.testing.assert_array_equal(found.coef_, given.fit(X, y).coef_)
    if kind is not RobustOneVsRestSVC:
        assert found.categorical_ == GROUPS
        np.testing.assert_array_equal(found.support_[1], X.max(axis=0))


def test_a_search_finds_them_once_for_all_folds():
    frame, y = frame_and_labels()
    search = RobustLinearSVCCV(
        radii=[0.05], label_costs=[2.0], cv=3, norm="l1", support="auto", categorical="auto"
    ).fit(frame, y)
    assert search.best_estimator_.categorical == GROUPS
    np.testing.assert_array_equal(
        search.best_estimator_.support[1], frame.to_numpy(dtype=float).max(axis=0)
    )


@pytest.mark.parametrize("name", ["support", "categorical"])
@pytest.mark.parametrize("kind", [RobustLinearSVC, RobustLinearSVCCV, RobustOneVsRestSVC])
def test_arrays_say_nothing_about_their_columns(kind, name):
    frame, y = frame_and_labels()
    with pytest.raises(ValueError, match=f"{name}='auto' needs a pandas or polars"):
        kind(**{name: "auto"}).fit(frame.to_numpy(dtype=float), y)


def test_rows_outside_widen_a_box_that_was_found_but_not_one_that_was_given():
    frame, y = frame_and_labels()
    far = frame.assign(a=10 * frame["a"])
    found = RobustLinearSVC(norm="l1", support="auto").fit(frame, y)
    box = found.support_
    risk = found.worst_case_risk(far, y)
    X = far.to_numpy(dtype=float)
    wide = np.minimum(box[0], X.min(axis=0)), np.maximum(box[1], X.max(axis=0))
    assert risk == found.set_params(support=wide).worst_case_risk(far, y)
    with pytest.raises(ValueError, match="support must contain the data, but feature 0"):
        found.set_params(support=box).worst_case_risk(far, y)


def test_a_fit_without_auto_forgets_what_an_earlier_one_found():
    frame, y = frame_and_labels()
    model = RobustLinearSVC(support="auto").fit(frame, y)
    assert not hasattr(model.set_params(support=None).fit(frame, y), "support_")


def test_kernel_machines_have_no_box():
    frame, y = frame_and_labels()
    with pytest.raises(ValueError, match="support and categorical None for a kernel"):
        RobustOneVsRestSVC(kernel="rbf", support=(0, 1)).fit(frame, y)


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_the_ramp_s_bound_holds_in_the_box(norm):
    frame, y = frame_and_labels()
    X = frame.to_numpy(dtype=float)
    limits = {"support": (X.min(axis=0), X.max(axis=0)), "categorical": GROUPS}
    model = RobustLinearSVC(0.05, np.inf, norm=norm, loss="ramp", **limits).fit(X, y)
    assert model.worst_case_error_ <= model.objective_ + 1e-12
    assert model.worst_case_error_ == pytest.approx(model.worst_case_error(X, y))


def test_random_label_noise_in_a_box():
    frame, y = frame_and_labels(60)
    wrong = y.copy()
    wrong[:6] = (wrong[:6] + 1) % 3
    model = RobustLinearSVC(
        0.01, 1.0, norm="l1", label_noise="random", support="auto", categorical="auto"
    ).fit(frame, wrong)
    assert model.objective_ >= model.dual_bound_
    assert (model.label_belief_ < 1).any()
