"""Movement in standard deviations: raw tables give what standardised ones do."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from wdrsvm import (
    RobustLinearSVC,
    RobustLinearSVCCV,
    RobustLogisticRegression,
    RobustLogisticRegressionCV,
    RobustOneVsRestSVC,
    WassersteinBall,
    certified_radius,
    load_model,
    save_model,
    to_onnx,
    worst_case_error,
    worst_case_risk,
)
from wdrsvm.plotting import ConvergenceDisplay

TOL = 1e-9


def wine():
    X, y = load_wine(return_X_y=True)
    X = np.column_stack([X[:, [0, 4, 6, 12]], np.full(len(y), 5.0)])
    return X, y, np.random.default_rng(0).exponential(size=len(y))


def scaled(X, weight=None):
    is_sparse = sparse.issparse(X)
    return StandardScaler(with_mean=not is_sparse).fit_transform(X, sample_weight=weight)


def assert_same(raw, standard, X, Z, y, weight=None):
    np.testing.assert_allclose(raw.objective_, standard.objective_, rtol=1e-7)
    found, expected = raw.decision_function(X), standard.decision_function(Z)
    np.testing.assert_allclose(found, expected, atol=1e-6 * max(1, np.abs(expected).max()))
    risks = [m.worst_case_risk(D, y, weight) for m, D in ((raw, X), (standard, Z))]
    assert risks[0] == pytest.approx(risks[1], rel=1e-6)


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize("weighted", [False, True])
def test_raw_rows_are_as_good_as_standardised_ones(norm, weighted):
    X, y, weight = wine()
    weight = weight if weighted else None
    Z = scaled(X, weight)
    for model in (
        RobustLinearSVC(0.05, norm=norm, tol=TOL),
        RobustLinearSVC(0.05, np.inf, norm=norm, smoothing=0.2, tol=TOL),
        RobustLogisticRegression(0.05, norm=norm, class_weight="balanced", tol=TOL),
    ):
        raw = clone(model).set_params(feature_cost="std").fit(X, y, weight)
        standard = model.fit(Z, y, weight)
        assert_same(raw, standard, X, Z, y, weight)
        np.testing.assert_allclose(
            raw.certified_radius(X), standard.certified_radius(Z), rtol=1e-5, atol=1e-9
        )


def test_the_worst_case_is_as_far_away():
    X, y, weight = wine()
    Z = scaled(X, weight)
    model = RobustLinearSVC(0.05, class_weight="balanced", tol=TOL)
    raw = clone(model).set_params(feature_cost="std").fit(X, y, weight)
    worst = raw.worst_case_distribution(X, y, sample_weight=weight)
    other = model.fit(Z, y, weight).worst_case_distribution(Z, y, sample_weight=weight)
    assert worst.transport_cost == pytest.approx(other.transport_cost, rel=1e-6)
    assert worst.transport_cost <= 0.05 * (1 + 1e-9)
    assert worst.risk == pytest.approx(other.risk, rel=1e-5)


def test_sparse_rows_keep_their_zeros():
    X, y, weight = wine()
    X[::3, 1] = X[1::2, 3] = 0.0
    rows = sparse.csr_array(X)
    Z = scaled(rows, weight)
    model = RobustLogisticRegression(0.05, tol=TOL)
    raw = clone(model).set_params(feature_cost="std").fit(rows, y, weight)
    assert_same(raw, model.fit(Z, y, weight), rows, Z, y, weight)


def test_the_cost_is_kept():
    X, y, weight = wine()
    deviation = StandardScaler().fit(X, sample_weight=weight).scale_
    model = RobustLinearSVC(feature_cost="std").fit(X, y, weight)
    np.testing.assert_allclose(model.feature_cost_, 1 / deviation)
    assert model.feature_cost_[4] == 1
    assert model.get_params()["feature_cost"] == "std"
    assert RobustLinearSVC().fit(X, y).feature_cost_.tolist() == [1.0] * 5
    given = np.array([1.0, 2.0, np.inf, 1.0, 3.0])
    kept = RobustLogisticRegression(feature_cost=given).fit(X, y).feature_cost_
    np.testing.assert_array_equal(kept, given)
    kept[0] = 9.0
    assert given[0] == 1.0
    again = model.fit(10 * X, y)
    np.testing.assert_allclose(
        again.feature_cost_, 0.1 / StandardScaler().fit(X).scale_ * [1, 1, 1, 1, 10]
    )


def test_promises_are_in_the_fits_own_deviations():
    X, y, weight = wine()
    model = RobustLinearSVC(0.1, feature_cost="std").fit(X, y, weight)
    ball = WassersteinBall(0.1, 2.0, feature_cost=model.feature_cost_)
    assert model.worst_case_risk(X, y, weight) == pytest.approx(model.objective_)
    assert model.worst_case_risk(X[:50], y[:50]) == worst_case_risk(
        model, X[:50], y[:50], ball
    )
    assert model.worst_case_error(X, y) == worst_case_error(model, X, y, ball)
    expected = certified_radius(model, X, feature_cost=model.feature_cost_)
    np.testing.assert_array_equal(model.certified_radius(X), expected)


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_one_vs_rest(norm):
    X, y, weight = wine()
    Z = scaled(X, weight)
    model = RobustOneVsRestSVC(0.05, norm=norm, class_weight="balanced", tol=TOL)
    raw = clone(model).set_params(feature_cost="std").fit(X, y, weight)
    standard = model.fit(Z, y, weight)
    np.testing.assert_allclose(raw.objective_, standard.objective_, rtol=1e-7)
    deviation = StandardScaler().fit(X, sample_weight=weight).scale_
    np.testing.assert_allclose(raw.feature_cost_, 1 / deviation)
    assert (raw.predict(X) == standard.predict(Z)).mean() > 0.99
    risks = raw.worst_case_risk(X, y), standard.worst_case_risk(Z, y)
    assert risks[0] == pytest.approx(risks[1], rel=1e-3)
    raw.set_params(kernel="rbf", norm="l2", feature_cost=None).fit(Z, y)
    assert not hasattr(raw, "feature_cost_")
    with pytest.raises(ValueError, match="categorical None for a kernel machine"):
        raw.set_params(feature_cost="std").fit(Z, y)


@pytest.mark.parametrize("search", [RobustLinearSVCCV, RobustLogisticRegressionCV])
def test_searches(search):
    X, y, weight = wine()
    model = search(radii=3, label_costs=(2.0, np.inf), cv=3, tol=1e-7)
    raw = clone(model).set_params(feature_cost="std").fit(X, y, weight)
    standard = model.fit(scaled(X, weight), y, weight)
    np.testing.assert_allclose(raw.radii_, standard.radii_, rtol=1e-4)
    deviation = StandardScaler().fit(X, sample_weight=weight).scale_
    np.testing.assert_allclose(raw.feature_cost_, 1 / deviation)
    found, expected = (m.cv_results_["mean_test_score"] for m in (raw, standard))
    np.testing.assert_allclose(found, expected, atol=0.03)
    assert raw.worst_case_risk(X, y, weight) == pytest.approx(raw.objective_, rel=1e-6)


def test_dask_arrays():
    da = pytest.importorskip("dask.array")
    X, y, weight = wine()
    chunks = (60, 0, 118)
    rows = da.from_array(X, chunks=(chunks, 3))
    column = da.from_array(weight, chunks=(chunks,))
    model = RobustLogisticRegression(
        0.05, feature_cost="std", class_weight="balanced", tol=TOL
    )
    there = clone(model).fit(rows, da.from_array(y, chunks=(chunks,)), column)
    here = model.fit(X, y, weight)
    np.testing.assert_allclose(there.feature_cost_, here.feature_cost_, rtol=1e-12)
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-7)
    np.testing.assert_allclose(
        there.decision_function(X), here.decision_function(X), atol=1e-5
    )


def test_memory_maps_are_read_in_blocks(tmp_path, monkeypatch):
    from wdrsvm.rows import blocks, canonical

    monkeypatch.setattr(canonical, "MAX_ENTRIES", 100)
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 60)
    X, y, weight = wine()
    mapped = np.memmap(tmp_path / "X", dtype=np.float32, mode="w+", shape=X.shape)
    mapped[:] = X
    model = RobustLogisticRegression(0.05, feature_cost="std", tol=1e-7)
    found = clone(model).fit(mapped, y, weight)
    expected = StandardScaler().fit(np.float64(mapped), sample_weight=weight).scale_
    np.testing.assert_allclose(found.feature_cost_, 1 / expected, rtol=1e-12)


@pytest.mark.parametrize(
    "kind", [RobustLinearSVC, RobustLogisticRegression, RobustOneVsRestSVC]
)
def test_other_words_are_refused(kind):
    X, y, _ = wine()
    with pytest.raises(ValueError, match="feature_cost must be 'std', None or an array"):
        kind(feature_cost="mad").fit(X, y)


def test_streams_have_no_deviations_yet():
    X, y, _ = wine()
    model = RobustLinearSVC(feature_cost="std")
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError) as refused:
        model.partial_fit(X, y, classes=[0, 1, 2])
    assert "partial_fit knows no feature_cost='std'" in str(refused.value.__cause__)
    other = RobustLinearSVC(feature_cost=[1.0, 2, 3, 4, 5])
    other.partial_fit(X, y, classes=[0, 1, 2])
    assert other.feature_cost_.tolist() == [1.0, 2, 3, 4, 5]


def test_a_failed_fit_leaves_the_cost():
    X, y, _ = wine()
    model = RobustLinearSVC(feature_cost="std").fit(X, y)
    before = model.feature_cost_
    with pytest.raises(ValueError, match="solver"):
        model.set_params(solver="none").fit(2 * X, y)
    assert model.feature_cost_ is before


def test_copies_files_and_other_formats(tmp_path):
    X, y, _ = wine()
    model = RobustLinearSVC(0.05, feature_cost="std").fit(X, y)
    for other in (
        pickle.loads(pickle.dumps(model)),
        load_model(save_model(model, tmp_path / "wine.wdrsvm")),
    ):
        np.testing.assert_array_equal(other.feature_cost_, model.feature_cost_)
        assert other.worst_case_risk(X, y) == model.worst_case_risk(X, y)
    assert not hasattr(clone(model), "feature_cost_")
    pytest.importorskip("onnxruntime")
    assert to_onnx(model) is not None


def test_a_watched_fit_is_in_deviations():
    pytest.importorskip("matplotlib").use("Agg")
    X, y, _ = wine()
    display = ConvergenceDisplay.from_estimator(RobustLinearSVC(feature_cost="std"), X, y)
    expected = RobustLinearSVC(feature_cost="std").fit(X, y).objective_
    assert display.history[-1].objective == pytest.approx(expected, rel=1e-5)


def test_pipelines_may_still_scale():
    X, y, _ = wine()
    chain = make_pipeline(StandardScaler(), RobustLinearSVC(feature_cost="std")).fit(X, y)
    assert chain[-1].feature_cost_ == pytest.approx(np.ones(5))


@parametrize_with_checks([RobustLinearSVC(feature_cost="std", tol=1e-6)])
def test_scikit_learns_checks(estimator, check):
    check(estimator)
