"""Standard errors of differences, beside the spread over many samples of rows."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from wdrsvm import WassersteinBall, error_curve
from wdrsvm.report.model.chance import RowErrors, standard_errors

BALL = WassersteinBall(0.1)


def sample(seed, n_rows=300):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n_rows)
    return 1.2 * np.eye(3)[y] + rng.normal(size=(n_rows, 3)), y


def judged(classifier, X, y, ball=BALL):
    curve = error_curve(classifier, X, y, ball)
    wrong = classifier.predict(X) != y
    return curve, RowErrors.of(wrong, curve.rows.costs.cost, curve)


@pytest.mark.parametrize("radius", [0.0, 0.1])
def test_they_are_the_spread_over_samples(radius):
    ball = WassersteinBall(radius)
    models = [LogisticRegression(C=c).fit(*sample(0)) for c in (1e-3, 10.0)]
    differences, told = [], []
    for seed in range(1, 200):
        (curve, own), (other_curve, other) = (
            judged(model, *sample(seed), ball) for model in models
        )
        now = own.now.mean() - other.now.mean()
        differences.append((now, curve.at(radius) - other_curve.at(radius)))
        told.append(standard_errors(own, other))
    spread = np.std(differences, axis=0, ddof=1)
    np.testing.assert_allclose(np.mean(told, axis=0), spread, rtol=0.15)


def test_what_rows_count_sums_to_the_error():
    model = LogisticRegression().fit(*sample(0))
    curve, rows = judged(model, *sample(1))
    lam = (curve.at(0.1) - rows.moved.mean()) / 0.1
    assert rows.now.mean() == pytest.approx(curve.at(0.0))
    assert lam == pytest.approx((curve.at(0.1) - curve.at(0.0999)) / 1e-4, rel=0.05)


def test_equal_classifiers_do_not_differ_and_one_row_says_nothing():
    X, y = sample(0)
    _, rows = judged(LogisticRegression().fit(X, y), X, y)
    assert standard_errors(rows, rows) == (0.0, 0.0)
    one = RowErrors(rows.now[:1], rows.moved[:1])
    assert standard_errors(one, one) == (np.inf, np.inf)
