"""Sources of the subgradient methods' kernels; see ``runtime.native``."""

from .active_pieces import active_pieces, count_pieces

__all__ = ["active_pieces", "count_pieces"]
