"""RobustSVC against the published kernel program, and against the linear model."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from wdrsvm import RobustLinearSVC, RobustSVC
from wdrsvm.kernels import kernel_of

from .kernel_program import published_optimum

KERNELS = [
    {"kernel": "rbf", "gamma": 0.5},
    {"kernel": "rbf", "gamma": 20.0},
    {"kernel": "laplacian", "gamma": 0.3},
    {"kernel": "poly", "gamma": 0.5, "degree": 2},
    {"kernel": "linear"},
]


def instance(seed):
    """Data and parameters that vary with the seed in every respect."""
    rng = np.random.default_rng(seed)
    n_classes = int(rng.integers(2, 5))
    n_rows = int(rng.integers(n_classes + 3, 20))
    y = np.r_[np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes)]
    X = rng.normal(size=(n_rows, int(rng.integers(1, 5)))) + 0.7 * y[:, None]
    if seed % 4 == 0:
        X[-3:] = X[0]  # a singular Gram matrix, perhaps with other labels
    weight = rng.exponential(size=n_rows) if seed % 3 == 0 else np.ones(n_rows)
    trust = rng.choice([0.5, 1.0, np.inf], n_rows) if seed % 5 == 0 else None
    cost = rng.choice([0.3, 2.0, np.inf])
    if seed % 3 == 1:
        cost = rng.uniform(0.2, 2.0, (n_classes, n_classes))
        cost[0, -1] = np.inf
        np.fill_diagonal(cost, 0.0)
    parameters = KERNELS[seed % len(KERNELS)] | {
        "radius": 10 ** rng.uniform(-3, -0.5),
        "label_cost": cost,
        "lipschitz": ("exact", "triangle")[seed % 2],
        "fit_intercept": bool(rng.integers(2)),
    }
    return X, y, weight, trust, parameters


def label_prices(cost, y, trust, n_classes):
    matrix = np.full((n_classes, n_classes), cost) if np.isscalar(cost) else cost
    trust = np.ones(len(y)) if trust is None else trust
    prices = np.where(np.isinf(trust)[:, None], np.inf, matrix[y])
    prices *= np.where(np.isinf(trust), 1.0, trust)[:, None]
    prices[np.arange(len(y)), y] = 0.0
    return prices


@pytest.mark.filterwarnings("ignore::wdrsvm.RadiusWarning")
@pytest.mark.parametrize("seed", range(80))
def test_the_objective_is_that_of_the_published_program(seed):
    X, y, weight, trust, parameters = instance(seed)
    model = RobustSVC(**parameters).fit(X, y, sample_weight=weight, label_trust=trust)
    names = {"gamma", "degree"} & parameters.keys()
    kernel = kernel_of(parameters["kernel"], **{name: parameters[name] for name in names})
    prices = label_prices(parameters["label_cost"], y, trust, len(model.classes_))
    optimum = published_optimum(
        kernel(X, X),
        y,
        weight / weight.sum(),
        parameters["radius"],
        prices,
        parameters["lipschitz"],
        parameters["fit_intercept"],
    )
    assert model.objective_ == pytest.approx(optimum, rel=1e-6, abs=1e-7)
    assert model.dual_bound_ <= optimum + 1e-7
    # The objective again, from the dual coefficients and the kernel alone.
    judged = model.worst_case_risk(X, y, weight, trust)
    assert judged == pytest.approx(model.objective_, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_the_triangle_bound_is_an_upper_bound(seed):
    X, y = make_classification(
        60, 4, n_informative=4, n_redundant=0, n_classes=4, n_clusters_per_class=1,
        class_sep=0.8, random_state=seed,
    )  # fmt: skip
    exact = RobustSVC(radius=0.02).fit(X, y)
    triangle = RobustSVC(radius=0.02, lipschitz="triangle").fit(X, y)
    assert triangle.objective_ >= exact.dual_bound_
    assert triangle.objective_ > exact.objective_


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("label_cost", [0.5, np.inf])
def test_the_linear_kernel_is_the_linear_model(fit_intercept, label_cost):
    X, y = make_classification(
        80, 5, n_informative=5, n_redundant=0, n_classes=3, random_state=0
    )
    shared = {"radius": 0.05, "label_cost": label_cost, "fit_intercept": fit_intercept}
    kernel = RobustSVC(kernel="linear", tol=1e-9, **shared).fit(X, y)
    linear = RobustLinearSVC(norm="l2", tol=1e-9, **shared).fit(X, y)
    assert kernel.objective_ == pytest.approx(linear.objective_, rel=2e-9)
    np.testing.assert_allclose(
        kernel.decision_function(X), linear.decision_function(X), atol=1e-3
    )


@pytest.mark.parametrize("solver", ["interior-point", "newton", "first-order", "clarabel"])
@pytest.mark.parametrize("lipschitz", ["exact", "triangle"])
def test_the_solvers_agree(solver, lipschitz):
    X, y = make_classification(
        40, 4, n_informative=4, n_redundant=0, n_classes=3, n_clusters_per_class=1,
        flip_y=0.1, random_state=1,
    )  # fmt: skip
    shared = {"radius": 0.03, "lipschitz": lipschitz}
    judge = RobustSVC(tol=1e-8, solver="interior-point", **shared).fit(X, y)
    model = RobustSVC(tol=1e-6, solver=solver, **shared).fit(X, y)
    assert model.solver_ == solver
    assert model.objective_ == pytest.approx(judge.objective_, rel=1.1e-6)
    assert model.dual_bound_ <= judge.objective_ + 1e-12
