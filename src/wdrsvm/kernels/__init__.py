"""Kernels: Gram matrices, their feature factors, and their calmness."""

from .calmness import input_distance, lifted_radius
from .factor import Factor, factorise, nystroem
from .functions import Kernel, kernel_of

__all__ = [
    "Factor",
    "Kernel",
    "factorise",
    "input_distance",
    "kernel_of",
    "lifted_radius",
    "nystroem",
]
