"""dask collections in the estimators, on dask's local scheduler."""

from functools import cache

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from wdrsvm import (
    RobustLinearSVC,
    RobustLogisticRegression,
    RobustSVC,
    WassersteinBall,
    worst_case_risk,
)

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

N_ROWS, N_FEATURES = 300, 4
NAMES = np.array(["apple", "fig", "pear"])
# Uneven, and one of them empty.
CHUNKS = (60, 0, 90, 150)
TOL = 1e-8


@cache
def rows():
    rng = np.random.default_rng(0)
    y = rng.choice(3, N_ROWS, p=[0.5, 0.3, 0.2])
    X = rng.normal(size=(N_ROWS, N_FEATURES))
    X[np.arange(N_ROWS), y] += 1.5
    return X, y, rng.exponential(size=N_ROWS), rng.uniform(0.5, 2.0, N_ROWS)


def lazy(values, chunks=CHUNKS):
    return da.from_array(values, chunks=(chunks, *values.shape[1:]))


def unknown(values):
    """The same with chunk sizes that dask does not know."""
    there = lazy(values)
    sizes = ((np.nan,) * len(CHUNKS), *there.chunks[1:])
    return da.Array(there.dask, there.name, sizes, dtype=there.dtype)


def frame(X):
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    table = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])
    return table, dd.from_pandas(table, npartitions=3)


def assert_same(found, expected, X, y, **weights):
    """The same objective within the gap, recomputed in memory, and the same classifier."""
    gap = TOL * max(expected.objective_, 1e-2)
    assert found.duality_gap_ <= gap
    assert abs(found.objective_ - expected.objective_) <= gap
    risk = found.worst_case_risk(X, y, **weights)
    assert risk == pytest.approx(found.objective_, abs=1e-10)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=2e-3)
    np.testing.assert_allclose(found.intercept_, expected.intercept_, atol=2e-3)
    np.testing.assert_array_equal(found.classes_, expected.classes_)


def in_memory(X, y, model=None, **weights):
    model = RobustLinearSVC(solver="newton", tol=TOL) if model is None else model
    return model.fit(X, y, **weights)


MODELS = {
    "svc": RobustLinearSVC(tol=TOL),
    "l1": RobustLinearSVC(norm="l1", tol=TOL),
    "linf": RobustLinearSVC(norm="linf", fit_intercept=False, tol=TOL),
    "smooth": RobustLinearSVC(smoothing=0.3, tol=TOL),
    "trusting": RobustLinearSVC(label_cost=np.inf, tol=TOL),
    "untouchable": RobustLinearSVC(
        label_cost=np.inf, feature_cost=[1, np.inf, 1, 2], tol=TOL
    ),
    "no radius": RobustLinearSVC(radius=0.0, tol=TOL),
    "logistic": RobustLogisticRegression(tol=TOL),
    "flips": RobustLogisticRegression(label_cost=1.0, tol=TOL),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_fit_is_that_in_memory(name):
    X, y, weight, trust = rows()
    weights = {"sample_weight": weight, "label_trust": trust}
    model = MODELS[name]
    expected = in_memory(X, y, type(model)(**model.get_params()), **weights)
    there = type(model)(**model.get_params()).fit(lazy(X), lazy(y), **weights)
    assert there.solver_ == "newton"
    assert_same(there, expected, X, y, **weights)
    lazily = {key: lazy(value) for key, value in weights.items()}
    risk = there.worst_case_risk(lazy(X), lazy(y), **lazily)
    assert risk == pytest.approx(there.objective_, abs=1e-10)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 2.0, 1: 0.5, 2: 1.0}])
def test_class_weights_count_over_all_chunks(class_weight):
    X, y, weight, _ = rows()
    model = RobustLinearSVC(class_weight=class_weight, tol=TOL)
    expected = in_memory(X, y, model, sample_weight=weight)
    mass = np.bincount(y, weight)
    factor = 1 / mass if class_weight == "balanced" else np.array([2.0, 0.5, 1.0])
    found = RobustLinearSVC(class_weight=class_weight, tol=TOL)
    found.fit(lazy(X), y, sample_weight=lazy(weight))
    assert_same(found, expected, X, y, sample_weight=weight * factor[y])


@pytest.mark.parametrize("kind", ["columns", "unknown", "other chunks", "numpy", "sparse"])
def test_chunks_of_every_kind(kind):
    X, y, weight, _ = rows()
    given = {
        "columns": lambda: (
            da.from_array(X, chunks=(100, 2)),
            lazy(y, (300,)),
            lazy(weight),
        ),
        "unknown": lambda: (unknown(X), unknown(y), weight),
        "other chunks": lambda: (lazy(X), lazy(y, (150, 150)), lazy(weight, (1, 299))),
        "numpy": lambda: (unknown(X), y, weight),
        "sparse": lambda: (lazy(X).map_blocks(sparse.csr_matrix), lazy(y), weight),
    }[kind]()
    found = RobustLinearSVC(tol=TOL).fit(given[0], given[1], sample_weight=given[2])
    expected = in_memory(X, y, sample_weight=weight)
    assert_same(found, expected, X, y, sample_weight=weight)


def test_data_frames_and_names():
    X, y, _, _ = rows()
    table, there = frame(X)
    labels = frame(NAMES[y][:, None])[1]["f0"]
    expected = in_memory(table, NAMES[y])
    found = RobustLinearSVC(tol=TOL).fit(there, labels)
    assert_same(found, expected, table, NAMES[y])
    np.testing.assert_array_equal(found.feature_names_in_, expected.feature_names_in_)
    predicted = found.predict(there)
    assert isinstance(predicted, da.Array)
    np.testing.assert_array_equal(predicted.compute(), found.predict(table))
    with pytest.raises(ValueError, match="feature names"):
        found.predict(there.rename(columns={"f0": "other"}))


def test_zero_weights_are_absent_rows():
    X, y, _, _ = rows()
    weight = (np.arange(N_ROWS) % 3 > 0).astype(float)
    weight[:60] = 0.0  # a whole chunk
    kept = np.flatnonzero(weight)
    found = RobustLinearSVC(tol=TOL).fit(lazy(X), lazy(y), sample_weight=lazy(weight))
    assert_same(found, in_memory(X[kept], y[kept]), X[kept], y[kept])


def test_predictions_are_lazy_and_the_same():
    X, y, _, _ = rows()
    model = RobustLogisticRegression().fit(X, NAMES[y])
    for method in ("predict", "decision_function", "predict_proba", "predict_log_proba"):
        expected = getattr(model, method)(X)
        for given in (lazy(X), unknown(X), da.from_array(X, chunks=(100, 2))):
            found = getattr(model, method)(given)
            assert isinstance(found, da.Array)
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(*(map(_codes, (found.compute(), expected))))


def _codes(values):
    return values if values.dtype.kind == "f" else np.unique(values, return_inverse=True)[1]


def test_two_classes_have_one_score():
    X, y, _, _ = rows()
    model = RobustLinearSVC().fit(lazy(X), y > 0)
    scores = model.decision_function(lazy(X))
    assert scores.shape == (N_ROWS,)
    np.testing.assert_allclose(scores.compute(), model.decision_function(X))
    np.testing.assert_array_equal(model.predict(lazy(X)).compute(), model.predict(X))
    assert model.score(lazy(X), lazy(y > 0)) == model.score(X, y > 0)


def test_nothing_is_computed_before_it_is_asked_for():
    X, y, _, _ = rows()
    model = RobustLinearSVC().fit(X, y)

    def refuse(block):
        raise AssertionError("computed too soon")

    there = lazy(X).map_blocks(refuse, meta=np.empty((0, 0)), dtype=float)
    assert model.predict(there).shape == (N_ROWS,)


def test_any_linear_classifier_is_judged_where_the_rows_are():
    X, y, weight, _ = rows()
    ball = WassersteinBall(0.1, label_cost=1.0, norm="l1")
    plain = LogisticRegression().fit(X, NAMES[y])
    scaled = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, NAMES[y])
    for classifier in (plain, scaled):
        expected = worst_case_risk(classifier, X, NAMES[y], ball, sample_weight=weight)
        found = worst_case_risk(
            classifier, lazy(X), lazy(NAMES[y]), ball, sample_weight=weight
        )
        assert found == pytest.approx(expected, rel=1e-12)


def test_a_warm_start_goes_on_where_it_was():
    X, y, _, _ = rows()
    model = RobustLinearSVC(warm_start=True, tol=1e-6).fit(lazy(X), y)
    cold = model.n_iter_
    assert model.fit(lazy(X), y).n_iter_ < cold


def test_equal_chunks_give_equal_models():
    X, y, _, _ = rows()
    one, other = (RobustLinearSVC(random_state=3).fit(lazy(X), y) for _ in range(2))
    np.testing.assert_array_equal(one.coef_, other.coef_)
    assert one.objective_ == other.objective_


def with_nan(X):
    broken = X.copy()
    broken[200, 0] = np.nan
    return lazy(broken)


ERRORS = {
    "nan": (lambda X, y: (with_nan(X), y, {}), "NaN"),
    "length": (lambda X, y: (lazy(X), y[:-1], {}), "y must have 300 rows"),
    "lazy length": (
        lambda X, y: (lazy(X), lazy(y[:-1], (299,)), {}),
        "y must have 300 rows",
    ),
    "chunk length": (
        lambda X, y: (unknown(X), da.from_array(y, chunks=((59, 1, 90, 150),)), {}),
        r"y must have \d+ rows, as X has",
    ),
    "chunks": (lambda X, y: (unknown(X), lazy(y, (150, 150)), {}), "as many chunks as X"),
    "one class": (lambda X, y: (lazy(X), 0 * y, {}), "at least 2 classes"),
    "continuous": (lambda X, y: (lazy(X), y + 0.5, {}), "Unknown label type"),
    "nan label": (
        lambda X, y: (lazy(X), np.where(y, y, np.nan), {}),
        "y must have a label in every row",
    ),
    "negative weight": (
        lambda X, y: (lazy(X), y, {"sample_weight": y - 1.0}),
        "sample_weight must be >= 0",
    ),
    "no weight": (
        lambda X, y: (lazy(X), y, {"sample_weight": 0.0 * y}),
        "zero in every row",
    ),
    "one class with weight": (
        lambda X, y: (lazy(X), y, {"sample_weight": (y == 1).astype(float)}),
        "leave weight on 1 class",
    ),
    "trust": (lambda X, y: (lazy(X), y, {"label_trust": y - 1.0}), "label_trust must be"),
    "columns": (
        lambda X, y: (lazy(X)[:, lazy(X, (300,))[0] > 0], y, {}),
        "known number of columns",
    ),
    "one dimension": (lambda X, y: (lazy(X)[:, 0], y, {}), "2 dimensions"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_bad_data_are_refused_with_a_reason(case):
    X, y, _, _ = rows()
    make, message = ERRORS[case]
    given_X, given_y, weights = make(X, y)
    model = RobustLinearSVC()
    with pytest.raises(ValueError, match=message):
        model.fit(given_X, given_y, **weights)
    assert vars(model) == vars(RobustLinearSVC())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"solver": "first-order"}, "does not know rows that are not in memory"),
        ({"solver": "interior-point"}, "does not know rows that are not in memory"),
        ({"support": "auto"}, "got a dask collection"),
        ({"label_noise": "random"}, "needs all rows in memory"),
    ],
)
def test_what_needs_memory_is_refused(parameters, message):
    X, y, _, _ = rows()
    with pytest.raises(ValueError, match=message):
        RobustLinearSVC(**parameters).fit(lazy(X), y)


def test_too_many_coefficients_are_refused():
    X = da.zeros((30, 2000), chunks=(10, 2000))
    with pytest.raises(ValueError, match="6003 coefficients"):
        RobustLinearSVC().fit(X, np.arange(30) % 3)


def test_a_kernel_model_is_judged_in_memory():
    X, y, _, _ = rows()
    model = RobustSVC(n_components=5).fit(X[:60], y[:60])
    with pytest.raises(TypeError, match="kernel model"):
        worst_case_risk(model, lazy(X), y, WassersteinBall(0.1))


def test_a_stream_of_chunks_learns():
    """``partial_fit`` over the chunks: one pass over the rows."""
    X, y, _, _ = rows()
    X, y = da.concatenate([lazy(X)] * 10), da.concatenate([lazy(y)] * 10)
    model = RobustLinearSVC(random_state=0)
    for X_block, y_block in zip(X.blocks, y.blocks, strict=True):
        if len(y_block):
            model.partial_fit(X_block, y_block, classes=[0, 1, 2])
    best = RobustLinearSVC().fit(X, y)
    assert model.score(X, y) > 0.95 * best.score(X, y)
