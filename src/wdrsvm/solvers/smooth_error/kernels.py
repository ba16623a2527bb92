"""The compiled kernels of the smooth error, for the processor of this machine."""

from __future__ import annotations

from typing import Any

from ..runtime.native import kernels

_native = kernels(__package__)

ErrorRows: Any = _native.ErrorRows
SmoothValue: Any = _native.SmoothValue
ErrorDescent: Any = _native.ErrorDescent
