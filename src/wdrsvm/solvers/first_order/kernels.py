"""The compiled kernels of the first-order method, for the processor of this machine."""

from __future__ import annotations

from typing import Any

from ..runtime.native import kernels

_native = kernels(__package__)

# Records that the kernels read and write.
StoredRows: Any = _native.StoredRows
Price: Any = _native.Price
Samples: Any = _native.Samples
PlaceWork: Any = _native.PlaceWork

settle_row: Any = _native.settle_row
column_squares: Any = _native.column_squares
row_squares: Any = _native.row_squares

sweep_table: Any = _native.sweep_table
newton_price: Any = _native.newton_price
settle_price: Any = _native.settle_price

sweep_pairs: Any = _native.sweep_pairs
contested_classes: Any = _native.contested_classes
push_pairs: Any = _native.push_pairs
begin_places: Any = _native.begin_places
sweep_places: Any = _native.sweep_places
end_places: Any = _native.end_places
adapt_pairs_often: Any = _native.adapt_pairs_often
class_metric: Any = _native.class_metric
pair_distances: Any = _native.pair_distances
laplacian: Any = _native.laplacian
flow_length: Any = _native.flow_length

step_pairs: Any = _native.step_pairs
