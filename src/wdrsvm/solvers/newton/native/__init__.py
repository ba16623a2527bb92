"""The Newton methods' kernels, and what Python may call; see ``runtime.native``."""

from .hinge_rows import soft_curvature, soft_multipliers, soften
from .piece_margins import piece_margins
from .smooth_loss_passes import (
    active_tangents,
    label_curvature,
    label_masses,
    soften_labels,
)
from .softmax_columns import soften_columns, soften_flips

__all__ = [
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
