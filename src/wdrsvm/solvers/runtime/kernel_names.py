"""Short names for the decorators and types of kernels.

The build replaces them by Cython's names (``tools/native/join.py``).  In uncompiled code
they are plain Python.  Arrays of types whose names begin with ``Read`` may be read-only.  A
function with an ``Either`` is compiled twice, in double and in single precision.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from ...arrays import Codes as Codes
from ...arrays import Floats, Singles

Function = TypeVar("Function", bound=Callable[..., Any])

Count: TypeAlias = int
Real: TypeAlias = float
Single: TypeAlias = float
Either: TypeAlias = float
Flag: TypeAlias = bool
Vector: TypeAlias = Floats
Table: TypeAlias = Floats
Cube: TypeAlias = Floats
Cubes: TypeAlias = Floats
ReadVector: TypeAlias = Floats
ReadTable: TypeAlias = Floats
ReadCube: TypeAlias = Floats
ReadCodes: TypeAlias = Codes
SingleVector: TypeAlias = Singles
SingleTable: TypeAlias = Singles
ReadSingleTable: TypeAlias = Singles
EitherVector: TypeAlias = Floats
EitherTable: TypeAlias = Floats
ReadEitherTable: TypeAlias = Floats
CodesTable: TypeAlias = Codes
Small: TypeAlias = Any
SmallCodes: TypeAlias = Any
ReadSmallCodes: TypeAlias = Any


def kernel(function: Function) -> Function:
    """A C function, which runs without the interpreter's lock and raises no error."""
    return function


def inner(function: Function) -> Function:
    """A kernel that is inlined into its callers."""
    return function


def interruptible(function: Function) -> Function:
    """A kernel that may raise an error, such as an interrupt.

    Its return type is ``Small``, and its value has no meaning.
    """
    return function
