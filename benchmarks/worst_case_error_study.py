"""Who withstands most?  Worst-case and plain errors on test rows, eight tables.

``python -m benchmarks.worst_case_error_study [--tiny] [--norm l2] [--radius 0.1]``

Training rows are 200 at most, features are standardised.  Nothing is tuned for the robust
machines: they are given the radius that is judged, and trusted labels.  LogisticRegression
chooses C by 5-fold cross-validation, once by accuracy and once by the worst-case error.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from wdrsvm import (
    RobustLinearSVC,
    WassersteinBall,
    worst_case_error,
    worst_case_error_scorer,
)

from .label_noise_data import case

TABLES = (
    *("wine", "iris", "digits", "breast cancer"),
    *("seeds", "ai4i", "wine quality", "steel plates"),
)
FIRST_SEED, N_SPLITS = 500, 2
STRENGTHS = np.logspace(-4, 2, 13)
TINY_STRENGTHS = (0.01, 1.0)


class Judged(NamedTuple):
    """One classifier on the test rows of one split."""

    table: str
    seed: int
    method: str
    worst_case: float
    plain: float


def models(ball: WassersteinBall, strengths: Any) -> dict[str, Any]:
    """The four competitors."""
    robust = {"radius": ball.radius, "label_cost": np.inf, "norm": ball.norm}
    logistic, grid = LogisticRegression(max_iter=2000), {"C": strengths}
    withstanding = worst_case_error_scorer(ball)
    return {
        "ramp": RobustLinearSVC(**robust, loss="ramp"),
        "hinge": RobustLinearSVC(**robust),
        "logistic, worst case": GridSearchCV(logistic, grid, scoring=withstanding),
        "logistic, accuracy": GridSearchCV(logistic, grid),
    }


def judged(name: str, seed: int, ball: WassersteinBall, strengths: Any) -> list[Judged]:
    """All competitors on one split of one table."""
    data, found = case(name, "clean", seed), []
    for method, model in models(ball, strengths).items():
        fitted = model.fit(data.X, data.labels)
        linear = getattr(fitted, "best_estimator_", fitted)
        worst = worst_case_error(linear, data.X_test, data.y_test, ball)
        plain = float((linear.predict(data.X_test) != data.y_test).mean())
        found.append(Judged(name, seed, method, worst, plain))
    return found


def mean_errors(found: Sequence[Judged], method: str, table: str | None = None) -> str:
    """Worst-case and plain error of a method in per cent, over splits and tables."""
    rows = [
        (each.worst_case, each.plain)
        for each in found
        if each.method == method and table in (None, each.table)
    ]
    worst, plain = 100 * np.mean(rows, axis=0)
    return f"{worst:6.1f} / {plain:4.1f}"


def print_table(found: Sequence[Judged]) -> None:
    methods = list(dict.fromkeys(each.method for each in found))
    print("worst-case / plain error, per cent of the test rows")
    print(f"{'':14}" + "".join(f"{method:>22}" for method in methods))
    for table in (*dict.fromkeys(each.table for each in found), None):
        cells = (f"{mean_errors(found, method, table):>22}" for method in methods)
        print(f"{table or 'mean':14}" + "".join(cells))


def main(arguments: Sequence[str] | None = None) -> list[Judged]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="two tables, seconds")
    parser.add_argument("--norm", default="l2")
    parser.add_argument("--radius", type=float, default=0.1)
    parser.add_argument("--splits", type=int, default=N_SPLITS)
    parsed = parser.parse_args(arguments)
    ball = WassersteinBall(parsed.radius, norm=parsed.norm)
    tables = ("iris", "wine") if parsed.tiny else TABLES
    seeds = range(FIRST_SEED, FIRST_SEED + (1 if parsed.tiny else parsed.splits))
    strengths = TINY_STRENGTHS if parsed.tiny else STRENGTHS
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in tables:
            for seed in seeds:
                found += judged(name, seed, ball, strengths)
    print_table(found)
    return found


if __name__ == "__main__":
    main()
