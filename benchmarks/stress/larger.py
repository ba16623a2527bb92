"""Families at the sizes and scales of real tables: what users met first."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

from .clusters import NORMS, Generator, Parts, clusters

# The program of the judges has a row per pair of classes: these sizes are beyond them, and
# beyond methods that go over the rows hundreds of times.
SECOND_ORDER = ("auto", "newton")
# By the end of an instance's name.
WORKERS = {"": {"n_threads": 4}, "-processes": {"n_processes": 2}}


def scaled_boxes(rng: Generator) -> Parts:
    """Boxes around features of sizes up to 1000, with radii in these units."""
    for scale, radius, label_cost in product(
        (100.0, 1e3), (1.0, 50.0, 500.0), (2.0, np.inf)
    ):
        data = clusters(rng, 25, 3, 3) | {"norm": "l1", "label_cost": label_cost}
        data["X"] = scale * data["X"]
        support = data["X"].min(axis=0) - 1.0, data["X"].max(axis=0) + scale
        own = {"support": support, "radius": radius}
        yield f"{scale:g}-{radius:g}-{label_cost:g}", data | own


def hundreds_of_classes(rng: Generator) -> Parts:
    """As many classes as rows, or half as many."""
    for norm, label_cost, n_rows in product(NORMS, (2.0, np.inf), (100, 200)):
        data = clusters(rng, n_rows, 10, 100, apart=2.0)
        own = {"norm": norm, "label_cost": label_cost, "only": SECOND_ORDER}
        yield f"{norm}-{label_cost:g}-{n_rows}-rows", data | own


def very_wide(rng: Generator) -> Parts:
    """A hundred columns per row."""
    for norm, label_cost in product(NORMS, (2.0, np.inf)):
        data = clusters(rng, 30, 3000, 3, apart=0.1)
        own = {"norm": norm, "label_cost": label_cost, "only": ("auto",)}
        yield f"{norm}-{label_cost:g}", data | own


def constant_optima(rng: Generator) -> Parts:
    """A million rows of noise, for which the best classifier is constant."""
    for label_cost in (2.0, np.inf):
        X = rng.normal(size=(1_000_000, 2))
        y = rng.integers(0, 3, size=len(X)).astype(np.intp)
        own = {"label_cost": label_cost, "only": SECOND_ORDER}
        yield f"{label_cost:g}", {"X": X, "y": y, "n_classes": 3} | own


def shared_inputs(rng: Generator) -> Parts:
    """Read-only rows that four threads fit at the same time, or two processes."""
    for workers, norm, label_cost in product(WORKERS, NORMS, (2.0, np.inf)):
        data = clusters(rng, 120, 6, 4)
        own = {"norm": norm, "label_cost": label_cost, "only": ("auto",)}
        yield f"{norm}-{label_cost:g}{workers}", data | own | WORKERS[workers]


LARGER: dict[str, Callable[[Generator], Parts]] = {
    "boxes of other scales": scaled_boxes,
    "hundreds of classes": hundreds_of_classes,
    "very wide": very_wide,
    "constant optima": constant_optima,
    "shared inputs": shared_inputs,
}
