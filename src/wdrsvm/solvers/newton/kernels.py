"""The compiled kernels of the Newton methods, for the processor of this machine."""

from __future__ import annotations

from typing import Any

from ..runtime.native import kernels

_native = kernels(__package__)

# The record of rows that the kernels read.
ScoredRows: Any = _native.ScoredRows

soften: Any = _native.soften
piece_margins: Any = _native.piece_margins
soft_curvature: Any = _native.soft_curvature
soft_multipliers: Any = _native.soft_multipliers
soften_labels: Any = _native.soften_labels
label_curvature: Any = _native.label_curvature
label_masses: Any = _native.label_masses
active_tangents: Any = _native.active_tangents
soften_columns: Any = _native.soften_columns
soften_singles: Any = _native.soften_singles
find_spans: Any = _native.find_spans
count_flips: Any = _native.count_flips
highest_price: Any = _native.highest_price
soften_flips: Any = _native.soften_flips
soften_single_flips: Any = _native.soften_single_flips
pair_lengths: Any = _native.pair_lengths
add_pair_flows: Any = _native.add_pair_flows
add_tied_weights: Any = _native.add_tied_weights
adapt_multipliers: Any = _native.adapt_multipliers
pull_long_pairs: Any = _native.pull_long_pairs
fill_distances: Any = _native.fill_distances
fill_mean_slopes: Any = _native.fill_mean_slopes
learn_shares: Any = _native.learn_shares
power_mean: Any = _native.power_mean
fill_paces: Any = _native.fill_paces
fill_pulls: Any = _native.fill_pulls
move_on: Any = _native.move_on
raise_forces: Any = _native.raise_forces
add_by_label: Any = _native.add_by_label
take_changes: Any = _native.take_changes
add_steps: Any = _native.add_steps
invert_each: Any = _native.invert_each
