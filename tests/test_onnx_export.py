"""The graph gives the same labels and scores as the model."""

import sys

import numpy as np
import pytest

pytest.importorskip("skl2onnx")
pytest.importorskip("onnxruntime")

import onnxruntime
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import wdrsvm
from wdrsvm import to_onnx

X, codes = load_iris(return_X_y=True)
X, codes = X[::3], codes[::3]
NAMES = np.array(["setosa", "versicolor", "ünüsual"])
MODELS = [
    wdrsvm.RobustLinearSVC(),
    wdrsvm.RobustLinearSVCCV([0.1], [2.0], cv=2),
    wdrsvm.RobustLogisticRegression(),
    wdrsvm.RobustLogisticRegressionCV([0.1], [2.0], cv=2),
    wdrsvm.RobustSVC(),
    wdrsvm.RobustSVC(n_components=10),
    wdrsvm.RobustSVC(kernel="linear"),
    wdrsvm.RobustSVCCV([0.1], [2.0], cv=2),
]


def run(model, rows):
    session = onnxruntime.InferenceSession(
        to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": rows}), strict=True))


def assert_same(model, rows, given):
    expected = model.decision_function(rows)
    np.testing.assert_allclose(
        given["scores"], expected.reshape(len(rows), -1), rtol=1e-9, atol=1e-9
    )
    np.testing.assert_array_equal(given["label"], model.predict(rows))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: repr(model)[:30])
def test_labels_and_scores_are_the_same(model, n_classes):
    rows, labels = X[codes < n_classes], NAMES[codes[codes < n_classes]]
    fitted = make_pipeline(StandardScaler(), model).fit(rows, labels)
    given = run(fitted, rows)
    assert_same(fitted, rows, given)
    if hasattr(fitted, "predict_proba"):
        expected = fitted.predict_proba(rows)
        np.testing.assert_allclose(given["probabilities"], expected, atol=1e-9)


def test_labels_may_be_numbers_and_the_classifier_alone():
    model = wdrsvm.RobustLinearSVC().fit(X, codes * 10)
    given = run(model, X)
    assert given["label"].dtype == np.int64
    assert_same(model, X, given)


def test_missing_values_are_filled_in_by_the_graph():
    rows = X.copy()
    rows[0, 0] = np.nan
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    columns = ColumnTransformer([("numbers", numbers, [0, 2, 3])])
    model = make_pipeline(columns, wdrsvm.RobustLinearSVC()).fit(rows, NAMES[codes])
    assert_same(model, rows, run(model, rows))


def test_other_models_are_named():
    with pytest.raises(TypeError, match=r"end in one of .* got StandardScaler"):
        to_onnx(StandardScaler().fit(X))
    with pytest.raises(ValueError, match="kernel 'rbf' or 'linear', got 'poly'"):
        to_onnx(wdrsvm.RobustSVC(kernel="poly").fit(X, codes))


def named_pipeline(classifier):
    """As ``wdrsvm fit`` saves it: gaps filled in, texts one-hot, numbers standardised."""
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    texts = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="missing"),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    )
    chosen = [
        ("numbers", numbers, ["x0", "the second", "x2"]),
        ("categories", texts, ["colour", "size"]),
    ]
    return make_pipeline(ColumnTransformer(chosen), classifier)


def named_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["x0", "the second", "x2", "unused"])
    frame["colour"] = np.where(X[:, 1] > 3, "röd", "blue")
    frame["size"] = np.where(X[:, 2] > 4, "large", "small")
    frame.loc[[1, 5], "x2"] = np.nan
    frame.loc[[0, 7], "colour"] = np.nan
    return frame.astype({"colour": object, "size": object})


def test_frozen_transformers_are_exported():
    scaler = FrozenEstimator(StandardScaler().fit(X))
    model = make_pipeline(scaler, wdrsvm.RobustLinearSVC()).fit(X, NAMES[codes])
    assert_same(model, X, run(model, X))


def run_by_name(model, frame):
    session = onnxruntime.InferenceSession(
        to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    given = {}
    for each in session.get_inputs():
        column = frame[each.name]
        is_text = each.type == "tensor(string)"
        given[each.name] = (column.fillna("") if is_text else column).to_numpy()[:, None]
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, given), strict=True))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: repr(model)[:30])
def test_columns_are_inputs_where_they_are_chosen_by_name(model):
    frame, labels = named_frame(), NAMES[codes]
    fitted = named_pipeline(model).fit(frame, labels)
    new = frame.assign(colour=frame["colour"].replace("blue", "never seen"))
    for rows in (frame, new):
        assert_same(fitted, rows, run_by_name(fitted, rows))


@pytest.mark.parametrize("kind", ["object", "string"])
def test_mixed_tables_are_exported_with_flags_and_missing_values_as_texts(kind):
    frame, labels = named_frame().astype({"colour": kind}), NAMES[codes]
    frame["flag"] = X[:, 0] > 5
    encoder, groups, support = wdrsvm.mixed_table(frame)
    classifier = wdrsvm.RobustLinearSVC(norm="l1", categorical=groups, support=support)
    model = make_pipeline(encoder, classifier).fit(frame, labels)
    texts = frame.astype({"flag": str, "colour": object})
    assert_same(model, frame, run_by_name(model, texts))


def test_flags_without_missing_values_are_exported_as_numbers():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"flag": X[:, 0] > 5, "other": X[:, 1] > 3})
    flags = ColumnTransformer([("flags", OneHotEncoder(), ["flag", "other"])])
    model = make_pipeline(flags, wdrsvm.RobustLinearSVC()).fit(frame, NAMES[codes])
    assert_same(model, frame, run_by_name(model, frame.astype(float)))


def test_columns_by_name_and_by_number_are_not_mixed():
    chosen = [("a", StandardScaler(), ["x0"]), ("b", StandardScaler(), [2])]
    model = make_pipeline(ColumnTransformer(chosen), wdrsvm.RobustLinearSVC())
    model.fit(named_frame().fillna(0), codes)
    with pytest.raises(ValueError, match="all by name or all by number"):
        to_onnx(model)


def test_an_encoding_without_some_categories_is_refused():
    encoder = OneHotEncoder(drop="first", sparse_output=False)
    model = make_pipeline(
        ColumnTransformer([("texts", encoder, ["size"])]), wdrsvm.RobustLinearSVC()
    ).fit(named_frame(), codes)
    with pytest.raises(ValueError, match="one-hot encode all categories"):
        to_onnx(model)


def test_without_skl2onnx_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "skl2onnx", None)
    with pytest.raises(ImportError, match=r"wdrsvm\[onnx\]"):
        to_onnx(wdrsvm.RobustLinearSVC())
