"""Each flag is raised by what it names, and by nothing else."""

import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from wdrsvm import RobustLinearSVC, RobustLinearSVCCV
from wdrsvm.report.model.flags import flags_of
from wdrsvm.report.model.promise import Rates
from wdrsvm.report.model.reported import reported_model

pd = pytest.importorskip("pandas")
X, y = load_wine(return_X_y=True, as_frame=True)
X, y = X.iloc[::2, :6], np.array(["barolo", "grignolino", "barbera"])[y][::2]


def flags(classifier, X=X, y=y, radius=0.05, train=None):
    model = make_pipeline(StandardScaler(), classifier)
    model.fit(*((X, y) if train is None else train))
    return flags_of(reported_model(model, X, y, None, radius))


def test_a_sound_model_has_only_labels_to_check():
    assert set(flags(RobustLinearSVC(0.02))) <= {"Labels that look wrong"}


@pytest.mark.parametrize(
    ("radii", "word"), [([0.01, 3.0, 4.0], "smaller"), ([1e-6, 2e-6, 0.01], "larger")]
)
def test_a_radius_at_the_edge_of_the_grid(radii, word):
    found = flags(RobustLinearSVCCV(radii, [np.inf], cv=2))
    assert f"Try {word} ones" in found["Radius at the edge of the grid"]


def test_a_radius_inside_the_grid_is_no_flag():
    search = RobustLinearSVCCV([1e-7, 0.03, 5.0], [np.inf], cv=3)
    model = make_pipeline(StandardScaler(), search).fit(X, y)
    search.radius_ = 0.03
    found = flags_of(reported_model(model, X, y, None, 0.05))
    assert "Radius at the edge of the grid" not in found
    single = flags(RobustLinearSVCCV([0.03], [np.inf], cv=2))
    assert "Radius at the edge of the grid" not in single


def test_a_class_that_is_never_recognised():
    rare = np.flatnonzero(y == "barbera")[:3]
    kept = np.r_[np.flatnonzero(y != "barbera"), rare]
    labels = y[kept].copy()
    rows = X.iloc[kept].reset_index(drop=True)
    # The rare class looks like another one.
    rows.iloc[-3:] = X.iloc[:3].to_numpy()
    found = flags(RobustLinearSVC(0.1), rows, labels)
    assert "barbera (3 rows)" in found["Classes that are never recognised"]
    assert "--balanced" in found["Classes that are never recognised"]


def test_a_promise_that_is_empty():
    found = flags(RobustLinearSVC(0.02), radius=3.0)
    assert "always answering grignolino" in found["The promise is empty"]
    (reach,) = re.findall(r"up to a movement of ([\d.]+)\. ", found["The promise is empty"])
    within = float(reach)
    assert "The promise is empty" not in flags(RobustLinearSVC(0.02), radius=within)
    assert "The promise is empty" in flags(RobustLinearSVC(0.02), radius=1.1 * within)
    assert "--withstand" in found["The promise is empty"]


def test_a_class_without_a_promise():
    model = make_pipeline(StandardScaler(), RobustLinearSVC(0.02)).fit(X, y)
    reported = reported_model(model, X, y, None, 0.001)
    promise = reported.promise
    lost = {**promise.by_class, "barbera": Rates(0.1, 1.0)}
    made = replace(promise, by_class=lost, rates=Rates(0.1, 0.2))
    found = flags_of(replace(reported, promise=made))
    assert found["Classes without a promise"].startswith("barbera: all rows")
    assert "The promise is empty" not in found


def test_columns_that_look_like_identifiers():
    rows = X.assign(sample_id=np.random.default_rng(0).permutation(len(X)))
    found = flags(RobustLinearSVC(0.02), rows)
    assert found["Columns that look like identifiers"].startswith("sample_id.")


def test_labels_that_look_wrong_are_counted():
    wrong = y.copy()
    wrong[0] = "barbera"
    (told,) = [
        text
        for name, text in flags(RobustLinearSVC(0.02), y=wrong).items()
        if name == "Labels that look wrong"
    ]
    assert f"of {len(y)} labels look" in told
