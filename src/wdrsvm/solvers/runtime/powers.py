"""Powers and logarithms for uncompiled kernels; compiled kernels use ``powers.pyx``."""

from __future__ import annotations

import math


def single_power(x: float) -> float:
    """exp(x) for x between -80 and 0, in single precision."""
    return math.exp(x)


def log2_of(x: float) -> float:
    """The logarithm to base 2 of a positive number that is not subnormal."""
    return math.log2(x)


def power_of_two(t: float) -> float:
    """2^t for t between -1023, where it is 0, and a half."""
    return 0.0 if t <= -1022.5 else 2.0**t
