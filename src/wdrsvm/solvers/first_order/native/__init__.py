"""Sources of the first-order kernels, and what Python may call; see ``runtime.native``."""

from .l1 import settle_price
from .l2 import class_metric, pair_distances, press_on, sweep_pairs
from .l2_blocks import sweep_blocks
from .linf import flow_cost, step_pairs
from .polar import flow_length, laplacian
from .records import Design, Price, Samples
from .smooth_loss_rows import settle_row
from .step_sizes import column_squares, row_squares
from .tables import newton_price, sweep_table

__all__ = [
    "Design",
    "Price",
    "Samples",
    "class_metric",
    "column_squares",
    "flow_cost",
    "flow_length",
    "laplacian",
    "newton_price",
    "pair_distances",
    "press_on",
    "row_squares",
    "settle_price",
    "settle_row",
    "step_pairs",
    "sweep_blocks",
    "sweep_pairs",
    "sweep_table",
]
