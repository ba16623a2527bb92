"""The instances, family by family; each is made by its own seed and never changes."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from itertools import product

import numpy as np

from wdrsvm.problem import LOSSES, Loss

from .clusters import BOTH, NORMS, Generator, Parts, clusters
from .instances import Instance
from .larger import LARGER


def units(rng: Generator) -> Parts:
    """All features in other units, the ball with them or not."""
    for norm, power in product(NORMS, (-12, -6, 6, 12)):
        data = clusters(rng)
        unit = 10.0**power
        data["X"] = data["X"] * unit
        own = {"radius": 0.05 * unit, "label_cost": 2.0 * unit}
        yield f"{norm}-1e{power}", data | {"norm": norm} | own
        yield f"{norm}-1e{power}-ball-not", data | {"norm": norm}


def column_units(rng: Generator) -> Parts:
    """Columns of very different sizes."""
    for norm, intercept, reach in product(NORMS, BOTH, (3, 6, 12)):
        data = clusters(rng)
        data["X"] = data["X"] * np.logspace(-reach, reach, 4)
        name = f"{norm}-1e{reach}-{'' if intercept else 'no-'}intercept"
        yield name, data | {"norm": norm, "fit_intercept": intercept}


def offsets(rng: Generator) -> Parts:
    """Columns far from zero."""
    for norm, power in product(NORMS, (3, 6, 9, 12)):
        data = clusters(rng)
        data["X"] = data["X"] + 10.0**power * rng.normal(size=4)
        yield f"{norm}-1e{power}", data | {"norm": norm}


def collinear(rng: Generator) -> Parts:
    """Columns that nearly repeat each other."""
    for norm, intercept, power in product(NORMS, BOTH, (6, 10, 14)):
        data = clusters(rng)
        noise = 10.0**-power * rng.normal(size=(40, 2))
        data["X"][:, 2:] = data["X"][:, :2] + noise
        name = f"{norm}-1e-{power}-{'' if intercept else 'no-'}intercept"
        yield name, data | {"norm": norm, "fit_intercept": intercept}


def repeated(rng: Generator) -> Parts:
    """Rows, columns and whole data that repeat themselves, some with other labels."""
    for norm in NORMS:
        data = clusters(rng)
        X, y = data["X"], data["y"]
        shared = data | {"norm": norm}
        rows = np.tile(np.arange(10), 4)
        yield f"{norm}-rows", shared | {"X": X[rows], "y": y[rows]}
        yield f"{norm}-contradictions", shared | {"X": X[rows]}
        yield f"{norm}-columns", shared | {"X": np.tile(X, 3)}
        yield f"{norm}-one-point", shared | {"X": np.tile(X[:1], (40, 1))}


def constant(rng: Generator) -> Parts:
    """Columns that do not vary, or data that are nothing but zeros."""
    for norm, intercept in product(NORMS, BOTH):
        data = clusters(rng) | {"norm": norm, "fit_intercept": intercept}
        end = f"{'' if intercept else 'no-'}intercept"
        X = data["X"].copy()
        X[:, 0], X[:, 1] = 1e6, 0.0
        yield f"{norm}-columns-{end}", data | {"X": X}
        yield f"{norm}-zeros-{end}", data | {"X": np.zeros_like(X)}


def ties(rng: Generator) -> Parts:
    """Integer grids and margins of next to nothing: optima are far from unique."""
    for norm in NORMS:
        grid = rng.integers(0, 2, size=(40, 4)).astype(float)
        y = rng.permutation(np.arange(40) % 3).astype(np.intp)
        shared = {"y": y, "n_classes": 3, "norm": norm}
        yield f"{norm}-grid", shared | {"X": grid}
        yield f"{norm}-grid-by-label", shared | {"X": np.eye(3)[y] + 0.0}
        near = rng.normal(size=(40, 4))
        near[:, 0] = 1e-8 * (y - 1)
        yield f"{norm}-near-margin", shared | {"X": near, "radius": 1e-10}
        yield f"{norm}-noise", shared | {"X": rng.normal(size=(40, 4)), "radius": 1e-3}


def few_rows(rng: Generator) -> Parts:
    """One row a class, and one row alone."""
    for norm, n_classes in product(NORMS, (2, 5, 20)):
        data = clusters(rng, n_classes, 4, n_classes)
        yield f"{norm}-{n_classes}-classes", data | {"norm": norm}
    for norm in NORMS:
        one = {"X": rng.normal(size=(1, 3)), "y": np.zeros(1, dtype=np.intp)}
        yield f"{norm}-one-row", one | {"n_classes": 2, "norm": norm, "refused": True}


def many_classes(rng: Generator) -> Parts:
    """Fifty classes, all of them there or only three."""
    for norm in NORMS:
        data = clusters(rng, 100, 3, 50, apart=5.0)
        yield f"{norm}-all", data | {"norm": norm}
        yield f"{norm}-trusted", data | {"norm": norm, "label_cost": np.inf}
        few = clusters(rng, 30, 3, 3) | {"n_classes": 50, "norm": norm}
        yield f"{norm}-empty", few | {"refused": True}
        yield f"{norm}-empty-trusted", few | {"refused": True, "label_cost": np.inf}


def one_feature(rng: Generator) -> Parts:
    """A single column."""
    for norm, intercept, n_classes in product(NORMS, BOTH, (2, 4)):
        data = clusters(rng, 30, 1, n_classes) | {"norm": norm, "fit_intercept": intercept}
        yield f"{norm}-{n_classes}-{'' if intercept else 'no-'}intercept", data


def wide(rng: Generator) -> Parts:
    """Many more columns than rows."""
    for norm, n_features in product(NORMS, (50, 300)):
        data = clusters(rng, 12, n_features, 3, apart=0.2) | {"norm": norm}
        yield f"{norm}-{n_features}", data
        yield f"{norm}-{n_features}-trusted", data | {"label_cost": np.inf}
    for radius in (1e-6, 1e-2, 10.0):
        data = clusters(rng, 8, 2000, 2, apart=0.1)
        yield f"l2-2000-{radius:g}", data | {"radius": radius}


def radii(rng: Generator) -> Parts:
    """From no budget to one that leaves nothing to learn."""
    values = (0.0, 1e-12, 1e-9, 1e-6, 1e-3, 1.0, 1e3, 1e6, 1e12)
    for norm, radius in product(NORMS, values):
        yield f"{norm}-{radius:g}", clusters(rng) | {"norm": norm, "radius": radius}


def label_costs(rng: Generator) -> Parts:
    """From flips for nothing to flips beyond price."""
    values = (0.0, 1e-12, 1e-6, 1e-3, 1e3, 1e6, 1e12, np.inf)
    for norm, cost in product(NORMS, values):
        yield f"{norm}-{cost:g}", clusters(rng) | {"norm": norm, "label_cost": cost}


def label_cost_matrices(rng: Generator) -> Parts:
    """Free, dear and impossible confusions side by side."""
    for norm, reach in product(NORMS, (0, 3, 6, 12)):
        cost = 10.0 ** rng.uniform(-reach, reach, size=(4, 4))
        cost[rng.random(cost.shape) < 0.4] = np.inf
        np.fill_diagonal(cost, 0.0)
        data = clusters(rng, n_classes=4) | {"norm": norm, "label_cost": cost}
        yield f"{norm}-1e{reach}", data
        if reach == 0:
            free = cost.copy()
            free[0, 1] = 0.0
            yield f"{norm}-free", data | {"label_cost": free}


def weights(rng: Generator) -> Parts:
    """Rows that hardly count, rows that alone count, rows that do not count."""
    for norm, reach in product(NORMS, (3, 6, 12)):
        weight = 10.0 ** rng.uniform(-reach, reach, size=40)
        yield f"{norm}-1e{reach}", clusters(rng) | {"norm": norm, "sample_weight": weight}
    for norm in NORMS:
        weight = rng.integers(0, 2, size=40).astype(float)
        data = clusters(rng) | {"norm": norm}
        yield f"{norm}-zeros", data | {"sample_weight": weight}
        heavy = np.where(np.arange(40) == 7, 1e12, 1.0)
        yield f"{norm}-one-heavy", data | {"sample_weight": heavy}


def trusts(rng: Generator) -> Parts:
    """Labels verified, worthless and anything between."""
    for norm, reach in product(NORMS, (1, 6)):
        trust = 10.0 ** rng.uniform(-reach, reach, size=40)
        trust[rng.random(40) < 0.2] = np.inf
        trust[rng.random(40) < 0.05] = 0.0
        yield f"{norm}-1e{reach}", clusters(rng) | {"norm": norm, "label_trust": trust}


def feature_costs(rng: Generator) -> Parts:
    """Features that move for next to nothing, dearly, or not at all."""
    for norm, reach in product(NORMS, (2, 6, 12)):
        cost = np.logspace(-reach, reach, 4)
        data = clusters(rng) | {"norm": norm}
        yield f"{norm}-1e{reach}", data | {"feature_cost": cost}
    for norm in NORMS:
        fixed = np.array([np.inf, 1.0, np.inf, 1e-3])
        yield f"{norm}-fixed", clusters(rng) | {"norm": norm, "feature_cost": fixed}
        none = np.full(4, np.inf)
        yield f"{norm}-all-fixed", clusters(rng) | {"norm": norm, "feature_cost": none}


def smooth_losses(rng: Generator) -> Parts:
    """Temperatures from almost a maximum to almost none of it, and the log-loss."""
    for norm, temperature in product(NORMS, (1e-4, 1e-2, 1.0, 100.0)):
        loss = Loss(temperature=temperature, margin=1.0)
        yield f"{norm}-{temperature:g}", clusters(rng) | {"norm": norm, "loss": loss}
    logistic = {"loss": LOSSES["logistic"]}
    for norm, cost in product(NORMS, (0.1, np.inf)):
        data = clusters(rng) | {"norm": norm, "label_cost": cost} | logistic
        yield f"{norm}-logistic-{cost:g}", data
        yield f"{norm}-logistic-{cost:g}-tiny-radius", data | {"radius": 1e-6}
        yield (
            f"{norm}-logistic-{cost:g}-columns",
            data | {"X": data["X"] * np.logspace(-3, 3, 4)},
        )


def kernels(rng: Generator) -> Parts:
    """Kernel matrices from almost all ones to almost the identity."""
    for lipschitz, gamma in product(("exact", "triangle"), (1e-6, 1e-2, 1.0, 1e6)):
        data = clusters(rng) | {"gamma": gamma, "lipschitz": lipschitz}
        yield f"{lipschitz}-{gamma:g}", data
        yield f"{lipschitz}-{gamma:g}-tiny-radius", data | {"radius": 1e-8}


def boxes(rng: Generator) -> Parts:
    """Features in a box, wide, tight, or of no room at all."""
    for room, label_cost in product((0.0, 1e-9, 1.0, 1e6), (2.0, np.inf)):
        data = clusters(rng, 15, 3, 3) | {"norm": "l1", "label_cost": label_cost}
        support = data["X"].min(axis=0) - room, data["X"].max(axis=0) + room
        for radius in (1e-6, 0.05, 10.0):
            own = {"support": support, "radius": radius}
            yield f"{room:g}-{label_cost:g}-{radius:g}", data | own


def extremes(rng: Generator) -> Parts:
    """Numbers near the ends of double precision."""
    for norm, power in product(NORMS, (-300, -150, -50, 15)):
        data = clusters(rng, 20)
        yield f"{norm}-1e{power}", data | {"norm": norm, "X": data["X"] * 10.0**power}
    for norm in NORMS:
        data = clusters(rng, 20) | {"norm": norm}
        tiny = data["X"] * np.finfo(float).smallest_subnormal * 1000
        yield f"{norm}-subnormal", data | {"X": tiny}


def medleys(rng: Generator) -> Parts:
    """Several of these at once, drawn at random."""
    for number in range(30):
        n_classes = int(rng.integers(2, 7))
        data = clusters(rng, int(rng.integers(n_classes, 60)), 5, n_classes)
        cost = 10.0 ** rng.uniform(-3, 3, size=(n_classes, n_classes))
        cost[rng.random(cost.shape) < 0.3] = np.inf
        np.fill_diagonal(cost, 0.0)
        yield (
            f"{number}",
            data
            | {
                "X": data["X"] * 10.0 ** rng.uniform(-6, 6, size=5)
                + 10 * rng.normal(size=5),
                "norm": str(rng.choice(NORMS)),
                "radius": float(10.0 ** rng.uniform(-9, 3)),
                "label_cost": cost if number % 2 else float(10.0 ** rng.uniform(-4, 4)),
                "sample_weight": 10.0 ** rng.uniform(-4, 4, size=len(data["y"])),
                "fit_intercept": bool(rng.integers(2)),
            },
        )


FAMILIES: dict[str, Callable[[Generator], Parts]] = {
    "units": units,
    "column units": column_units,
    "offsets": offsets,
    "collinear columns": collinear,
    "repeated rows, columns": repeated,
    "constant columns": constant,
    "ties": ties,
    "few rows": few_rows,
    "many classes": many_classes,
    "one feature": one_feature,
    "wide": wide,
    "radii": radii,
    "label costs": label_costs,
    "label cost matrices": label_cost_matrices,
    "weights": weights,
    "label trust": trusts,
    "feature costs": feature_costs,
    "smooth losses": smooth_losses,
    "kernels": kernels,
    "boxes": boxes,
    "ends of the numbers": extremes,
    "medleys": medleys,
    **LARGER,
}


def instances(family: str) -> list[Instance]:
    """All instances of a family, the same on every machine."""
    rng = np.random.default_rng(zlib.crc32(family.encode()))
    return [Instance(name, family, **parts) for name, parts in FAMILIES[family](rng)]


def all_instances() -> list[Instance]:
    return [instance for family in FAMILIES for instance in instances(family)]
