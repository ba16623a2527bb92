"""MRCpy's bounds and errors beside those of the ramp, on tables with few classes.

Two steps, because MRCpy 3.0 needs scikit-learn before 1.6, and this package a later one:

``python -m benchmarks.mrcpy_bounds fit FILE`` in an environment of its own with ``MRCpy``,
``scikit-learn<1.6`` and ``cvxpy<1.6`` trains, and writes the classifiers to the file;
``python -m benchmarks.mrcpy_bounds judge FILE CSV`` judges them beside the ramp.

MRCpy imports Gurobi, which it does not use here: a module without content stands in.  Its
classifier with the default constraints (MRC) is left out: free solvers disagree on its
program.  That with constraints on the rows (CMRC) has one value for three of them.
"""

from __future__ import annotations

import csv
import sys
import types
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from .worst_case_error_data import Split, split

TABLES, SEEDS = ("abalone", "contraceptive", "shuttle", "osuleaf"), range(900, 903)
SOLVERS = ("ECOS", "CLARABEL")
RADIUS = 0.1


def fit(file: Path) -> None:
    """Coefficients and bounds of CMRC by each solver, for every table and split."""
    stand_in: Any = types.ModuleType("gurobipy")
    stand_in.GRB = None
    sys.modules.setdefault("gurobipy", stand_in)
    from MRCpy import CMRC  # type: ignore[import-not-found]

    found: dict[str, Any] = {}
    for name in TABLES:
        for seed in SEEDS:
            data = split(name, seed)
            for solver in SOLVERS:
                model = CMRC(loss="0-1", phi="linear", solver="cvx")
                model.cvx_solvers = [solver]
                model.fit(data.X, data.y)
                found[f"{name}/{seed}/{solver}/bound"] = model.get_upper_bound()
                found[f"{name}/{seed}/{solver}/coef"] = _coefficients(model, data)
    np.savez(file, **found)


def _coefficients(model: Any, data: Split) -> Any:
    """Intercepts and coefficients, (C, 1 + P), checked by the predictions of the model."""
    table = np.asarray(model.mu_).reshape(len(model.classes_), -1)
    scores = data.X_test @ table[:, 1:].T + table[:, 0]
    if (scores.argmax(axis=1) != model.predict(data.X_test)).mean() > 1e-3:
        raise RuntimeError("CMRC predicts by other scores than phi(x, c) @ mu_")
    return table


class Scores:
    """A linear classifier with given coefficients."""

    def __init__(self, table: Any) -> None:
        self.coef_, self.intercept_ = table[:, 1:], table[:, 0]
        self.classes_ = np.arange(len(table))

    def fit(self, X: Any, y: Any) -> Scores:
        return self

    def predict(self, X: Any) -> Any:
        return (X @ self.coef_.T + self.intercept_).argmax(axis=1)


def judged(found: Any, name: str, seed: int) -> list[float]:
    """In per cent: MRCpy's bound and both errors, those of the ramp, and its bound."""
    from wdrsvm import RobustLinearSVC, WassersteinBall, worst_case_error

    data, ball = split(name, seed), WassersteinBall(RADIUS)
    key = f"{name}/{seed}/{SOLVERS[0]}"
    ramp = RobustLinearSVC(RADIUS, np.inf, loss="ramp").fit(data.X, data.y)
    errors = [
        part
        for model in (Scores(found[f"{key}/coef"]), ramp)
        for part in (
            np.mean(model.predict(data.X_test) != data.y_test),
            worst_case_error(model, data.X_test, data.y_test, ball),
        )
    ]
    values = [found[f"{key}/bound"], *errors, ramp.objective_]
    return [100 * float(each) for each in values]


def judge(file: Path, table: Path) -> list[list[str]]:
    found = np.load(file)
    header = ["table", "MRCpy: bound, no movement", "its error", "its worst-case error"]
    lines = [[*header, "ramp: error", "worst-case error", "bound of it"]]
    for name in TABLES:
        values = np.mean([judged(found, name, seed) for seed in SEEDS], axis=0)
        lines.append([name, *(f"{value:.1f}" for value in values)])
    with table.open("w", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows(lines)
    return lines


def main(arguments: list[str]) -> None:
    warnings.simplefilter("ignore")
    if arguments[0] == "fit":
        fit(Path(arguments[1]))
    else:
        for line in judge(Path(arguments[1]), Path(arguments[2])):
            print("  ".join(line))


if __name__ == "__main__":
    main(sys.argv[1:])
