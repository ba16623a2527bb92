"""The linear system of a step in (coef, lam): the normal matrix, or a Python object."""

from __future__ import annotations

import cython
import numpy as np

from ...runtime.kernel_names import Count, Small, Vector, interruptible
from .cone import Cone
from .curvature import Curvature
from .linear_system import LinearSystem, fix_gauge
from .samples import SampleRows


@cython.cclass
class StepSystem:
    """A linear system.

    It is formed at a point whose rows and cone are prepared, and then solved a few times.
    """

    @interruptible
    def form(self) -> Small:
        return 0

    @interruptible
    def solve(self, rhs: Vector, out: Vector) -> Small:
        return 0


@cython.cclass
class DenseSystem(StepSystem):
    """The factorised normal matrix."""

    rows: SampleRows
    cone: Cone
    curvature: Curvature
    system: LinearSystem

    def __init__(self, columns, rows: SampleRows, cone: Cone):
        self.rows, self.cone = rows, cone
        self.curvature = Curvature(columns, rows.n_classes)
        self.system = LinearSystem(rows.n_classes * len(columns) + 1)

    @interruptible
    def form(self) -> Small:
        held: Count = self.cone.n_touchable if self.cone.fixes_gauge else 0
        self.curvature.find(
            self.rows.spring, self.rows.sums, self.rows.price, self.rows.label,
            self.rows.prices_differ,
        )  # fmt: skip
        self.curvature.gather(self.system.matrix)
        self.cone.add_curvature(self.system.matrix)
        fix_gauge(
            self.system.matrix, self.curvature.n_classes, self.curvature.n_columns, held
        )
        self.system.factorise()
        return 0

    @interruptible
    def solve(self, rhs: Vector, out: Vector) -> Small:
        self.system.solve(rhs, out)
        return 0


@cython.cclass
class GivenSystem(StepSystem):
    """A Python object with ``form()`` and ``solve(rhs)``."""

    given: object

    def __init__(self, given):
        self.given = given

    @interruptible
    def form(self) -> Small:
        with cython.gil:
            self.given.form()
        return 0

    @interruptible
    def solve(self, rhs: Vector, out: Vector) -> Small:
        with cython.gil:
            np.asarray(out)[:] = self.given.solve(np.asarray(rhs))
        return 0
