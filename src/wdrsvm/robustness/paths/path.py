"""Paths: the optimal classifiers on a grid of radii and label costs, in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.parallel import Parallel, delayed

from ...inputs.arrays import check_kernel_ball
from ...problem import WassersteinBall
from .constant_points import constant_risks, is_as_good_as_constant
from .grids import checked_label_costs
from .lift import lift
from .parts import (
    Grid,
    RobustPath,
    collected,
    in_parallel,
    nominal_rows,
    problem_of,
    solved,
)

__all__ = ["RobustPath", "one_vs_rest_path", "robust_path"]


def robust_path(
    X: ArrayLike,
    y: ArrayLike,
    radii: int | ArrayLike = 10,
    label_costs: Any = (2.0, np.inf),
    *,
    norm: str = "l2",
    kernel: Any = "linear",
    gamma: Any = "scale",
    degree: int = 3,
    coef0: float = 1.0,
    kernel_params: dict[str, Any] | None = None,
    feature_cost: ArrayLike | None = None,
    support: tuple[ArrayLike, ArrayLike] | None = None,
    categorical: Sequence[tuple[ArrayLike, float]] | None = None,
    fit_intercept: bool = True,
    class_weight: dict[Any, float] | str | None = None,
    sample_weight: ArrayLike | None = None,
    label_trust: ArrayLike | None = None,
    solver: str = "auto",
    tol: float = 1e-6,
    n_jobs: int | None = None,
) -> RobustPath:
    """Optimal classifiers for all pairs of a radius and a label cost.

    Each is optimal to ``tol``, as if fitted alone; together they cost a fraction of that.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Features.
    y : array-like of shape (n_samples,)
        Labels.
    radii : int or array-like of shape (n_radii,), default=10
        Radii; a number asks for so many that descend from :func:`radius_max` to a
        thousandth of it, evenly in the logarithm.
    label_costs : sequence of label costs, default=(2.0, inf)
        Numbers, ``inf`` or matrices in the order of the labels.
    norm : {"l1", "l2", "linf"}, default="l2"
        Norm of the transport cost on features.
    kernel : {"linear", "rbf", "laplacian", "poly", "precomputed"} or callable, \
            default="linear"
        ``"linear"`` is linear in the features with a ball of any norm.  Others are as for
        :class:`RobustSVC`, with the ball in the space of the kernel.
    gamma, degree, coef0, kernel_params
        Parameters of the kernel, as for :class:`RobustSVC`.
    feature_cost, support, categorical
        Shape of the ball, as for :class:`WassersteinBall`.
    fit_intercept : bool, default=True
        Whether scores have an intercept.
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights, class by class.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    label_trust : array-like of shape (n_samples,), default=None
        Factors on the label cost, row by row.
    solver : str, default="auto"
        As for :class:`RobustLinearSVC`.
    tol : float, default=1e-6
        Relative duality gap at every point.
    n_jobs : int or None, default=None
        Groups of label costs that are solved at a time, through joblib.

    Returns
    -------
    RobustPath
        The classifiers.

    See Also
    --------
    RobustLinearSVCCV : Chooses among them by cross-validation.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import scale
    >>> from wdrsvm import robust_path
    >>> X, y = load_iris(return_X_y=True)
    >>> path = robust_path(scale(X), y, radii=[0.3, 0.1, 0.01], label_costs=[1.0, 2.0])
    >>> path.objective.round(2)
    array([[1.  , 0.85],
           [0.72, 0.52],
           [0.2 , 0.14]])
    """
    rows, classes = nominal_rows(X, y, class_weight, sample_weight, label_trust)
    n_samples, lifted = len(np.asarray(y)), None
    ball = WassersteinBall(0.0, np.inf, norm, feature_cost, support, categorical)
    if not (isinstance(kernel, str) and kernel == "linear"):
        check_kernel_ball(ball)
        parameters = {"gamma": gamma, "degree": degree, "coef0": coef0}
        lifted = lift(kernel, rows, n_samples, kernel_params=kernel_params, **parameters)
        rows = lifted.rows
    problem = problem_of(rows, ball, len(classes), fit_intercept)
    grid = Grid.of(problem, radii, label_costs)
    solve = partial(solved, solver=solver, tol=tol, of_kernel=lifted is not None)
    found = in_parallel(n_jobs, solve, problem, grid)
    path = collected(grid, found, classes)
    constant = constant_risks(problem, grid.radii.tolist(), grid.label_costs)
    path = replace(path, constant=is_as_good_as_constant(path.objective, constant))
    return path if lifted is None else lifted.on_samples(path, n_samples)


def one_vs_rest_path(
    X: ArrayLike,
    y: ArrayLike,
    radii: int | ArrayLike = 10,
    label_costs: Any = (2.0, np.inf),
    *,
    norm: str = "l2",
    feature_cost: ArrayLike | None = None,
    fit_intercept: bool = True,
    class_weight: dict[Any, float] | str | None = None,
    sample_weight: ArrayLike | None = None,
    label_trust: ArrayLike | None = None,
    solver: str = "auto",
    tol: float = 1e-6,
    n_jobs: int | None = None,
) -> RobustPath:
    """The machines of :class:`RobustOneVsRestSVC` for all pairs of radius and label cost.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Features.
    y : array-like of shape (n_samples,)
        Labels.
    radii : int or array-like of shape (n_radii,), default=10
        Radii, or how many that descend from the largest ``radius_max`` of the machines.
    label_costs : sequence of float, default=(2.0, inf)
        Label costs.
    norm, feature_cost, fit_intercept, class_weight, sample_weight, label_trust
        As for :func:`robust_path`.
    solver : str, default="auto"
        As for :class:`RobustLinearSVC`.
    tol : float, default=1e-6
        Relative duality gap of every machine at every point.
    n_jobs : int or None, default=None
        Machines that are trained at a time, through joblib.

    Returns
    -------
    RobustPath
        The machines' coefficients, one row a class; objectives and bounds have one more
        axis, of shape (n_radii, n_label_costs, n_classes).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import scale
    >>> from wdrsvm import one_vs_rest_path
    >>> X, y = load_iris(return_X_y=True)
    >>> path = one_vs_rest_path(scale(X), y, radii=[0.02], label_costs=[2.0])
    >>> path.objective.round(2)
    array([[[0.05, 0.61, 0.19]]])
    """
    rows, classes = nominal_rows(X, y, class_weight, sample_weight, label_trust)
    ball = WassersteinBall(0.0, np.inf, norm, feature_cost)
    costs = checked_label_costs(label_costs)
    if any(np.ndim(cost) for cost in costs):
        raise ValueError("label_costs must be numbers for one-vs-rest machines.")
    machines = [
        problem_of(
            replace(rows, y=(rows.y == code).astype(np.intp)), ball, 2, fit_intercept
        )
        for code in range(len(classes))
    ]
    grids = [Grid.of(problem, radii, costs) for problem in machines]
    grid = max(grids, key=lambda each: float(each.radii.max()))
    solve = delayed(partial(solved, solver=solver, tol=tol, of_kernel=False))
    parts = Parallel(n_jobs=n_jobs)(solve(machine, grid) for machine in machines)
    paths = [collected(grid, found, classes) for found in parts]
    return RobustPath(
        grid.radii,
        grid.label_costs,
        np.stack([path.coef[:, :, 1] - path.coef[:, :, 0] for path in paths], axis=2),
        np.stack([path.intercept @ [-1.0, 1.0] for path in paths], axis=2),
        np.stack([path.objective for path in paths], axis=2),
        np.stack([path.dual_bound for path in paths], axis=2),
        np.stack([path.lam for path in paths], axis=2),
        classes,
    )
