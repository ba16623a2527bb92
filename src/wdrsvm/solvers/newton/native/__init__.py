"""The Newton methods' kernels, and what Python may call; see ``runtime.native``."""

from .piece_margins import piece_margins
from .scored_rows import ScoredRows
from .smoothed_labels import (
    active_tangents,
    label_curvature,
    label_masses,
    soften_labels,
)
from .softmax_columns import soften_columns, soften_flips
from .softmax_pieces import soft_curvature, soft_multipliers, soften

__all__ = [
    "ScoredRows",
    "active_tangents",
    "label_curvature",
    "label_masses",
    "piece_margins",
    "soft_curvature",
    "soft_multipliers",
    "soften",
    "soften_columns",
    "soften_flips",
    "soften_labels",
]
