"""Parts of a path: the grid, its parallel solution, the collected result."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_consistent_length

from ...arrays import Flags, Floats, Labels
from ...inputs.arrays import (
    checked_features,
    checked_flag,
    checked_trust,
    checked_weight,
    label_codes,
    nominal_weight,
    observed_classes,
)
from ...problem import RobustProblem, WassersteinBall, canonical_rows
from ...problem.rounding.last_digits import with_sums_of_zero
from ...rows.blocks import scores_of
from ...rows.canonical import NominalRows
from ...solvers import SolverResult, SolverSettings, SolverStatus
from ..notebook import html_result, html_table, told_cost
from .grids import checked_label_costs, checked_radii, radii_below
from .plane import solve_plane


@dataclass(frozen=True, eq=False, repr=False)
class RobustPath:
    """Optimal classifiers on a grid, with their certificates.

    Attributes
    ----------
    radii : ndarray of shape (n_radii,)
        Radii.
    label_costs : list
        Label costs, numbers or matrices.
    coef : ndarray of shape (n_radii, n_label_costs, n_classes, n_features)
        Coefficients, one row per class; for a kernel path, those of the training rows.
    intercept : ndarray of shape (n_radii, n_label_costs, n_classes)
        Intercepts.
    objective : ndarray of shape (n_radii, n_label_costs)
        Worst-case risks; of a one-vs-rest path with one more axis for the classes.
    dual_bound : ndarray, shaped like ``objective``
        Lower bounds of the least possible ones.
    lam : ndarray, shaped like ``objective``
        Worst-case risk that the last unit of budget adds.
    classes : ndarray of shape (n_classes,)
        Labels.
    constant : ndarray of bool of shape (n_radii, n_label_costs) or None
        Whether a worst-case risk is within 1 % of the best constant classifier's; None
        for a one-vs-rest path.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from wdrsvm import robust_path
    >>> X, y = load_iris(return_X_y=True)
    >>> path = robust_path(X, y, radii=[0.01, 0.1], label_costs=[2.0])
    >>> (path.predict(X) == y).mean(axis=2).round(2)
    array([[0.98],
           [0.94]])
    """

    radii: Floats
    label_costs: list[Any]
    coef: Floats
    intercept: Floats
    objective: Floats
    dual_bound: Floats
    lam: Floats
    classes: Labels
    constant: Flags | None = None

    def decision_function(self, X: ArrayLike) -> Floats:
        """Scores of every classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features; for a kernel path, kernel values with the training rows.

        Returns
        -------
        ndarray of shape (n_radii, n_label_costs, n_samples, n_classes)
            The scores.
        """
        shape, features = self.intercept.shape, checked_features(X)
        flat = scores_of(
            features, self.coef.reshape(-1, self.coef.shape[-1]), self.intercept.ravel()
        )
        return np.moveaxis(flat.reshape(-1, *shape), 0, 2)

    def predict(self, X: ArrayLike) -> Labels:
        """Predictions of every classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features; for a kernel path, kernel values with the training rows.

        Returns
        -------
        ndarray of shape (n_radii, n_label_costs, n_samples)
            Labels.
        """
        return np.asarray(self.classes[self.decision_function(X).argmax(axis=-1)])

    def flipped_labels(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        norm: str = "l2",
        feature_cost: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        label_trust: ArrayLike | None = None,
    ) -> Floats:
        """How many labels the adversary changes in the worst case of each classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels, each one of ``classes``.
        norm, feature_cost
            Shape of the ball, as for :class:`WassersteinBall`.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        label_trust : array-like of shape (n_samples,), default=None
            Factors on the label cost, row by row.

        Returns
        -------
        ndarray of shape (n_radii, n_label_costs)
            Numbers of labels, not whole where only part of a row's mass is changed, or
            where rows have weights.
        """
        features, codes = checked_features(X), label_codes(y, self.classes)
        weight = checked_weight(sample_weight, len(codes))
        trust = checked_trust(label_trust, len(codes))
        flipped = np.empty(self.objective.shape[:2])
        for i, j in np.ndindex(*flipped.shape):
            radius, cost = float(self.radii[i]), self.label_costs[j]
            ball = WassersteinBall(radius, cost, norm, feature_cost)
            problem = RobustProblem.of(
                features,
                codes,
                weight / weight.sum(),
                ball,
                n_classes=len(self.classes),
                label_trust=trust,
            )
            mass = flipped_mass(problem, self.coef[i, j], self.intercept[i, j])
            flipped[i, j] = mass * len(codes)
        return flipped

    def __repr__(self) -> str:
        radii = f"{self.radii.min():.3g} to {self.radii.max():.3g}"
        costs = ", ".join(map(told_cost, self.label_costs))
        risks = f"{self.objective.min():.3g} to {self.objective.max():.3g}"
        gap = float((self.objective - self.dual_bound).max())
        return (
            f"RobustPath({len(self.radii)} radii from {radii}, label costs {costs}, "
            f"{len(self.classes)} classes; worst-case risks {risks}, largest gap {gap:.1g})"
        )

    def _repr_html_(self) -> str:
        header = ["radius", *(f"label cost {told_cost(c)}" for c in self.label_costs)]
        # A one-vs-rest path has one risk for each class: the largest is shown.
        risks = self.objective.reshape(*self.objective.shape[:2], -1).max(axis=2)
        rows = np.column_stack([self.radii, risks]).tolist()
        return html_result(self, html_table("Worst-case risks", header, rows))


def flipped_mass(problem: RobustProblem, coef: Floats, intercept: Floats) -> float:
    """The mass whose label the worst case changes."""
    choices = problem.flip_choices(coef, intercept)
    bought = problem.spend(choices.flips, coef)
    share = np.zeros(problem.n_rows)
    share[choices.label != problem.y] = 1.0
    rows = choices.flips.row[bought.flips]
    np.maximum.at(share, rows, bought.share)
    return float(problem.weight @ share)


class Grid(NamedTuple):
    radii: Floats
    label_costs: list[Any]

    @classmethod
    def of(cls, problem: RobustProblem, radii: Any, label_costs: Any) -> Grid:
        costs, given = checked_label_costs(label_costs), checked_radii(radii)
        if isinstance(given, int):
            given = radii_below(problem, given, costs)
        return cls(given, costs)


Found = dict[tuple[int, int], SolverResult]


def nominal_rows(
    X: ArrayLike, y: ArrayLike, class_weight: Any, sample_weight: Any, label_trust: Any
) -> tuple[NominalRows, Labels]:
    features = checked_features(X)
    classes, codes = observed_classes(y)
    check_consistent_length(features, codes)
    weight = nominal_weight(sample_weight, class_weight, classes, codes)
    trust = checked_trust(label_trust, len(codes))
    return canonical_rows(features, codes, weight, trust), classes


def problem_of(
    rows: NominalRows, ball: WassersteinBall, n_classes: int, fit_intercept: bool
) -> RobustProblem:
    return RobustProblem(
        rows, ball, n_classes, checked_flag(fit_intercept, "fit_intercept")
    )


def solved(
    problem: RobustProblem, grid: Grid, solver: str, tol: float, of_kernel: bool
) -> Found:
    settings = SolverSettings(tol=tol)
    return solve_plane(
        problem, list(grid.radii), grid.label_costs, solver, settings, of_kernel
    )


def in_parallel(
    n_jobs: int | None, solve: Any, problem: RobustProblem, grid: Grid
) -> Found:
    """Solve groups of neighbouring label costs, whose solutions start each other."""
    parallel = Parallel(n_jobs=n_jobs)
    n_groups = min(len(grid.label_costs), max(parallel._effective_n_jobs(), 1))
    order = sorted(range(len(grid.label_costs)), key=lambda j: _price(grid.label_costs[j]))
    groups = [group.tolist() for group in np.array_split(order, n_groups)]
    parts: list[Found] = parallel(
        delayed(solve)(problem, Grid(grid.radii, [grid.label_costs[j] for j in group]))
        for group in groups
    )
    return {
        (i, group[k]): result
        for group, part in zip(groups, parts, strict=True)
        for (i, k), result in part.items()
    }


def _price(label_cost: Any) -> float:
    return float(label_cost) if np.ndim(label_cost) == 0 else np.inf


def collected(grid: Grid, found: Found, classes: Labels) -> RobustPath:
    _warn_about_gaps(found)
    shape = (len(grid.radii), len(grid.label_costs))
    results = [found[key] for key in np.ndindex(*shape)]
    # One vector added to all rows changes nothing.
    centred = [with_sums_of_zero(each.coef, each.intercept) for each in results]
    coef, intercept = (np.stack(part) for part in zip(*centred, strict=True))
    certificates = np.array([each.certificate for each in results])
    objective, dual_bound, lam = certificates.reshape(*shape, 3).transpose(2, 0, 1)
    return RobustPath(
        grid.radii,
        grid.label_costs,
        coef.reshape(*shape, *coef.shape[1:]),
        intercept.reshape(*shape, -1),
        objective,
        dual_bound,
        lam,
        classes,
    )


def _warn_about_gaps(found: Found) -> None:
    failed = [each for each in found.values() if each.status is not SolverStatus.CONVERGED]
    if failed:
        worst = max(each.certificate.relative_gap for each in failed)
        warnings.warn(
            f"{len(failed)} of {len(found)} points of the path stopped at a relative "
            f"duality gap of up to {worst:.1e}. Raise tol or standardise the features.",
            ConvergenceWarning,
            stacklevel=4,
        )
