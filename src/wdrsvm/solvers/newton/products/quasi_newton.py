"""A memory of steps and of how the gradient changed along them (limited-memory BFGS)."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy.linalg import get_blas_funcs

from ....arrays import Floats
from .. import kernels
from .settings import PRODUCTS


def add_multiple(what: Floats, to: Floats, factor: float) -> None:
    """to += factor what  without the product as an array of its own."""
    axpy = _AXPY[to.dtype.char]
    axpy(what.reshape(-1), to.reshape(-1), a=factor)


class Inverse(Protocol):
    """An inverse curvature that is easy to apply."""

    def __call__(self, gradient: Floats) -> Floats:
        """The inverse times the gradient (C, Q)."""

    def with_square(self, gradient: Floats, other: Floats) -> tuple[Floats, float]:
        """The inverse times a gradient, and <other, inverse other>."""


_AXPY = {char: get_blas_funcs("axpy", dtype=np.dtype(char)) for char in "fd"}


class Memory:
    """The last steps; the curvature of none may be negative."""

    def __init__(self, kind: Any = np.float64) -> None:
        """Steps are kept in numbers of ``kind``."""
        self.kind = kind
        # The rows in use, the oldest step first; a new step takes the place of the oldest.
        self.order: list[int] = []
        self.curved = np.empty(PRODUCTS.memory)
        self.steps = self.changes = np.empty((0, 0), kind)

    def add(self, step: Floats, change: Floats) -> None:
        curved = float(np.vdot(step, change))
        squares = float(np.vdot(step, step)) * float(np.vdot(change, change))
        if curved > PRODUCTS.least_cosine * squares**0.5:
            row = self._free_row(step.size)
            self.steps[row], self.changes[row] = step.reshape(-1), change.reshape(-1)
            self.curved[row] = curved

    def _free_row(self, size: int) -> int:
        if not len(self.steps):
            self.steps, self.changes = np.empty((2, PRODUCTS.memory, size), self.kind)
        n_kept = len(self.order)
        row = n_kept if n_kept < PRODUCTS.memory else self.order.pop(0)
        self.order.append(row)
        return row

    def forget(self) -> None:
        self.order.clear()

    def direction(self, gradient: Floats, precondition: Inverse) -> Floats:
        """Minus the approximate inverse curvature times the gradient."""
        rest = gradient.astype(self.kind).reshape(-1)
        order, shares = np.array(self.order, np.intp), np.empty(len(self.order))
        told = self.steps, self.changes, self.curved, order, shares
        if self.order:
            kernels.take_changes(rest, *told)
        found = self._preconditioned(rest.reshape(gradient.shape), precondition)
        found = np.ascontiguousarray(found).reshape(-1)
        if self.order:
            kernels.add_steps(found, *told)
        return np.asarray(-found.reshape(gradient.shape), dtype=gradient.dtype)

    def _preconditioned(self, rest: Floats, precondition: Inverse) -> Floats:
        """The preconditioned ``rest``, lengthened or shortened as the last step shows.

        The preconditioner is applied to one gradient at a time: products of a stack of
        matrices with two columns take several times as long as those with one.
        """
        if not self.order:
            return precondition(rest).astype(self.kind, copy=False)
        last = self.order[-1]
        change, curved = self.changes[last].reshape(rest.shape), float(self.curved[last])
        found, own = precondition.with_square(rest, change)
        found = found.astype(self.kind, copy=False)
        # Tiny changes may vanish in single precision.
        stretch = curved / own if own > 0 else 1.0
        return np.asarray(found * self.kind(min(PRODUCTS.max_stretch, stretch)))
