"""Model files give the same model back, or one clear sentence."""

import json
import re
import sys
import zipfile

import numpy as np
import pytest

pytest.importorskip("skops.io")

from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import wdrsvm
from wdrsvm import load_model, model_files, save_model

from .fuzz.mutations import members, zipped

X, codes = load_iris(return_X_y=True)
X, codes = X[::5], codes[::5]
y = np.array(["setosa", "versicolor", "virginica"])[codes]
MODELS = [
    wdrsvm.RobustLinearSVC(),
    wdrsvm.RobustLinearSVC(norm="l1", feature_cost=[1, np.inf, 1, 1]),
    wdrsvm.RobustLinearSVCCV(radii=[0.1], label_costs=[2.0], cv=2),
    wdrsvm.RobustLinearSVCCV([0.1], [2.0], cv=2, scoring="balanced_accuracy"),
    wdrsvm.RobustLogisticRegression(),
    wdrsvm.RobustOneVsRestSVC(),
    wdrsvm.RobustSVC(),
    wdrsvm.RobustLogisticRegressionCV(radii=[0.1], label_costs=[2.0], cv=2),
    wdrsvm.RobustSVCCV(radii=[0.1], label_costs=[2.0], cv=2),
]


def pipeline(model):
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    columns = ColumnTransformer([("numbers", numbers, [0, 1, 2, 3])])
    return make_pipeline(columns, model).fit(X, y)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model"
    return save_model(pipeline(wdrsvm.RobustLinearSVC()), path).read_bytes()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model"


def resealed(parts):
    """The parts with a sum that is right, as a forger would give it."""
    parts = {name: part for name, part in parts.items() if name != model_files.ABOUT}
    return model_files._with_about(zipped(parts))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_loaded_model_is_the_same(model, path):
    before = pipeline(model)
    after = load_model(save_model(before, path))
    np.testing.assert_array_equal(after.decision_function(X), before.decision_function(X))
    np.testing.assert_array_equal(after.predict(X), before.predict(X))
    features = before[:-1].transform(X)
    risks = [each[-1].worst_case_risk(features, y) for each in (before, after)]
    assert risks[0] == risks[1]


def test_a_pipeline_of_texts_is_the_same(path):
    rows = np.array([["a", "b", None, "a"], [1, 2, 3, np.nan]], dtype=object).T
    columns = ColumnTransformer(
        [
            ("text", OneHotEncoder(handle_unknown="ignore"), [0]),
            ("numbers", SimpleImputer(), [1]),
        ]
    )
    before = make_pipeline(columns, wdrsvm.RobustLinearSVC()).fit(rows, [0, 1, 0, 1])
    after = load_model(save_model(before, path))
    np.testing.assert_array_equal(
        after.decision_function(rows), before.decision_function(rows)
    )


def test_a_file_of_another_model_is_replaced_whole(written, path):
    path.write_bytes(b"old")
    save_model(pipeline(wdrsvm.RobustLinearSVC()), path)
    assert [each.name for each in path.parent.iterdir()] == ["model"]
    assert load_model(path).predict(X[:1]) == ["setosa"]


def own_kernel(left, right):
    return left @ right.T


def test_functions_of_ones_own_are_not_saved(path):
    model = wdrsvm.RobustSVC(kernel=own_kernel).fit(X, y)
    with pytest.raises(ValueError, match=r"known types only.*own_kernel"):
        save_model(model, path)
    assert not path.exists()


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_a_truncated_file_is_refused(written, path, share):
    path.write_bytes(written[: int(share * len(written))])
    with pytest.raises(ValueError, match="cut short or changed"):
        load_model(path)


def test_a_changed_byte_is_noticed(written, path):
    place = written.index(b"RobustLinearSVC")
    path.write_bytes(written[:place] + b"x" + written[place + 1 :])
    with pytest.raises(ValueError, match="cut short or changed"):
        load_model(path)


def test_a_changed_member_is_noticed_though_the_archive_is_whole(written, path):
    parts = members(written)
    parts["schema.json"] = parts["schema.json"].replace(b"l2", b"l1")
    path.write_bytes(zipped(parts))
    with pytest.raises(ValueError, match="cut short or changed"):
        load_model(path)


def test_a_forged_type_is_not_built(written, path):
    parts = members(written)
    schema = parts["schema.json"].replace(b'"RobustLinearSVC"', b'"RobustPath"')
    path.write_bytes(resealed(parts | {"schema.json": schema}))
    with pytest.raises(ValueError, match=r"not trusted: wdrsvm.*RobustPath"):
        load_model(path)


@pytest.mark.parametrize("schema", [b"{}", b"[]", b"no json", b'{"protocol": 2}'])
def test_a_forged_schema_is_one_sentence(written, path, schema):
    path.write_bytes(resealed(members(written) | {"schema.json": schema}))
    with pytest.raises(ValueError, match=r"model file"):
        load_model(path)


def test_a_member_that_swells_is_not_read(written, path):
    parts = members(written) | {"large": bytes(10**7)}
    path.write_bytes(zipped(parts, zipfile.ZIP_DEFLATED))
    with pytest.raises(ValueError, match="cut short or changed"):
        load_model(path)


@pytest.mark.parametrize("version", ["99.0.0", "0.2.1", "0.10"])
def test_a_newer_version_is_named(written, path, version):
    parts = members(written)
    about = json.loads(parts[model_files.ABOUT]) | {"version": version}
    path.write_bytes(zipped(parts | {model_files.ABOUT: json.dumps(about)}))
    current = re.escape(wdrsvm.__version__)
    with pytest.raises(ValueError, match=f"wdrsvm {version}, this is {current}: install"):
        load_model(path)


def test_an_older_version_is_read(written, path):
    parts = members(written)
    about = json.loads(parts[model_files.ABOUT]) | {"version": "0.0.9"}
    path.write_bytes(zipped(parts | {model_files.ABOUT: json.dumps(about)}))
    assert load_model(path).predict(X[:1]) == ["setosa"]


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(FileNotFoundError, match="There is no model file"):
            load_model(path)


def test_without_skops_the_error_says_what_to_install(monkeypatch, path):
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(ImportError, match=r"wdrsvm\[cli\]"):
        save_model(wdrsvm.RobustLinearSVC(), path)
