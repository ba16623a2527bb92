"""Records that the first-order kernels read and write.

Rows of a design are stored as in a CSR matrix.  A dense one has no ``indices``: its rows
have all columns in their order, and tables that it is multiplied with are stored by class.
"""

from __future__ import annotations

import cython
import numpy as np

from ...runtime.kernel_names import (
    Codes,
    Flag,
    ReadCodes,
    ReadSmallCodes,
    ReadTable,
    ReadVector,
    Real,
    SmallCodes,
    Table,
    Vector,
)


@cython.cclass
class StoredRows:
    """A matrix by rows."""

    indptr: ReadCodes
    indices: ReadSmallCodes
    data: ReadVector
    dense: Flag

    def __init__(self, indptr, indices, data, is_dense):
        self.indptr, self.indices, self.data = indptr, indices, data
        self.dense = is_dense


@cython.cclass
class Price:
    """The price lam of the radius and what it follows, and the family of the loss.

    ``spent`` is the cost of the flips, ``pressure`` the sum of the norm's multipliers.
    ``centre`` and ``step`` are those of the proximal step.  ``response`` is the change of
    lam per unit of ``spent``.
    """

    lam = cython.declare(Real, visibility="public")
    spent = cython.declare(Real, visibility="public")
    pressure = cython.declare(Real, visibility="public")
    centre = cython.declare(Real, visibility="public")
    step = cython.declare(Real, visibility="public")
    radius = cython.declare(Real, visibility="public")
    response = cython.declare(Real, visibility="public")
    temperature = cython.declare(Real, visibility="public")
    margin = cython.declare(Real, visibility="public")

    def __init__(self, lam, radius, temperature=0.0, margin=1.0):
        self.lam, self.radius = lam, radius
        self.temperature, self.margin = temperature, margin
        self.spent, self.pressure = 0.0, radius
        self.centre, self.step, self.response = lam, 0.0, 0.0


@cython.cclass
class Samples:
    """All samples: designs, labels, flip costs (N or 0, C), the curvatures q and r of each
    row, its multipliers, and the table (E, C) of the free columns with its prox steps."""

    touch: StoredRows
    free: StoredRows
    y: ReadCodes
    cost: ReadTable
    touch_curvature: ReadVector
    free_curvature: ReadVector
    alpha: Table
    phi: Table
    beta: Table
    coef: Table
    steps: ReadVector

    def __init__(self, touch, free, y, cost, curvatures, duals, free_table):
        self.touch, self.free = StoredRows(*touch), StoredRows(*free)
        self.y, self.cost = y, cost
        self.touch_curvature, self.free_curvature = curvatures
        self.alpha, self.phi, self.beta = duals
        self.coef, self.steps = free_table


@cython.cclass
class RowWork:
    """Memory for settling one row.

    ``places`` are the best and the worst of labels, winners and flips, in that order.
    ``ends`` are the slopes that rise and fall with a move.  ``heights`` is the diagonal of
    the curvature of a smooth loss.  ``plain`` says that the metric of the norm is the unit
    matrix.  Each array is a field, because parts of one array might overlap for the
    compiler.
    """

    scores: Vector
    change: Vector
    image: Vector
    label: Vector
    flip: Vector
    fall: Vector
    places: Codes
    ends: Codes
    gain: Real
    unit_cost: Real
    mass: Real
    u: Vector
    masses: Vector
    before: Vector
    p: Vector
    other: Vector
    slopes: Vector
    moved: Vector
    residual: Vector
    trial: Vector
    heights: Vector
    total: Real
    plain: Flag
    curvature: Table
    system: Table
    factors: Table
    pivots: SmallCodes

    def __init__(self, n_classes, plain=False):
        self.plain = plain
        self.heights = np.zeros(n_classes)
        self.scores, self.change, self.image = np.zeros((3, n_classes))
        self.label, self.flip, self.fall = np.zeros((3, n_classes))
        self.u, self.masses, self.before = np.zeros((3, n_classes))
        self.p, self.other, self.slopes = np.zeros((3, n_classes))
        self.moved, self.residual, self.trial = np.zeros((3, n_classes))
        self.curvature, self.system, self.factors = np.zeros((3, n_classes, n_classes))
        self.places, self.ends = np.zeros(6, dtype=np.intp), np.zeros(4, dtype=np.intp)
        self.pivots = np.zeros(n_classes, dtype=np.intc)
