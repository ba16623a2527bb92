"""The compiled kernels of the smooth error, for the processor of this machine."""

from __future__ import annotations

from typing import Any

from ..runtime.native import kernels

_native = kernels(__package__)

pair_rates: Any = _native.pair_rates
add_rate_slopes: Any = _native.add_rate_slopes
soft_errors: Any = _native.soft_errors
