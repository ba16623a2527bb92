"""The worst-case distribution for the share of wrong predictions attains its bound."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from wdrsvm import RobustSVC, WassersteinBall, worst_case_distribution, worst_case_error
from wdrsvm.robustness.promises import bounded_steps

from ..error_cases import NORMS, error_case, is_wrong, label_costs, weights_of
from ..test_bounded_steps import categorical_case

X, y = load_iris(return_X_y=True)
ORDER = {"l1": 1, "l2": 2, "linf": np.inf}


def cost_by_hand(case, found):
    """Transport cost of the atoms from the definition."""
    price = case.ball.feature_cost
    price = np.ones(case.X.shape[1]) if price is None else np.asarray(price)
    step = found.X - case.X[found.source]
    fixed = np.isinf(price)
    assert not step[:, fixed].any()
    moved = np.linalg.norm(step[:, ~fixed] * price[~fixed], ORDER[case.ball.norm], axis=1)
    flips = label_costs(case)[found.source, found.y]
    return found.weight @ (moved + flips)


@pytest.mark.parametrize("seed", range(120))
def test_it_attains_the_worst_case_error_within_the_budget(seed):
    case = error_case(seed)
    args = (case.classifier, case.X, case.y, case.ball)
    bound = worst_case_error(*args, **case.options)
    found = worst_case_distribution(*args, loss="zero-one", **case.options)
    scores = case.classifier.scores(found.X)
    wrong = [is_wrong(row, label) for row, label in zip(scores, found.y, strict=True)]
    assert found.supremum == pytest.approx(bound, abs=1e-12)
    assert found.risk == pytest.approx(found.weight @ wrong)
    assert bound - 1e-6 <= found.risk <= bound + 1e-12
    assert found.transport_cost == pytest.approx(cost_by_hand(case, found), abs=1e-12)
    assert found.transport_cost <= case.ball.radius
    mass = np.bincount(found.source, found.weight, len(case.y))
    np.testing.assert_allclose(mass, weights_of(case), atol=1e-12)
    assert (found.weight > 0).all()


def test_moved_rows_are_predicted_wrongly_without_ties():
    model = LogisticRegression(max_iter=1000).fit(X, y)
    found = worst_case_distribution(model, X, y, WassersteinBall(0.2), loss="zero-one")
    moved = found.kind == "moved"
    assert moved.sum() > 30
    assert (model.predict(found.X[moved]) != found.y[moved]).all()
    assert found.weight @ (model.predict(found.X) != found.y) == pytest.approx(found.risk)


@pytest.mark.parametrize("unit", [1e-4, 1e4])
def test_rows_move_as_far_whatever_the_unit_of_the_scores(unit):
    model = LogisticRegression(max_iter=1000).fit(X, y)
    ball = WassersteinBall(0.2)
    found = worst_case_distribution(model, X, y, ball, loss="zero-one")
    model.coef_, model.intercept_ = unit * model.coef_, unit * model.intercept_
    other = worst_case_distribution(model, X, y, ball, loss="zero-one")
    np.testing.assert_allclose(other.X, found.X, rtol=0.0, atol=1e-7)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("seed", range(4))
def test_it_stays_in_the_box_and_in_the_categories(norm, seed):
    model, rows, labels, ball = categorical_case(seed, norm=norm, walls=True)
    found = worst_case_distribution(model, rows, labels, ball, loss="zero-one")
    low, high = ball.support
    assert ((found.X >= low) & (found.X <= high)).all()
    for group in ball.groups(rows.shape[1]):
        block = found.X[:, group.columns]
        assert np.isin(block, (0.0, 1.0)).all()
        assert (block.sum(axis=1) == 1).all()
    assert found.supremum - 1e-6 <= found.risk <= found.supremum + 1e-12
    assert found.transport_cost <= ball.radius


def test_sparse_rows_stay_sparse_and_kernels_have_directions():
    model = LogisticRegression(max_iter=1000).fit(X, y)
    ball = WassersteinBall(0.1, 0.5)
    dense = worst_case_distribution(model, X, y, ball, loss="zero-one")
    thin = worst_case_distribution(model, sparse.csr_array(X), y, ball, loss="zero-one")
    assert sparse.issparse(thin.X)
    np.testing.assert_allclose(thin.X.toarray(), dense.X)
    kernel = RobustSVC().fit(X, y)
    found = worst_case_distribution(kernel, X, y, WassersteinBall(0.05), loss="zero-one")
    assert found.risk == pytest.approx(found.supremum, abs=1e-6)
    assert found.feature_names[0] == "direction0"


def test_too_many_categorical_features_are_refused(monkeypatch):
    monkeypatch.setattr(bounded_steps, "MAX_SWITCHES", 1)
    with pytest.raises(ValueError, match="categorical features that can switch, got 2"):
        worst_case_distribution(*categorical_case(0), loss="zero-one")


def test_other_losses_are_still_named_in_the_refusal():
    model = LogisticRegression(max_iter=1000).fit(X, y)
    with pytest.raises(ValueError, match="loss must be one of"):
        worst_case_distribution(model, X, y, WassersteinBall(0.1), loss="zero")
    ball = WassersteinBall(0.1)
    with pytest.raises(ValueError, match="tail_mass"):
        worst_case_distribution(model, X, y, ball, loss="zero-one", tail_mass=2.0)
