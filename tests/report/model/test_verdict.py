"""The verdict follows from the numbers, and the box names them all."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.preprocessing import scale

from wdrsvm import RobustLinearSVC, WassersteinBall
from wdrsvm.report.model.baselines import Baselines
from wdrsvm.report.model.promise import DEVIATIONS, LIFTED, Movement, Rates, promise_of
from wdrsvm.report.model.verdict import judgement_of, summary_of

X, y = load_iris(return_X_y=True)
X, y = scale(X), np.array(["setosa", "versicolor", "virginica"])[y]
MODEL = RobustLinearSVC().fit(X, y)


def promise(unit=DEVIATIONS):
    movement = Movement(WassersteinBall(0.1), unit)
    return promise_of(MODEL, X, y, Baselines.learned(X, y), movement)


PROMISE = promise()


@pytest.mark.parametrize(
    ("model", "logistic", "start", "good"),
    [
        ((0.1, 0.2), (0.2, 0.3), "Worth using", True),
        ((0.1, 0.2), (0.1, 0.3), "Worth using", True),
        ((0.1, 0.3), (0.2, 0.2), "Mixed", None),
        ((0.1, 0.2), (0.1, 0.2), "A draw", None),
        ((0.2, 0.3), (0.1, 0.2), "Use LogisticRegression instead", False),
        ((0.1, 0.7), (0.1, 0.2), "Right more often", None),
        ((0.7, 0.8), (0.1, 0.2), "Do not use this model", False),
        ((0.1, 0.2), None, "Worth using", True),
        # The page shows both as 20 %.
        ((0.1, 0.2), (0.1, 0.20004), "A draw", None),
    ],
)
def test_the_verdict_follows_from_the_rates(model, logistic, start, good):
    rival = None if logistic is None else Rates(*logistic)
    made = replace(PROMISE, rates=Rates(*model), logistic=rival, noise=Rates(0.0, 0.0))
    text, is_good = judgement_of(made)
    assert text.startswith(start)
    assert is_good is good
    assert text.count(".") == 1


@pytest.mark.parametrize(
    ("model", "logistic", "noise", "told"),
    [
        (
            (0.05, 0.207),
            (0.05, 0.206),
            (0.01, 0.01),
            "A draw: this model has about",
        ),
        ((0.05, 0.207), (0.05, 0.206), (0.01, 1e-4), "Mixed"),
        ((0.05, 0.2), (0.1, 0.3), (0.026, 0.049), "about as many errors now, and fewer"),
        ((0.1, 0.3), (0.05, 0.2), (0.026, 0.06), "A draw"),
        ((0.1, 0.3), (0.05, 0.2), (0.024, 0.04), "Use LogisticRegression instead"),
    ],
)
def test_differences_within_two_standard_errors_count_as_none(model, logistic, noise, told):
    rates = {"rates": model, "logistic": logistic, "noise": noise}
    made = replace(PROMISE, **{name: Rates(*each) for name, each in rates.items()})
    assert told in judgement_of(made).text


def test_a_promise_knows_how_much_is_chance():
    assert PROMISE.noise is not None
    assert 0 < PROMISE.noise.worst_case_error < 0.05
    assert promise(LIFTED).noise is None


def test_the_box_names_errors_classes_and_baselines():
    box = summary_of(PROMISE)
    wrong = 100 * (1 - MODEL.score(X, y))
    assert box.lines["wrong now"] == f"{wrong:.1f} % of these 150 rows"
    worst = MODEL.error_curve(X, y).at(0.1)
    assert f"at most {np.ceil(1000 * worst) / 10:g} %" in box.lines["wrong if rows move"]
    suffering = box.lines["classes that suffer most"]
    order = [suffering.index(name) for name in ("versicolor", "virginica", "setosa")]
    assert order == sorted(order)
    assert box.lines["always setosa"].startswith("66.7 %")
    assert "now, at most" in box.lines["LogisticRegression on the same rows"]


def test_what_promises_nothing_says_so():
    made = replace(PROMISE, rates=Rates(0.1, 1.0))
    assert summary_of(made).lines["wrong if rows move"].startswith("all may be wrong")


def test_without_logistic_regression_the_box_has_no_line_of_it():
    lines = summary_of(promise(LIFTED)).lines
    assert not any(name.startswith("LogisticRegression") for name in lines)
