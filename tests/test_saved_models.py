"""Model files outlive the modules that wrote them."""

import copy
import importlib.util
import json
import pickle
import pickletools
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("skops.io")

from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import wdrsvm
from wdrsvm import load_model, model_files, save_model

from .fuzz.mutations import members, zipped

FOLDER = Path(__file__).parent / "data_models"
ARCHIVES = sorted(FOLDER.glob("*.zip"))
FORMER = [
    (path, name) for path in ARCHIVES for name in sorted(zipfile.ZipFile(path).namelist())
]
_spec = importlib.util.spec_from_file_location("make_models", FOLDER / "make.py")
make = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(make)
PUBLIC_CLASSES = {
    name for name in wdrsvm.__all__ if isinstance(getattr(wdrsvm, name), type)
}


@pytest.fixture(scope="module")
def models():
    return make.models()


@pytest.fixture(params=[*FORMER], ids=lambda case: f"{case[0].stem}-{case[1]}")
def former(request, tmp_path):
    path, name = request.param
    (tmp_path / name).write_bytes(zipfile.ZipFile(path).read(name))
    return tmp_path / name, np.load(path.with_suffix(".npz"))[name.removesuffix(".wdrsvm")]


def test_there_are_files_of_every_kind(models):
    assert {name.removesuffix(".wdrsvm") for _, name in FORMER} == set(models)
    kinds = {type(model).__name__ for model in models.values()}
    fitted = {name for name in PUBLIC_CLASSES if hasattr(getattr(wdrsvm, name), "fit")}
    # Version 0.1.0 could not save sets and tables; other tests do.
    assert fitted - {"RobustConformalClassifier", "CategoryValues"} <= kinds
    assert sum(path.stat().st_size for path in FOLDER.iterdir() if path.is_file()) < 200_000


def test_a_file_of_an_earlier_version_gives_the_same_scores(former):
    path, scores = former
    model = load_model(path)
    np.testing.assert_allclose(
        model.decision_function(make.rows_for(path.name)), scores, rtol=1e-12, atol=1e-12
    )


def test_a_stream_of_an_earlier_version_goes_on(models, tmp_path):
    path, name = next(each for each in FORMER if each[1].startswith("stream"))
    (tmp_path / name).write_bytes(zipfile.ZipFile(path).read(name))
    found = load_model(tmp_path / name).partial_fit(make.X, make.Y)
    known = copy.deepcopy(models["stream"]).partial_fit(make.X, make.Y)
    assert found.n_iter_ == known.n_iter_ > 2
    np.testing.assert_allclose(found.coef_, known.coef_, rtol=1e-9)


def names_in(path):
    """Module and class of all that a file names."""
    schema = json.loads(zipfile.ZipFile(path).read("schema.json"))
    waiting, found = [schema], set()
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            waiting += part.values()
            if "__module__" in part:
                found.add((part["__module__"], part["__class__"]))
        elif isinstance(part, list):
            waiting += part
    return found


def test_a_file_names_no_private_module(models, tmp_path):
    for name, model in models.items():
        path = save_model(model, tmp_path / name)
        ours = {each for each in names_in(path) if each[0].startswith("wdrsvm")}
        assert ours
        assert {module for module, _ in ours} == {"wdrsvm"}
        assert {kind for _, kind in ours} <= PUBLIC_CLASSES
        schema = zipfile.ZipFile(path).read("schema.json").decode()
        assert "wdrsvm." not in schema


def test_a_new_file_is_read(models, tmp_path):
    for name, model in models.items():
        rows = make.rows_for(name)
        found = load_model(save_model(model, tmp_path / name))
        np.testing.assert_array_equal(
            found.decision_function(rows), model.decision_function(rows)
        )


def test_a_pickle_names_public_places_only(models):
    for name, model in models.items():
        content = pickle.dumps(model)
        texts = [str(given) for _, given, _ in pickletools.genops(content)]
        assert not [each for each in texts if re.match(r"wdrsvm\.", each)]
        rows = make.rows_for(name)
        np.testing.assert_array_equal(
            pickle.loads(content).decision_function(rows), model.decision_function(rows)
        )


BALLS = [
    wdrsvm.WassersteinBall(0.02, label_cost=make.COSTS, norm="l1"),
    wdrsvm.WassersteinBall(0.02, feature_cost=[1, 2, np.inf, 1], support=(-9.0, [9.0] * 4)),
    wdrsvm.WassersteinBall(0.02, categorical=[([0, 1], 2.0)]),
]
ONE_HOT = np.column_stack([make.X[:, 0] > 0, make.X[:, 0] <= 0, make.X[:, 2:]])


@pytest.mark.parametrize("ball", BALLS, ids=["labels", "box", "categories"])
@pytest.mark.parametrize("cv", [None, 2])
def test_sets_are_saved_with_their_ball(ball, cv, tmp_path):
    model = make_pipeline(SimpleImputer(), LogisticRegression())
    given = {"coverage": 0.6, "ball": ball, "random_state": 0}
    sets = wdrsvm.RobustConformalClassifier(model, cv=cv, **given).fit(ONE_HOT, make.Y)
    path = save_model(sets, tmp_path / "sets")
    assert {each for each in names_in(path) if each[0].startswith("wdrsvm")} == {
        ("wdrsvm", "RobustConformalClassifier")
    }
    for found in (load_model(path), pickle.loads(pickle.dumps(sets))):
        np.testing.assert_array_equal(found.predict_set(ONE_HOT), sets.predict_set(ONE_HOT))
        assert found.sentence() == sets.sentence()
        for name in ("ball", "ball_"):
            assert repr(getattr(found, name)) == repr(getattr(sets, name))
        assert found.fit(ONE_HOT, make.Y).sentence() == sets.sentence()
        if cv is None:
            coverage = sets.worst_case_coverage(ONE_HOT, make.Y)
            assert found.worst_case_coverage(ONE_HOT, make.Y) == coverage


def test_sets_without_a_ball_of_their_own_are_saved(tmp_path):
    model = wdrsvm.RobustLinearSVC(radius=0.01).fit(make.X, make.Y)
    sets = wdrsvm.RobustConformalClassifier(model, 0.6, cv="prefit").fit(make.X, make.Y)
    found = load_model(save_model(sets, tmp_path / "sets"))
    assert found.ball is None
    np.testing.assert_array_equal(found.predict_set(make.X), sets.predict_set(make.X))


def test_a_forged_ball_is_refused(tmp_path):
    ball = wdrsvm.WassersteinBall(0.015625)
    sets = wdrsvm.RobustConformalClassifier(wdrsvm.RobustLinearSVC(), 0.6, ball=ball)
    parts = members(save_model(sets, tmp_path / "sets").read_bytes())
    del parts[model_files.ABOUT]
    parts["schema.json"] = parts["schema.json"].replace(b"0.015625", b"-0.015625")
    (tmp_path / "forged").write_bytes(model_files._with_about(zipped(parts)))
    with pytest.raises(ValueError, match=r"damaged model file: .*radius"):
        load_model(tmp_path / "forged")


class OfAUser(wdrsvm.RobustSVC):
    """A class that is not in the package, of the same name as none there."""


def test_a_subclass_is_pickled_and_copied_as_itself():
    model = OfAUser().fit(make.X, make.Y)
    for found in (copy.copy(model), copy.deepcopy(model)):
        assert type(found) is OfAUser
        np.testing.assert_array_equal(found.predict(make.X), model.predict(make.X))


SCORINGS = ["roc_auc_ovr", "roc_auc_ovo_weighted", "matthews_corrcoef", "f1_weighted"]


@pytest.mark.parametrize("scoring", [*SCORINGS, "top_k_accuracy", "jaccard_macro"])
def test_a_search_by_any_named_scorer_is_saved(scoring, tmp_path):
    search = wdrsvm.RobustLogisticRegressionCV([0.01], [2.0], cv=2, scoring=scoring)
    search.fit(make.X, make.Y)
    found = load_model(save_model(search, tmp_path / "search"))
    assert found.score(make.X, make.Y) == search.score(make.X, make.Y)


def test_all_named_scorers_are_known(tmp_path):
    from sklearn.metrics import get_scorer, get_scorer_names

    model = wdrsvm.RobustLinearSVC().fit(make.X, make.Y)
    for name in get_scorer_names():
        model.scorer_ = get_scorer(name)
        found = load_model(save_model(model, tmp_path / name)).scorer_
        assert found._score_func is get_scorer(name)._score_func
