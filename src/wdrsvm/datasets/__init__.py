"""Data of the paper's experiments: tables, the simulation, and functions that add noise."""

from .corruption import (
    add_feature_noise,
    flip_labels,
    flip_labels_by_class,
    make_imbalanced,
)
from .simulation import IMBALANCED_SHARES, make_simulation
from .tables import NAMES, fetch_ai4i, fetch_seeds, load, load_penguins

__all__ = [
    "IMBALANCED_SHARES",
    "NAMES",
    "add_feature_noise",
    "fetch_ai4i",
    "fetch_seeds",
    "flip_labels",
    "flip_labels_by_class",
    "load",
    "load_penguins",
    "make_imbalanced",
    "make_simulation",
]
