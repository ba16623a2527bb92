"""The kernels of the subgradient methods, in the build for this processor."""

from __future__ import annotations

from typing import Any

from ..runtime.native import kernels

_native = kernels(__package__)

active_pieces: Any = _native.active_pieces
count_pieces: Any = _native.count_pieces
