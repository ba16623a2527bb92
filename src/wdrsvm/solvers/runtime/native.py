"""Choose the kernels for this machine's processor.

Every family of solvers has its kernels in a folder ``native``, in Cython's pure Python
mode.  An installation has two builds: ``_native_baseline`` for any processor, and
``_native_v3`` for x86-64 with AVX2 and FMA.  The choice is made at the first use.  The
environment variable WDRSVM_CPU forces it: ``baseline``, ``v3`` or ``python``.  The last one
runs the uncompiled sources.  It needs Cython and is slow, but tools for coverage and
mutation tests can follow it.
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
    """The name of the build: from the environment variable, else the fastest possible."""
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
    """The kernels of a family of solvers; ``family`` is the name of its package."""
    chosen = variant()
    name = "native" if chosen == "python" else f"_native_{chosen}"
    return import_module(f"{family}.{name}")
