"""Quasi-Newton steps that may know how much the norm holds each coefficient."""

from __future__ import annotations

from typing import Any

import numpy as np

from .....arrays import Floats
from .....problem import RobustProblem
from ..choice import single_flip_cost
from ..curvature.heavy_rows import HeavyRows
from ..curvature.preconditioner import ClassCurvature, Preconditioner
from ..settings import PRODUCTS
from ..steps import Descent
from .curvature import AxisCurvature, ClassMatrix


class HeldDescent(Descent):
    """Steps that may know how much the norm holds each coefficient."""

    matrix: ClassMatrix
    # How the curvature is told where steps know what is held.
    held_curvature: type[AxisCurvature] = AxisCurvature

    def __init__(self, *told: Any, knows_entries: bool = False, **more: Any):
        self.knows_entries = knows_entries
        if knows_entries:
            self.curvature_kind = self.held_curvature
        super().__init__(*told, **more)

    @property
    def held(self) -> Floats:
        """How much the norm holds each touchable coefficient (C, T)."""
        raise NotImplementedError

    @property
    def held_along(self) -> Floats:
        """Rows (C, R, T) along which the norm holds each class beside that."""
        return np.zeros((len(self.coef), 0, self.n_touchable))

    def _preconditioner(
        self, heavy: HeavyRows | None, curvature: ClassCurvature | None = None
    ) -> Preconditioner:
        if not self.knows_entries:
            return super()._preconditioner(heavy, curvature)
        assert isinstance(self.curvature, AxisCurvature)
        self.matrix = self.curvature.matrix(self.design.kind, heavy)
        return self._stiffened()

    def hold(self) -> None:
        """Let the preconditioner follow what the norm holds at the point."""
        if self.knows_entries:
            self.precondition = self._stiffened()

    def _stiffened(self) -> Preconditioner:
        stiffness = self._with_free(self.radius * self.held)
        along = self._with_free(np.sqrt(self.radius) * self.held_along)
        return Preconditioner(None, self.matrix.inverse(stiffness, along))

    def _with_free(self, rows: Floats) -> Floats:
        """Rows (..., T) with zeros for the columns that the norm leaves free."""
        n_free = self.coef.shape[1] - self.n_touchable
        return np.concatenate([rows, np.zeros((*rows.shape[:-1], n_free))], axis=-1)


def knows_entries(problem: RobustProblem, n_columns: int) -> bool:
    """Whether steps should know how much the norm holds each coefficient.

    A pass over the rows must take longer than what this needs.  With l1 the first principal
    axes must tell most of the rows; with linf the model of the loss, which needs no pass,
    makes up for the others.  Flips of labels change what the norm holds.
    """
    n_classes, n_rows = problem.n_classes, problem.n_rows
    trusted = single_flip_cost(problem) == np.inf
    is_wide = problem.norm != "linf" and n_columns > PRODUCTS.most_columns * n_classes
    enough = n_rows >= PRODUCTS.model_rows * (n_classes + 50)
    work = n_rows * n_classes * n_columns
    return trusted and enough and not is_wide and work >= PRODUCTS.least_work
