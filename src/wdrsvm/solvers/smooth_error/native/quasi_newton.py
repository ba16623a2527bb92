r"""Directions of the limited-memory BFGS method.

The last steps s_k and changes y_k of the gradient stand for the curvature.  A direction is
-H g, where H is the inverse curvature that they give to a multiple of the identity: the
two-loop recursion of Nocedal (1980).
"""

from __future__ import annotations

import cython
import numpy as np
from cython.cimports.libc.math import fabs

from wdrsvm.solvers.descent_settings import DESCENT

from ...runtime.kernel_names import Count, Real, Table, Vector, kernel

MEMORY = cython.declare(Count, DESCENT.soft_memory)
# A curvature below this share of the slope along the step is rounding.
LEAST_CURVATURE = cython.declare(Real, 2.2e-16)


@kernel
def dot(a: Vector, b: Vector) -> Real:
    i: Count
    total: Real = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@kernel
def copy_into(out: Vector, source: Vector) -> None:
    i: Count
    for i in range(out.shape[0]):
        out[i] = source[i]


@kernel
def add_multiple(out: Vector, factor: Real, other: Vector) -> None:
    """out += factor other."""
    i: Count
    for i in range(out.shape[0]):
        out[i] += factor * other[i]


@cython.cclass
class StepMemory:
    """The last steps, in a ring; ``last`` is the place of the newest."""

    step: Table
    change: Table
    curvature: Vector
    weight: Vector
    length: Count
    last: Count

    def __init__(self, size):
        self.step, self.change = np.zeros((2, MEMORY, size))
        self.curvature, self.weight = np.zeros((2, MEMORY))
        self.length, self.last = 0, -1

    @kernel
    def forget(self) -> None:
        self.length = 0

    @kernel
    def add(self, factor: Real, direction: Vector, old: Vector, new: Vector) -> None:
        """Keep a step of ``factor`` times the direction between two gradients.

        A step along which the slope does not rise is not kept.
        """
        i: Count
        k: Count = (self.last + 1) % MEMORY
        for i in range(direction.shape[0]):
            self.step[k, i] = factor * direction[i]
            self.change[k, i] = new[i] - old[i]
        self.curvature[k] = dot(self.step[k], self.change[k])
        if self.curvature[k] > LEAST_CURVATURE * fabs(dot(self.step[k], old)):
            self.last = k
            self.length = min(self.length + 1, MEMORY)

    @kernel
    def fill_direction(self, gradient: Vector, direction: Vector) -> None:
        """direction = -H gradient."""
        i: Count
        for i in range(gradient.shape[0]):
            direction[i] = -gradient[i]
        if self.length == 0:
            return
        self.look_back(direction)
        self.scale(direction)
        self.look_forward(direction)

    @kernel
    def look_back(self, direction: Vector) -> None:
        """From the newest step to the oldest."""
        i: Count
        k: Count
        for i in range(self.length):
            k = (self.last + MEMORY - i) % MEMORY
            self.weight[k] = dot(self.step[k], direction) / self.curvature[k]
            add_multiple(direction, -self.weight[k], self.change[k])

    @kernel
    def scale(self, direction: Vector) -> None:
        """Times the inverse curvature of the newest step."""
        i: Count
        k: Count = self.last
        scale: Real = self.curvature[k] / dot(self.change[k], self.change[k])
        for i in range(direction.shape[0]):
            direction[i] *= scale

    @kernel
    def look_forward(self, direction: Vector) -> None:
        """From the oldest step to the newest."""
        i: Count
        k: Count
        share: Real
        for i in range(self.length):
            k = (self.last + 1 + MEMORY - self.length + i) % MEMORY
            share = dot(self.change[k], direction) / self.curvature[k]
            add_multiple(direction, self.weight[k] - share, self.step[k])
