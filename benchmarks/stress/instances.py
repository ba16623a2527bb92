"""A training problem on purpose hard, as the solvers and as the estimators see it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wdrsvm import RobustLinearSVC, RobustLogisticRegression, RobustSVC
from wdrsvm.problem import LOSSES, Loss, RobustProblem, WassersteinBall

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

# Eigenvalues of a kernel matrix below this share of the largest are rounding.
KERNEL_RANK = 1e-15


@dataclass(frozen=True, eq=False)
class Instance:
    """Data, ball, loss and model; ``gamma`` is that of an rbf kernel, if there is one.

    ``refused`` marks data that an estimator has to refuse, such as one row alone.
    ``only`` names the contestants for which an instance is not too large; None is all.
    ``n_threads`` and ``n_processes`` are the numbers of those that fit the same rows at the
    same time: threads read-only arrays, processes memory-mapped files.
    """

    name: str
    family: str
    X: Floats
    y: Codes
    n_classes: int
    radius: float = 0.05
    label_cost: Any = 2.0
    norm: str = "l2"
    fit_intercept: bool = True
    feature_cost: Floats | None = None
    support: tuple[Floats, Floats] | None = None
    sample_weight: Floats | None = None
    label_trust: Floats | None = None
    loss: Loss = LOSSES["crammer-singer"]
    gamma: float | None = None
    lipschitz: str = "exact"
    refused: bool = False
    only: tuple[str, ...] | None = None
    n_threads: int = 1
    n_processes: int = 1

    @property
    def weight(self) -> Floats:
        """The nominal distribution."""
        given = np.ones(len(self.y)) if self.sample_weight is None else self.sample_weight
        largest = given / given.max()
        return np.asarray(largest / largest.sum())

    @cached_property
    def features(self) -> Floats:
        """What scores are linear in: X, or for a kernel a root of its matrix."""
        if self.gamma is None:
            return self.X
        square = ((self.X[:, None, :] - self.X[None]) ** 2).sum(axis=2)
        values, vectors = np.linalg.eigh(np.exp(-self.gamma * square))
        kept = values > KERNEL_RANK * values[-1]
        return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))

    def problem(self) -> RobustProblem:
        """As the solvers see it."""
        ball = WassersteinBall(
            self.radius, self.label_cost, self.norm, self.feature_cost, self.support
        )
        return RobustProblem.of(
            self.features,
            self.y,
            self.weight,
            ball,
            n_classes=self.n_classes,
            fit_intercept=self.fit_intercept,
            label_trust=self.label_trust,
            loss=self.loss,
            lipschitz=self.lipschitz,
        )

    def estimator(self) -> Any:
        """As a user would ask for it."""
        shared: dict[str, Any] = {"fit_intercept": self.fit_intercept}
        if self.gamma is not None:
            kernel = {"gamma": self.gamma, "lipschitz": self.lipschitz}
            return RobustSVC(self.radius, self.label_cost, **kernel, **shared)
        shared |= {"norm": self.norm, "feature_cost": self.feature_cost}
        if self.loss == LOSSES["logistic"]:
            return RobustLogisticRegression(self.radius, self.label_cost, **shared)
        own = {"smoothing": self.loss.temperature, "support": self.support}
        return RobustLinearSVC(self.radius, self.label_cost, **own, **shared)

    def classifier_of(self, model: Any) -> tuple[Floats, Floats]:
        """Coefficients, of a kernel the dual ones, and intercepts, one row a class."""
        coef = model.coef_ if self.gamma is None else model.dual_coef_
        intercept = np.broadcast_to(model.intercept_, len(coef))
        if self.n_classes > 2:
            return coef, intercept
        return np.vstack([-coef, coef]) / 2, np.append(-intercept, intercept) / 2
