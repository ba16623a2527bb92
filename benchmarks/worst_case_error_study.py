"""Who withstands most?  Worst-case and plain errors on test rows of nine tables.

``python -m benchmarks.worst_case_error_study [--tiny] [--splits 20] [--csv FILE]``

No rule was fixed on these tables.  Training rows are 250 at most, features are
standardised.  ``RobustLinearSVC(loss="ramp")`` is given the radius that is judged, and
nothing is tuned.  LogisticRegression chooses C, and the convex machine its radius, by
5-fold cross-validation of the training rows: by accuracy, and by the worst-case error.

Results are appended to the file split by split, and a run that was cut short goes on where
it was.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from wdrsvm import RobustLinearSVC, WassersteinBall, worst_case_error

from .study import all_cells, parsed
from .worst_case_error_data import TABLES, Split, split
from .worst_case_error_report import Verdict, balls_of, judge, print_report

RADII = {"l2": (0.03, 0.1, 0.3), "l1": (0.06, 0.2, 0.6), "linf": (0.01, 0.03, 0.1)}
STRENGTHS = np.logspace(-4, 2, 9)
FACTORS = (0.1, 0.3, 1.0, 3.0)
FIRST_SEED, N_SPLITS = 900, 20


class Judged(NamedTuple):
    """One classifier on the test rows of one split, in one ball."""

    table: str
    seed: int
    norm: str
    radius: float
    method: str
    worst_case: float
    plain: float
    seconds: float


class Grid(NamedTuple):
    """Candidates fitted to all training rows, and to each fold's with the rows left out."""

    fitted: list[Any]
    folds: list[list[Any]]
    left_out: list[Any]
    seconds: float

    def best(self, data: Split, score: Any) -> Any:
        scores = [
            [score(model, data.X[rows], data.y[rows]) for model in models]
            for models, rows in zip(self.folds, self.left_out, strict=True)
        ]
        return self.fitted[int(np.mean(scores, axis=0).argmin())]


def grid_of(models: list[Any], data: Split) -> Grid:
    began = time.process_time()
    folds = list(StratifiedKFold(5).split(data.X, data.y))
    fits = [[clone(m).fit(data.X[a], data.y[a]) for m in models] for a, _ in folds]
    fitted = [clone(model).fit(data.X, data.y) for model in models]
    return Grid(fitted, fits, [b for _, b in folds], time.process_time() - began)


def plain_error(model: Any, X: Any, y: Any) -> float:
    return float((model.predict(X) != y).mean())


def machine(radius: float, norm: str, loss: str = "hinge") -> RobustLinearSVC:
    return RobustLinearSVC(radius, np.inf, norm=norm, loss=loss)


def contenders(data: Split) -> Iterator[tuple[WassersteinBall, str, Any, float]]:
    """Every ball with every method: the fitted model and what it cost to find it."""
    logistic = grid_of([LogisticRegression(C=c, max_iter=2000) for c in STRENGTHS], data)
    for norm, radii in RADII.items():
        candidates = [factor * radii[1] for factor in FACTORS]
        candidates += [radius for radius in radii if radius not in candidates]
        convex = grid_of([machine(each, norm) for each in candidates], data)
        for radius in radii:
            ball = WassersteinBall(radius, norm=norm)

            def withstood(model: Any, X: Any, y: Any, ball: Any = ball) -> float:
                return worst_case_error(model, X, y, ball)

            began = time.process_time()
            ramp = machine(radius, norm, "ramp").fit(data.X, data.y)
            yield ball, "ramp", ramp, time.process_time() - began
            began = time.process_time()
            hinge = machine(radius, norm).fit(data.X, data.y)
            yield ball, "convex, untuned", hinge, time.process_time() - began
            for name, grid in {"logistic": logistic, "convex": convex}.items():
                yield ball, f"{name}, accuracy", grid.best(data, plain_error), grid.seconds
                yield ball, f"{name}, worst case", grid.best(data, withstood), grid.seconds


def judged(name: str, seed: int) -> list[Judged]:
    """All methods on one split of one table."""
    data = split(name, seed)
    return [
        Judged(
            *(name, seed, ball.norm, ball.radius, method),
            worst_case_error(model, data.X_test, data.y_test, ball),
            plain_error(model, data.X_test, data.y_test),
            seconds,
        )
        for ball, method, model, seconds in contenders(data)
    ]


def studied(file: Path, names: Iterable[str], n_splits: int) -> list[Judged]:
    """What the file has, and what it lacks of these tables and splits."""
    seeds = range(FIRST_SEED, FIRST_SEED + n_splits)
    keys = [(name, seed) for seed in seeds for name in names]
    return all_cells(Judged, file, keys, judged)


def claim(file: Path, n_splits: int = N_SPLITS) -> list[Verdict]:
    """The study's verdicts, over all balls first; it goes on where the file ends."""
    found = studied(file, tuple(TABLES), n_splits)
    return [judge(found, ball) for ball in (None, *balls_of(found))]


def main(arguments: Sequence[str] | None = None) -> list[Judged]:
    given = parsed(
        __doc__, arguments, N_SPLITS, "worst-case-error.csv", tiny="one split of two tables"
    )
    names = ("contraceptive", "acsf1") if given.tiny else tuple(TABLES)
    found = studied(given.csv, names, 1 if given.tiny else given.splits)
    print_report(found, given.out)
    return found


if __name__ == "__main__":
    main()
