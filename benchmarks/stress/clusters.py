"""Clusters, from which the instances of all families are made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

NORMS = ("l1", "l2", "linf")
BOTH = (True, False)
Parts = Iterator[tuple[str, dict[str, Any]]]
Generator = np.random.Generator


def clusters(
    rng: Generator,
    n_rows: int = 40,
    n_features: int = 4,
    n_classes: int = 3,
    apart: float = 2.0,
) -> dict[str, Any]:
    """Clusters that overlap a little, all classes present."""
    y = rng.permutation(np.arange(n_rows) % n_classes).astype(np.intp)
    centres = apart * rng.normal(size=(n_classes, n_features))
    X = rng.normal(size=(n_rows, n_features)) + centres[y]
    return {"X": X, "y": y, "n_classes": n_classes}
