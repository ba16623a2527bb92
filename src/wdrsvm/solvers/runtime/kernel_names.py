"""Short names for what kernels are made of: decorators and types.

The build spells them out as Cython's (``tools/native/join.py``); uncompiled they are plain
Python.  Arrays whose names begin with ``Read`` may be read-only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from ...arrays import Codes as Codes
from ...arrays import Floats

Function = TypeVar("Function", bound=Callable[..., Any])

Count: TypeAlias = int
Real: TypeAlias = float
Flag: TypeAlias = bool
Vector: TypeAlias = Floats
Table: TypeAlias = Floats
Cube: TypeAlias = Floats
Cubes: TypeAlias = Floats
ReadVector: TypeAlias = Floats
ReadTable: TypeAlias = Floats
ReadCube: TypeAlias = Floats
ReadCodes: TypeAlias = Codes
CodesTable: TypeAlias = Codes
Small: TypeAlias = Any
SmallCodes: TypeAlias = Any
ReadSmallCodes: TypeAlias = Any


def kernel(function: Function) -> Function:
    """A function of C, which runs without the interpreter's lock and raises nothing."""
    return function


def inner(function: Function) -> Function:
    """The same, to be set into its callers."""
    return function


def interruptible(function: Function) -> Function:
    """A kernel that may raise, an interrupt above all.  It returns ``Small``: nothing."""
    return function
