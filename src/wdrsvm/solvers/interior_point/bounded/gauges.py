r"""Changes of the coefficients that change no score, held fixed in a linear system.

The matrix of a step has no curvature along them, and the right-hand side has no part in
their directions.  Rounding fills both with noise.  Near the optimum, the noise of a
direction without curvature spoils the whole step.
"""

from __future__ import annotations

import numpy as np

from ....arrays import Floats
from ...cones.kernels import native
from .layout import BoundedLayout


def hold_gauges(matrix: Floats, layout: BoundedLayout, n_classes: int) -> None:
    """Add curvature for a shift of all classes by one vector, and for each class's shifts
    of one-hot columns against each other or against the intercept."""
    width = layout.n_shared
    for first in range(0, n_classes * width, width):
        of_class = slice(first, first + width)
        for shift in layout.shifts:
            stiffness = np.diag(matrix[of_class, of_class])[shift != 0].mean()
            matrix[of_class, of_class] += stiffness * np.outer(shift, shift)
    native.hold_gauge(matrix, n_classes, width, 0)
