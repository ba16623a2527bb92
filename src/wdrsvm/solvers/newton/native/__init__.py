"""The Newton methods' kernels, and what Python may call; see ``runtime.native``."""

from .flip_columns import count_flips as count_flips
from .flip_columns import find_spans as find_spans
from .flip_columns import highest_price as highest_price
from .flip_columns import soften_flips as soften_flips
from .pair_lengths import adapt_multipliers as adapt_multipliers
from .pair_lengths import add_pair_flows as add_pair_flows
from .pair_lengths import add_tied_weights as add_tied_weights
from .pair_lengths import pair_lengths as pair_lengths
from .pair_lengths import pull_long_pairs as pull_long_pairs
from .piece_margins import piece_margins as piece_margins
from .scored_rows import ScoredRows as ScoredRows
from .smoothed_labels import active_tangents as active_tangents
from .smoothed_labels import label_curvature as label_curvature
from .smoothed_labels import label_masses as label_masses
from .smoothed_labels import soften_labels as soften_labels
from .softmax_columns import soften_columns as soften_columns
from .softmax_pieces import soft_curvature as soft_curvature
from .softmax_pieces import soft_multipliers as soft_multipliers
from .softmax_pieces import soften as soften
from .softmax_singles import soften_singles as soften_singles
from .step_memory import add_steps as add_steps
from .step_memory import invert_each as invert_each
from .step_memory import take_changes as take_changes
