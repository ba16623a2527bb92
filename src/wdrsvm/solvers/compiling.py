"""The compiler's decorator: with a cache where there is a place for one, else without."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit


def cached_njit(**options: Any) -> Callable[[Any], Any]:
    """Numba's decorator, which keeps what it compiled for the next process if it can.

    It refuses to decorate where neither the package's folder nor the user's can be written
    to: there a function is compiled anew in every process.
    """

    def decorated(function: Any) -> Any:
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError:
            return njit(**options)(function)

    return decorated
