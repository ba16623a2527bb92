"""Where every classifier promises what a constant one does, the labels still rank."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from wdrsvm import RadiusWarning, RobustLinearSVC


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return scale(X), y


@pytest.mark.parametrize(
    ("radius", "label_cost"),
    [(1e6, 2.0), (3.0, 2.0), (10.0, np.inf), (0.05, 0.0)],
)
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_a_constant_optimum_leans_towards_the_nominal_classifier(
    wine, radius, label_cost, norm
):
    X, y = wine
    model = RobustLinearSVC(radius, label_cost, norm=norm)
    with pytest.warns(RadiusWarning):
        model.fit(X, y)
    assert model.score(X, y) > 0.95
    assert 0 <= model.duality_gap_ <= model.tol * model.objective_
    assert model.worst_case_risk(X, y) == pytest.approx(model.objective_, rel=1e-9)


def test_leaning_does_not_touch_what_is_no_tie(wine):
    X, y = wine
    model = RobustLinearSVC(0.05, 2.0).fit(X, y)
    assert model.objective_ < 0.9
    assert model.lambda_ > 0.1
