"""Powers of e for uncompiled kernels; compiled kernels use ``powers.pyx``."""

from __future__ import annotations

import math


def single_power(x: float) -> float:
    """exp(x) for x between -80 and 0, in single precision."""
    return math.exp(x)
