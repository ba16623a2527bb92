"""Properties that are computed once, without a lock.

Those of Python 3.11 share one lock among all objects.  A process that is forked while
another thread computes such a property would wait for that lock for ever.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")


class cached_property(Generic[Value]):  # noqa: N801 - as in functools
    """A property that is computed when it is first asked for, and kept.

    Threads that ask at the same time may both compute it; one of the values is kept.
    """

    def __init__(self, compute: Callable[[Any], Value]):
        self.compute, self.__doc__ = compute, compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> cached_property[Value]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...
    def __get__(
        self, instance: object | None, owner: type
    ) -> cached_property[Value] | Value:
        if instance is None:
            return self
        value: Value = vars(instance).setdefault(self.name, self.compute(instance))
        return value
