"""Kernels: Gram matrices, the feature factors behind them, and how calm they are."""

from .calmness import lifted_radius
from .factor import Factor, factorise, nystroem
from .functions import Kernel, kernel_of

__all__ = ["Factor", "Kernel", "factorise", "kernel_of", "lifted_radius", "nystroem"]
