"""Names that a package imports at their first use, so that importing it is quick."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, namespace: dict[str, Any], homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package.

    ``homes`` has the names of each module, whose own name begins with a dot.  Every name
    is stored in the ``namespace`` of the package at its first use.
    """
    home = {name: module for module, names in homes.items() for name in names}

    def find(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        namespace[name] = getattr(import_module(home[name], package), name)
        return namespace[name]

    def listed() -> list[str]:
        return sorted({*namespace, *home})

    return find, listed
