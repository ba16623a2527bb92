"""Sources of the subgradient methods' kernels; see ``runtime.native``."""

from .active_pieces import active_pieces as active_pieces
from .active_pieces import count_pieces as count_pieces
