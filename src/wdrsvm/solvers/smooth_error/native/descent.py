r"""Quasi-Newton descent on the smooth error.

Each step takes a direction of ``quasi_newton`` and looks for a length with

    S falls by a share of what its slope promises, and
    the slope at the end has become flatter.

S has kinks, where stricter conditions cannot be met.  So the search halves and doubles, and
takes the best length of a few trials.
"""

from __future__ import annotations

import cython
import numpy as np
from cython.cimports.libc.math import fabs, sqrt

from wdrsvm.solvers.descent_settings import DESCENT

from ...runtime.blas import check_signals
from ...runtime.kernel_names import (
    Count,
    Flag,
    Real,
    Small,
    Vector,
    interruptible,
    kernel,
)
from .quasi_newton import StepMemory, add_multiple, copy_into, dot
from .smooth_value import SmoothValue
from .soft_errors import NO_LIMIT

MAX_TRIALS = cython.declare(Count, DESCENT.soft_trials)
LEAST_FALL = cython.declare(Real, DESCENT.soft_least_fall)
FLATTER = cython.declare(Real, DESCENT.soft_flatter)
LEAST_SLOPE = cython.declare(Real, DESCENT.soft_least_slope)
NEGLIGIBLE = cython.declare(Real, DESCENT.soft_negligible)
MANY_SCORES = cython.declare(Count, DESCENT.soft_many_scores)


@cython.cclass
class ErrorDescent:
    """A descent on a smooth error, whose point and gradient are those of the last trial."""

    smooth: SmoothValue
    memory: StepMemory
    x: Vector
    gradient: Vector
    direction: Vector
    value: Real
    slope: Real
    length: Real
    trial_value: Real
    end_value: Real
    end_gradient: Vector

    def __init__(self, smooth: SmoothValue):
        size: Count = smooth.point.shape[0]
        self.smooth, self.memory = smooth, StepMemory(size)
        self.x, self.gradient, self.direction, self.end_gradient = np.zeros((4, size))

    def run(self, start: Vector, lam: Real, n_steps: Count):
        """The end of a descent of at most ``n_steps`` steps."""
        copy_into(self.x, start)
        self.direction[:] = 0.0
        self.smooth.lam = lam
        self.memory.forget()
        with cython.nogil:
            self.descend(n_steps)
        return np.array(self.x)

    @interruptible
    def descend(self, n_steps: Count) -> Small:
        self.evaluate(0.0)
        self.value = self.trial_value
        copy_into(self.gradient, self.smooth.gradient)
        while n_steps > 0 and not self.is_flat():
            n_steps -= 1
            self.choose_direction()
            self.search()
            if self.length > 0:
                if not self.take_step():
                    break
            elif self.memory.length == 0:
                break
            else:
                self.memory.forget()
        return 0

    @kernel
    def is_flat(self) -> Flag:
        i: Count
        for i in range(self.gradient.shape[0]):
            if not fabs(self.gradient[i]) <= LEAST_SLOPE:
                return False
        return True

    @kernel
    def choose_direction(self) -> None:
        self.memory.fill_direction(self.gradient, self.direction)
        self.slope = dot(self.gradient, self.direction)
        if not self.slope < 0:
            self.memory.forget()
            self.memory.fill_direction(self.gradient, self.direction)
            self.slope = dot(self.gradient, self.direction)

    @interruptible
    def search(self) -> Small:
        """Find the length of the step; 0 if no trial falls enough."""
        left: Count = MAX_TRIALS
        low: Real = 0.0
        high: Real = NO_LIMIT
        # The first direction has no scale.
        length: Real = 1.0 if self.memory.length else min(1.0, 1.0 / sqrt(-self.slope))
        self.length = 0.0
        while left > 0:
            left -= 1
            self.evaluate(length)
            if self.trial_value <= self.value + LEAST_FALL * length * self.slope:
                self.keep_trial(length)
                if dot(self.smooth.gradient, self.direction) >= FLATTER * self.slope:
                    break
                low = length
            else:
                high = length
            length = 2 * length if high == NO_LIMIT else (low + high) / 2
        return 0

    @interruptible
    def evaluate(self, length: Real) -> Small:
        """Try a length of the step."""
        if self.smooth.slopes.shape[0] * self.smooth.slopes.shape[1] > MANY_SCORES:
            check_signals()
        copy_into(self.smooth.point, self.x)
        add_multiple(self.smooth.point, length, self.direction)
        self.trial_value = self.smooth.value()
        return 0

    @kernel
    def keep_trial(self, length: Real) -> None:
        self.length, self.end_value = length, self.trial_value
        copy_into(self.end_gradient, self.smooth.gradient)

    @kernel
    def take_step(self) -> Flag:
        """Go to the end of the step; whether more than rounding was gained."""
        fall: Real = self.value - self.end_value
        self.memory.add(self.length, self.direction, self.gradient, self.end_gradient)
        add_multiple(self.x, self.length, self.direction)
        copy_into(self.gradient, self.end_gradient)
        self.value = self.end_value
        return fall > NEGLIGIBLE * max(fabs(self.value), 1.0)
