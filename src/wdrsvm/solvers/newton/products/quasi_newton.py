"""A memory of steps and of how the gradient changed along them (limited-memory BFGS)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import get_blas_funcs

from ....arrays import Floats
from .settings import PRODUCTS


def add_multiple(what: Floats, to: Floats, factor: float) -> None:
    """to += factor what  without the product as an array of its own."""
    axpy = _AXPY[to.dtype.char]
    axpy(what.reshape(-1), to.reshape(-1), a=factor)


_AXPY = {char: get_blas_funcs("axpy", dtype=np.dtype(char)) for char in "fd"}


class Memory:
    """The last steps; the curvature of none may be negative."""

    def __init__(self, kind: Any = np.float64) -> None:
        """Steps are kept in numbers of ``kind``."""
        self.kind = kind
        self.steps: deque[tuple[Floats, Floats, float]] = deque(maxlen=PRODUCTS.memory)

    def add(self, step: Floats, change: Floats) -> None:
        curved = float(np.vdot(step, change))
        squares = float(np.vdot(step, step)) * float(np.vdot(change, change))
        if curved > PRODUCTS.least_cosine * squares**0.5:
            lines = (line.astype(self.kind).reshape(-1) for line in (step, change))
            self.steps.append((*lines, curved))  # type: ignore[arg-type]

    def forget(self) -> None:
        self.steps.clear()

    def direction(
        self, gradient: Floats, precondition: Callable[[Floats], Floats]
    ) -> Floats:
        """Minus the approximate inverse curvature times the gradient."""
        rest, shares = gradient.astype(self.kind).reshape(-1), []
        add = _AXPY[rest.dtype.char]
        for step, change, curved in reversed(self.steps):
            share = float(np.dot(step, rest)) / curved
            shares.append(share)
            add(change, rest, a=-share)
        found = self._preconditioned(rest.reshape(gradient.shape), precondition)
        found = np.ascontiguousarray(found).reshape(-1)
        for (step, change, curved), share in zip(self.steps, reversed(shares), strict=True):
            add(step, found, a=share - float(np.dot(change, found)) / curved)
        return np.asarray(-found.reshape(gradient.shape), dtype=gradient.dtype)

    def _preconditioned(
        self, rest: Floats, precondition: Callable[[Floats], Floats]
    ) -> Floats:
        """The preconditioned ``rest``, lengthened or shortened as the last step shows."""
        if not self.steps:
            return precondition(rest).astype(self.kind, copy=False)
        _, change, curved = self.steps[-1]
        change = change.reshape(rest.shape)
        both = precondition(np.array([rest, change])).astype(self.kind, copy=False)
        own = float(np.vdot(change, both[1]))
        # Tiny changes may vanish in single precision.
        stretch = curved / own if own > 0 else 1.0
        return np.asarray(both[0] * self.kind(min(PRODUCTS.max_stretch, stretch)))
