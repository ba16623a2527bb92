"""Sources of the first-order kernels, and what Python may call; see ``runtime.native``."""

from .l1 import settle_price
from .l2 import adapt_pairs_often, class_metric, pair_distances
from .l2_sweeps import sweep_pairs
from .linf import step_pairs
from .polar import flow_length, laplacian
from .records import Price, Samples, StoredRows
from .smooth_loss_ascent import settle_row
from .step_sizes import column_squares, row_squares
from .tables import newton_price, sweep_table

__all__ = [
    "Price",
    "Samples",
    "StoredRows",
    "adapt_pairs_often",
    "class_metric",
    "column_squares",
    "flow_length",
    "laplacian",
    "newton_price",
    "pair_distances",
    "row_squares",
    "settle_price",
    "settle_row",
    "step_pairs",
    "sweep_pairs",
    "sweep_table",
]
