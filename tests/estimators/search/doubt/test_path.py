"""The fits of a grid that may disbelieve labels end where single fits do, or near."""

import numpy as np
import pytest
from sklearn.base import clone

from wdrsvm import RobustLinearSVC, RobustLogisticRegression, RobustSVC
from wdrsvm.datasets import flip_labels
from wdrsvm.estimators.search.doubt.path import doubting_points, fitted_like_folds
from wdrsvm.estimators.search.grid import SearchGrid
from wdrsvm.estimators.search.judges import GivenRows

from ...cases import CULTIVAR, WINE

WINE, LABELS = WINE[::2], flip_labels(CULTIVAR, 0.2, random_state=1)[::2]
GRID = SearchGrid(np.array([0.02, 0.2]), [0.5, np.inf, 1.0])
MODELS = (
    RobustLogisticRegression(label_noise="random", tol=1e-4),
    RobustLinearSVC(label_noise="random", tol=1e-4),
    RobustSVC(label_noise="random", tol=1e-4),
)


def path(model, wanted=None, trust=None, grid=GRID, X=WINE, y=LABELS):
    wanted = np.ones(len(grid.params), dtype=bool) if wanted is None else wanted
    rows = GivenRows(X, y, None, trust)
    return {point.place: point for point in doubting_points(model, rows, grid, wanted)}


@pytest.mark.filterwarnings("ignore::wdrsvm.DisbeliefWarning")
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_all_points_are_fitted_nearly_as_well_as_alone(model):
    some = np.arange(len(LABELS)) % 3 > 0
    X, y = WINE[some], LABELS[some]
    found = path(model, X=X, y=y)
    assert sorted(found) == list(range(len(GRID.params)))
    for place, (_, fitted, constant) in found.items():
        alone = clone(model).set_params(**GRID.params[place]).fit(X, y)
        assert fitted.get_params() == alone.get_params()
        assert fitted.objective_ == pytest.approx(alone.objective_, rel=0.25)
        if np.isinf(fitted.label_cost):
            assert fitted.objective_ <= constant * (1 + 1e-4)
            assert fitted.objective_ == pytest.approx(alone.objective_, rel=1e-4)
            assert np.array_equal(fitted.predict(X), alone.predict(X))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_the_fit_to_all_rows_takes_the_way_of_the_grid(model):
    """Also if a guard acts, which is no news to a search."""
    for place, (_, on_path, _) in path(model).items():
        fitted = clone(model).set_params(**GRID.params[place])
        fitted_like_folds(fitted, GivenRows(WINE, LABELS, None, None), GRID.label_costs)
        assert fitted.objective_ == pytest.approx(on_path.objective_, rel=0.05)
        assert np.mean(fitted.predict(WINE) == on_path.predict(WINE)) > 0.95
        assert np.isinf(fitted.label_cost) == (fitted.label_belief_ == 1).all()


def test_points_may_be_left_out():
    wanted = np.array([True, False, False, False, False, True])
    assert sorted(path(MODELS[0], wanted)) == [0, 5]


def test_verified_labels_are_believed():
    trusted = np.full(len(LABELS), np.inf)
    found = path(MODELS[0], trust=trusted)
    assert found[0].fitted.objective_ == pytest.approx(found[2].fitted.objective_, rel=1e-4)


def test_a_matrix_of_costs_is_placed_by_its_least_cost():
    matrix = np.full((3, 3), 1.0) - np.eye(3)
    grid = SearchGrid(np.array([0.05]), [matrix, 1.0])
    found = path(MODELS[0], grid=grid)
    assert found[0].fitted.objective_ == pytest.approx(found[1].fitted.objective_)
