"""The content of a classifier's file or pickle: arrays and plain values.

Files contain no private classes, so that private classes may move and change.  A kernel and
a ball are stored as dicts of their parts.  A ball from a file is checked like any other
ball.  Pickles name a classifier by its public import path.
"""

from __future__ import annotations

import inspect
from dataclasses import fields
from importlib import import_module
from typing import Any

from ..kernels import Kernel
from ..problem import WassersteinBall

KERNEL = "_kernel"
BALLS = ("ball", "ball_")
PUBLIC = "wdrsvm"


class PlainStateMixin:
    """Pickles and model files that name public classes only, by their public path."""

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())  # type: ignore[call-overload]
        if isinstance(state.get(KERNEL), Kernel):
            state[KERNEL] = dict(vars(state[KERNEL]))
        for name in BALLS:
            if isinstance(state.get(name), WassersteinBall):
                state[name] = _parts_of(state[name])
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        kernel = state.get(KERNEL)
        if isinstance(kernel, dict):
            pairs = tuple((name, value) for name, value in kernel["parameters"])
            state = state | {KERNEL: Kernel(kernel["function"], pairs)}
        for name in BALLS:
            if isinstance(state.get(name), dict):
                state = state | {name: WassersteinBall(**state[name])}
        super().__setstate__(_defaults(type(self)) | state)  # type: ignore[misc]

    def __reduce_ex__(self, protocol: Any) -> Any:
        kind = type(self)
        if getattr(import_module(PUBLIC), kind.__name__, None) is not kind:
            return super().__reduce_ex__(protocol)
        return _blank, (kind.__name__,), self.__getstate__()


def _parts_of(ball: WassersteinBall) -> dict[str, Any]:
    parts = {each.name: getattr(ball, each.name) for each in fields(ball)}
    if ball.categorical is not None:
        # Groups have a class of their own.
        parts["categorical"] = [(columns, cost) for columns, cost in ball.categorical]
    return parts


def _defaults(kind: type) -> dict[str, Any]:
    """Default parameters, because files of older versions lack newer parameters."""
    parameters = inspect.signature(kind).parameters.values()
    return {each.name: each.default for each in parameters}


def _blank(name: str) -> Any:
    """A classifier of the class with this public name, still without attributes."""
    kind = getattr(import_module(PUBLIC), name)
    return kind.__new__(kind)


# Pickles name this function too, so it needs a path that does not change.
_blank.__module__ = PUBLIC
