"""B10, many classes: embeddings and tables with 10 to 1000 classes, relative gap 1e-3.

Against scikit-learn's LogisticRegression with its defaults, and for the Crammer-Singer loss
against liblinear's machine too.  Columns are standardised, as both sides expect them, and
the radius is our default; accuracies on new rows tell whether the two learn the same.  Rows
of unit length stand beside them: there the peer's default penalty is so strong that it
stops early and misses classes.

Real embeddings and images are read from the folder that ``WDRSVM_DATA`` names, and left out
without it; the others are invented.  Like real ones they vary little in most directions:
the variance in the k-th falls as 1 / k.  Their classes are easy to separate; those whose
name ends with "close" overlap as much as real ones.  With many classes the peer's rule lets
it stop before it has learned them.  So its time with a tolerance of 1e-5 stands beside it:
a smaller one hardly changed its accuracy on invented embeddings.

Settings of the solvers were chosen on these sets.  The unseen ones (``benchmarks.unseen``)
judge the speed.
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
from sklearn.preprocessing import StandardScaler

from wdrsvm import RobustLogisticRegression
from wdrsvm.problem import LOSSES, RobustProblem, WassersteinBall

from ..data import Rows, large_rows
from ..family import Family, Options, Record
from ..liblinear import PeerFit, fit_liblinear
from ..measure import median_seconds, thread_limit, timed_fit
from ..peers import ratio_summary
from ..processes import held_to_cpus
from ..unseen import SETS, unseen, unseen_rows

TOL = 1e-3
# Files with rows and labels; some have test rows, of the others the last rows are taken.
FILES = {
    "banking77": "banking77_minilm.npz",
    "clinc150": "clinc150_minilm.npz",
    "images": "fashion_mnist_train15k.npz",
}
UNIT_ROWS = "unit rows"
FEWER_ROWS = "3000 rows"
# Data of files, as they are compared.
REAL = (
    *("banking77", f"banking77, {FEWER_ROWS}", "clinc150", "images"),
    *(f"banking77, {UNIT_ROWS}", f"banking77, {FEWER_ROWS}, {UNIT_ROWS}"),
)
N_TEST_IMAGES = 3000
# Rows, features and classes of invented embeddings.
EMBEDDINGS = {
    "few rows": (200, 64, 10),
    "100 classes": (10_000, 512, 100),
    "300 classes": (20_000, 512, 300),
    "1000 classes": (20_000, 512, 1000),
}
TINY_EMBEDDINGS = (150, 12, 5)
# Those of the same sizes whose classes are closer to each other, with their spreads.
CLOSE = {"100 classes, close": 4.0, "300 classes, close": 3.5}
SETTLED_TOL = 1e-5
TABLES = {"26 classes": (16_000, 16, 26), "10 classes": (8793, 16, 10)}
# Classes of the series that tells how time grows with them, and its other sizes.
GROWTH, TINY_GROWTH = (10, 30, 100, 300, 1000), (3, 5)
GROWTH_ROWS, TINY_GROWTH_ROWS, GROWTH_FEATURES = 10_000, 150, 128
# Distance of rows from the centre of their class, relative to the centre's length, and
# how deviations fall from direction to direction.
SPREAD, DECAY = 2.0, 0.5
N_TEST = 4000
# Where rows have length one, the classifiers of this radius are the most accurate ones.
RADIUS_OF_UNIT_ROWS = 5e-3
# In the series of growth, as it was first measured.
RADIUS_OF_GROWTH = 1e-3
# The cost of a wrong label: infinite, or that of a move from a row to the opposite point.
LABEL_COSTS = (np.inf, 2.0)
# Liblinear's Crammer-Singer machine takes hours beyond these.
MAX_CLASSES_OF_LIBLINEAR = 100


class Case(NamedTuple):
    """``label_cost`` counts lengths of rows."""

    data: str
    loss: str
    label_cost: float


class Split(NamedTuple):
    train: Rows
    test: Rows

    @property
    def standardised(self) -> Split:
        scaler = StandardScaler().fit(self.train.X)
        return Split(*(Rows(scaler.transform(part.X), part.y) for part in self))


def cases(options: Options) -> list[Case]:
    """Every data set with both losses and both label costs."""
    names = ["tiny"]
    if not options.tiny:
        names = [*_real(), *TABLES, *EMBEDDINGS, *CLOSE, *unseen()]
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


def _real() -> list[str]:
    missing = [name for name in FILES if not _file(name).is_file()]
    for name in missing:
        print(f"left out: there is no {FILES[name]} in the folder named by WDRSVM_DATA")
    return [data for data in REAL if data.split(",")[0] not in missing]


def _file(name: str) -> Path:
    return Path(os.environ.get("WDRSVM_DATA", ".")) / "benchmark" / FILES[name]


@cache
def split_of(data: str) -> Split:
    """Rows to learn from and new ones, by the name of the data."""
    if data.startswith("growth"):
        n_rows, n_classes = map(int, data.split()[1:])
        rows = invented_embeddings(n_rows, GROWTH_FEATURES, n_classes)
        return Split(rows, rows)
    if data in REAL:
        split = _real_split(data.split(",")[0], FEWER_ROWS in data)
        return split if data.endswith(UNIT_ROWS) else split.standardised
    if data in SETS:
        return _unseen_split(data).standardised
    if data in TABLES:
        n_rows, n_features, n_classes = TABLES[data]
        rows = large_rows(n_rows + N_TEST, n_features, n_classes, seed=0)
        return _halves(rows, n_rows).standardised
    size, spread = data.removesuffix(", close"), CLOSE.get(data, SPREAD)
    n_rows, n_features, n_classes = EMBEDDINGS.get(size, TINY_EMBEDDINGS)
    rows = invented_embeddings(n_rows + N_TEST, n_features, n_classes, spread, DECAY)
    return _halves(rows, n_rows).standardised


def rows_of(data: str) -> Rows:
    return split_of(data).train


def _halves(rows: Rows, n_train: int) -> Split:
    parts = slice(n_train), slice(n_train, None)
    return Split(*(Rows(rows.X[part], rows.y[part]) for part in parts))


def _real_split(name: str, is_part: bool) -> Split:
    with np.load(_file(name)) as file:
        train = Rows(file["X"].astype(np.float64), file["y"].astype(np.intp))
        if "X_test" not in file:
            return _halves(train, len(train.y) - N_TEST_IMAGES)
        test = Rows(file["X_test"].astype(np.float64), file["y_test"].astype(np.intp))
    chosen = np.random.default_rng(0).permutation(len(train.y))[:3000]
    return Split(Rows(train.X[chosen], train.y[chosen]) if is_part else train, test)


def _unseen_split(name: str) -> Split:
    """Four rows of five, by chance, to learn from."""
    X, y = unseen_rows(name)
    order = np.random.default_rng(0).permutation(len(y))
    return _halves(Rows(X[order], y[order]), int(0.8 * len(y)))


def invented_embeddings(
    n_rows: int, n_features: int, n_classes: int, spread: float = 1.0, decay: float = 0.0
) -> Rows:
    """Rows of length one around centres, at ``spread`` times their length.

    The deviation in the k-th direction falls as k to the power of minus ``decay``.
    """
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % n_classes
    scales = np.arange(1, n_features + 1) ** -decay
    centres = scales * rng.standard_normal((n_classes, n_features))
    noise = scales * rng.standard_normal((n_rows, n_features))
    turn = np.linalg.qr(rng.standard_normal((n_features, n_features)))[0]
    rows = (centres[y] + spread * noise) @ turn
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return Rows(rows, y.astype(np.intp))


def problem_of(case: Case) -> RobustProblem:
    rows = rows_of(case.data)
    return RobustProblem.of(
        rows.X,
        rows.y,
        np.full(len(rows.y), 1 / len(rows.y)),
        WassersteinBall(_radius(case.data), case.label_cost * _length(rows)),
        int(rows.y.max()) + 1,
        loss=LOSSES[case.loss],
    )


def _length(rows: Rows) -> float:
    """The root mean square of the rows' lengths; doubtful labels cost a multiple of it."""
    return float(np.sqrt((rows.X**2).sum(axis=1).mean()))


def _radius(data: str) -> float:
    if data.startswith("growth"):
        return RADIUS_OF_GROWTH
    if data.endswith(UNIT_ROWS):
        return RADIUS_OF_UNIT_ROWS
    return float(RobustLogisticRegression().radius)


def run(case: Case, options: Options) -> Record:
    """Ours against LogisticRegression, and liblinear where the loss is its own."""
    problem, test = problem_of(case), split_of(case.data).test
    with held_to_cpus(options.threads):
        ours, found = timed_fit(problem, TOL, options)
        peer = logistic_fit(case.data, options)
        settled = logistic_fit(case.data, options, SETTLED_TOL)
    crammer_singer = _liblinear(case, options)
    sizes = {"N": problem.n_rows, "P": problem.n_features, "C": problem.n_classes}
    labels = (test.X @ found.coef.T + found.intercept).argmax(axis=1)
    return (
        case._asdict()
        | sizes
        | {
            "ours": ours.seconds,
            "gap": ours.gap,
            "reached": ours.reached,
            "objective": ours.objective,
            "accuracy": float((labels == test.y).mean()),
            "peer": peer.seconds,
            "peer_accuracy": peer.accuracy,
            "ratio": peer.seconds / ours.seconds,
            "settled": settled.seconds,
            "settled_accuracy": settled.accuracy,
            "settled_ratio": settled.seconds / ours.seconds,
            "lower_bound": False,
            "liblinear": crammer_singer.seconds,
            "liblinear_ratio": crammer_singer.seconds / ours.seconds,
        }
    )


class LogisticFit(NamedTuple):
    seconds: float
    accuracy: float


@cache  # The ball does not concern the peers: one run serves all cases.
def logistic_fit(data: str, options: Options, tol: float = 1e-4) -> LogisticFit:
    """LogisticRegression with its defaults, or with another tolerance."""
    train, test = split_of(data)
    model = LogisticRegression(tol=tol)
    with thread_limit(options.threads), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        seconds = median_seconds(lambda: model.fit(*train), options.repeats)
    return LogisticFit(seconds, float(model.score(*test)))


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
        *("data", "loss", "label_cost", "ours", "gap", "accuracy"),
        *("peer", "peer_accuracy", "ratio", "settled", "settled_accuracy"),
        *("settled_ratio", "liblinear", "liblinear_ratio"),
    ),
    summarise=summarise,
)
