"""The kernels that fit this machine's processor.

Every family of solvers keeps its kernels as Cython's pure Python in a folder ``native``.
They are compiled before they are shipped, into ``_native_baseline`` for any processor and
``_native_v3`` for x86-64 with AVX2 and FMA.  One of them is chosen when it is first asked
for.  The environment variable WDRSVM_CPU forces the choice: ``baseline``, ``v3``, or
``python`` for the uncompiled sources, which need Cython and are slow, but let coverage and
mutants see inside.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from typing import Any

VARIABLE = "WDRSVM_CPU"
VARIANTS = ("baseline", "v3", "python")


def _has_v3() -> bool:
    return bool(import_module("._cpu", __package__).has_v3())


@cache
def variant() -> str:
    """Which of the builds is used: that of the environment, else the best there is."""
    asked = os.environ.get(VARIABLE, "")
    if not asked:
        return "v3" if _has_v3() else "baseline"
    if asked not in VARIANTS:
        raise ValueError(
            f"{VARIABLE} must be one of {', '.join(VARIANTS)} or empty, got {asked!r}."
        )
    if asked == "v3" and not _has_v3():
        raise ValueError(
            f"{VARIABLE} must be baseline or python on this processor, got 'v3': "
            "it has no AVX2 and FMA."
        )
    return asked


def kernels(family: str) -> Any:
    """The kernels of a family of solvers, given by its package's name."""
    chosen = variant()
    name = "native" if chosen == "python" else f"_native_{chosen}"
    return import_module(f"{family}.{name}")
