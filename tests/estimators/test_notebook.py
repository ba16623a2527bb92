"""Estimators in a notebook: scikit-learn's diagram, a link, and what the fit proves."""

import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

import wdrsvm
from wdrsvm import RobustConformalClassifier, RobustLinearSVC, RobustLinearSVCCV

X, y = load_iris(return_X_y=True)
X, y = scale(X)[::3], np.array(["<setosa>", "versicolor", "virginica"])[y][::3]
TABLE = "What the fit proves"


def shown(estimator):
    html = estimator._repr_html_()
    assert estimator._repr_mimebundle_()["text/html"].count(TABLE) == html.count(TABLE)
    return html


def test_the_diagram_stays_and_facts_come_after_the_fit():
    classifier = RobustLinearSVC(radius=0.123)
    assert TABLE not in shown(classifier)
    html = shown(classifier.fit(X, y))
    assert "sk-estimator" in html
    assert "0.123" in html
    assert html.count("<table><caption ") == 1
    assert f">{classifier.objective_:.4g}</td>" in html
    assert f">{classifier.duality_gap_:.4g}</td>" in html
    assert "worst_case_error(X, y) computes it" in html
    assert "&lt;setosa&gt;" in html


def test_a_fit_for_the_error_shows_the_error():
    classifier = RobustLinearSVC(radius=0.1, loss="ramp").fit(X, y)
    html = shown(classifier)
    tenths = np.ceil(round(1000 * classifier.worst_case_error_, 6)) / 10
    assert f"at most {tenths:g} %" in html
    assert "computes it" not in html


def test_a_search_shows_its_choice():
    search = RobustLinearSVCCV([0.01, 0.1], [2.0], cv=2).fit(X, y)
    told = f"radius {search.radius_:.4g}, label cost 2, mean score {search.best_score_:.4g}"
    assert told in shown(search)


def test_machines_one_vs_rest_show_the_largest_risk():
    classifier = wdrsvm.RobustOneVsRestSVC().fit(X, y)
    html = shown(classifier)
    assert f">{max(classifier.objective_):.4g}</td>" in html
    assert "of a machine" in html


def test_sets_show_their_promise():
    ball = wdrsvm.WassersteinBall(0.01)
    sets = RobustConformalClassifier(RobustLinearSVC(), 0.8, ball, random_state=0)
    assert TABLE not in shown(sets)
    assert sets.fit(X, y).sentence() in shown(sets)


def test_the_text_and_the_plain_display_are_those_of_scikit_learn():
    classifier = RobustLinearSVC(radius=0.2).fit(X, y)
    assert classifier._repr_mimebundle_()["text/plain"] == "RobustLinearSVC(radius=0.2)"
    with sklearn.config_context(display="text"):
        assert "text/html" not in classifier._repr_mimebundle_()
        assert not hasattr(classifier, "_repr_html_")


@pytest.mark.parametrize("name", ["RobustLinearSVC", "RobustSVCCV"])
def test_there_is_no_link_to_a_page_that_nobody_publishes(name):
    assert getattr(wdrsvm, name)()._get_doc_link() == ""


def test_steps_before_may_give_data_frames():
    pytest.importorskip("pandas")
    frame = load_iris(as_frame=True).data.iloc[::3]
    model = make_pipeline(StandardScaler(), RobustLinearSVC()).set_output(
        transform="pandas"
    )
    model.fit(frame, y)
    assert model[-1].feature_names_in_.tolist() == frame.columns.tolist()


def test_the_objective_of_a_fit_that_doubts_labels_is_called_no_risk():
    model = wdrsvm.RobustLogisticRegression(0.05, 1.0, label_noise="random").fit(X, y)
    html = model._repr_html_()
    assert "objective, with a price for labels not believed" in html
    assert "worst-case risk" not in html
    assert "proven to be within" not in html
