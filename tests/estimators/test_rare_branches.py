"""What happens seldom: changed kernels, no weight left, searches that stop early."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from wdrsvm import (
    RobustLinearSVC,
    RobustLinearSVCCV,
    RobustOneVsRestSVC,
    certified_radius,
)

X, y = load_iris(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)


def test_coefficients_of_a_linear_fit_are_gone_after_one_with_a_kernel():
    model = RobustOneVsRestSVC(tol=1e-3).fit(X, y)
    assert model.coef_.shape == (3, 4)
    model.set_params(kernel="rbf").fit(X, y)
    assert not hasattr(model, "coef_")


def test_a_stream_needs_a_row_with_weight():
    model = RobustLinearSVC(class_weight={0: 0.0, 1: 1.0, 2: 1.0})
    with pytest.raises(ValueError, match="leave no row any weight"):
        model.partial_fit(X[y == 0], y[y == 0], classes=[0, 1, 2])


def test_categories_do_not_move_within_a_certified_radius():
    """The adversary switches categories at a price; distances are about the others."""
    rows = np.column_stack([X[:, :2], y == 0, y != 0]).astype(float)
    model = RobustLinearSVC(0.05, 2.0, categorical=[((2, 3), 1.0)]).fit(rows, y)
    expected = certified_radius(model, rows, "l2", np.array([1.0, 1.0, np.inf, np.inf]))
    np.testing.assert_allclose(model.certified_radius(rows), expected)


def test_a_search_tells_of_fits_that_stop_above_their_gap():
    search = RobustLinearSVCCV(radii=[0.1, 0.01], label_costs=[2.0], cv=2, max_iter=1)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        search.fit(X, y)
    said = [str(each.message) for each in given if each.category is ConvergenceWarning]
    assert any("fits of RobustLinearSVC stopped above tol" in text for text in said)
