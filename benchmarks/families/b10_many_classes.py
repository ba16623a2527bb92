"""B10, many classes: embeddings and tables with 10 to 1000 classes, relative gap 1e-3.

Against scikit-learn's LogisticRegression with its defaults, and for the Crammer-Singer loss
against liblinear's machine too.  The embeddings of banking77 are read from the folder that
``WDRSVM_DATA`` names, and left out without it; the others are invented: class centres in
the directions of a sphere, rows around them, all of unit length.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from wdrsvm.problem import LOSSES, RobustProblem, WassersteinBall

from ..data import Rows, large_rows
from ..family import Family, Options, Record
from ..liblinear import PeerFit, fit_liblinear
from ..measure import median_seconds, thread_limit, time_ours
from ..peers import ratio_summary
from ..processes import held_to_cpus

TOL = 1e-3
BANKING = Path("benchmark") / "banking77_minilm.npz"
# Rows, features and classes of invented embeddings.
EMBEDDINGS = {
    "few rows": (200, 64, 10),
    "100 classes": (10_000, 512, 100),
    "300 classes": (20_000, 256, 300),
    "1000 classes": (20_000, 512, 1000),
}
# Classes of the series that tells how time grows with them, and its other sizes.
GROWTH, TINY_GROWTH = (10, 30, 100, 300, 1000), (3, 5)
GROWTH_ROWS, TINY_GROWTH_ROWS, GROWTH_FEATURES = 10_000, 150, 128
# Distance of rows from the centre of their class, relative to the centre's length.
SPREAD = 1.0
# Radii at which unit rows, and rows of unit variance, still leave something to learn.
RADIUS_OF_EMBEDDINGS, RADIUS_OF_TABLES = 1e-3, 1e-2
LABEL_COSTS = (np.inf, 2.0)
# Liblinear's Crammer-Singer machine takes hours beyond these.
MAX_CLASSES_OF_LIBLINEAR = 100


class Case(NamedTuple):
    data: str
    loss: str
    label_cost: float


def cases(options: Options) -> list[Case]:
    """Every data set with both losses and both label costs."""
    names = ["tiny"] if options.tiny else [*_banking(), "26 classes", *EMBEDDINGS]
    compared = [
        Case(name, loss, cost)
        for name in names
        for loss in ("logistic", "crammer-singer")
        for cost in LABEL_COSTS
    ]
    sizes = TINY_GROWTH if options.tiny else GROWTH
    n_rows = TINY_GROWTH_ROWS if options.tiny else GROWTH_ROWS
    growing = [f"growth {n_rows} {n_classes}" for n_classes in sizes]
    return [*compared, *(Case(name, "logistic", np.inf) for name in growing)]


def _banking() -> list[str]:
    if _banking_file().is_file():
        return ["banking77", "banking77, 3000 rows"]
    print(f"left out: there is no {BANKING} in the folder named by WDRSVM_DATA")
    return []


def _banking_file() -> Path:
    return Path(os.environ.get("WDRSVM_DATA", ".")) / BANKING


@cache
def rows_of(data: str) -> Rows:
    """The rows of a data set, by its name."""
    if data.startswith("banking77"):
        with np.load(_banking_file()) as file:
            rows = Rows(file["X"].astype(np.float64), file["y"].astype(np.intp))
        chosen = np.random.default_rng(0).permutation(len(rows.y))[:3000]
        return Rows(rows.X[chosen], rows.y[chosen]) if data.endswith("rows") else rows
    if data == "26 classes":
        return large_rows(16_000, 16, 26, seed=0)
    if data.startswith("growth"):
        _, n_rows, n_classes = data.split()
        return invented_embeddings(int(n_rows), GROWTH_FEATURES, int(n_classes))
    return invented_embeddings(*EMBEDDINGS.get(data, (150, 12, 5)))


def invented_embeddings(n_rows: int, n_features: int, n_classes: int) -> Rows:
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % n_classes
    centres = rng.standard_normal((n_classes, n_features))
    X = centres[y] + SPREAD * rng.standard_normal((n_rows, n_features))
    return Rows(X / np.linalg.norm(X, axis=1, keepdims=True), y.astype(np.intp))


def problem_of(case: Case) -> RobustProblem:
    rows = rows_of(case.data)
    radius = RADIUS_OF_TABLES if case.data == "26 classes" else RADIUS_OF_EMBEDDINGS
    return RobustProblem.of(
        rows.X,
        rows.y,
        np.full(len(rows.y), 1 / len(rows.y)),
        WassersteinBall(radius, case.label_cost),
        int(rows.y.max()) + 1,
        loss=LOSSES[case.loss],
    )


def run(case: Case, options: Options) -> Record:
    """Ours against LogisticRegression, and liblinear where the loss is its own."""
    problem = problem_of(case)
    with held_to_cpus(options.threads):
        ours = time_ours(problem, TOL, options)
        peer = logistic_seconds(case.data, options)
    crammer_singer = _liblinear(case, options)
    sizes = {"N": problem.n_rows, "P": problem.n_features, "C": problem.n_classes}
    return (
        case._asdict()
        | sizes
        | {
            "ours": ours.seconds,
            "gap": ours.gap,
            "reached": ours.reached,
            "objective": ours.objective,
            "peer": peer,
            "ratio": peer / ours.seconds,
            "lower_bound": False,
            "liblinear": crammer_singer.seconds,
            "liblinear_ratio": crammer_singer.seconds / ours.seconds,
        }
    )


@cache  # The ball does not concern the peers: one run serves all cases.
def logistic_seconds(data: str, options: Options) -> float:
    """Seconds of LogisticRegression with its defaults."""
    X, y = rows_of(data)
    with thread_limit(options.threads), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return median_seconds(lambda: LogisticRegression().fit(X, y), options.repeats)


def _liblinear(case: Case, options: Options) -> PeerFit:
    n_classes = int(rows_of(case.data).y.max()) + 1
    if case.loss != "crammer-singer" or n_classes > MAX_CLASSES_OF_LIBLINEAR:
        return PeerFit(np.nan, np.nan)
    return _liblinear_on(case.data, options)


@cache
def _liblinear_on(data: str, options: Options) -> PeerFit:
    return fit_liblinear(partial(rows_of, data), options, options.time_limit)


def summarise(records: Sequence[Record]) -> Record:
    """The ratios by loss and by trust in the labels, the least against liblinear, and the
    exponent of the time in the number of classes."""
    growing = [record for record in records if record["data"].startswith("growth")]
    records = [record for record in records if record not in growing]
    summary: Record = {"exponent in C": _exponent(growing)}
    for loss in ("logistic", "crammer-singer"):
        for cost in LABEL_COSTS:
            name = f"{loss}, {'trusted' if np.isinf(cost) else 'doubted'}"
            chosen = [r for r in records if (r["loss"], r["label_cost"]) == (loss, cost)]
            found = ratio_summary(chosen)
            summary[f"{name}: mean"] = found.get("geometric_mean", np.nan)
            summary[f"{name}: least"] = found.get("minimum", np.nan)
    against = [r["liblinear_ratio"] for r in records if np.isfinite(r["liblinear_ratio"])]
    summary["least against liblinear"] = min(against, default=np.nan)
    summary["gap_missed_by_us"] = sum(not record["reached"] for record in records)
    return summary


def _exponent(growing: Sequence[Record]) -> float:
    if len(growing) < 2:
        return float("nan")
    sizes, seconds = ([record[name] for record in growing] for name in ("C", "ours"))
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


FAMILY = Family(
    name="b10",
    title="B10 many classes: relative gap 1e-3 against LogisticRegression and liblinear",
    cases=cases,
    run=run,
    columns=(
        *("data", "loss", "label_cost", "ours", "gap", "peer", "ratio"),
        *("liblinear", "liblinear_ratio"),
    ),
    summarise=summarise,
)
