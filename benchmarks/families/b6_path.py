"""B6, paths: a plane of radii and label costs, and a search, against fits one by one.

``"path"`` is :func:`robust_path` on Experiment 1's grid against a cold fit of
``RobustLinearSVC`` at every point; ``"solve"`` compares with the bare solver on data that
have been checked and encoded before; ``"search"`` is ``RobustLinearSVCCV`` against
``GridSearchCV`` on the same grid, ``"default search"`` the same on the ten radii and two
label costs of the default.  Processor seconds of all threads, which do not change with
what else the machine does.  Every point of a path is judged by its own certificate,
recomputed.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_wine, make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import scale

from wdrsvm import RadiusWarning, RobustLinearSVC, RobustLinearSVCCV, robust_path
from wdrsvm.problem import WassersteinBall
from wdrsvm.solvers import solve

from ..data import as_problem, simulated
from ..family import Family, Options, Record
from ..measure import processor_seconds, thread_limit

TOL = 1e-6
RADII, LABEL_COSTS = np.logspace(-6, 1, 25), np.linspace(0.05, 1, 20)


class Case(NamedTuple):
    """``kind`` of comparison; ``data`` names a table, or is the simulation."""

    kind: str
    data: str
    N: int
    P: int
    C: int
    norm: str


def cases(options: Options) -> list[Case]:
    """Three norms on B6's size, Experiment 1's largest, and two searches."""
    if options.tiny:
        return [
            Case("path", "simulated", 40, 3, 4, "l1"),
            Case("search", "table", 60, 4, 3, "l2"),
        ]
    return [
        *(Case("path", "simulated", 200, 15, 8, norm) for norm in ("l1", "l2", "linf")),
        Case("path", "simulated", 200, 30, 8, "l1"),
        *(
            Case(kind, *table, "l2")
            for kind in ("search", "default search")
            for table in (("wine", 178, 13, 3), ("table", 5000, 20, 5))
        ),
    ]


def run(case: Case, options: Options) -> Record:
    """Our seconds, theirs, and whether both agree."""
    with warnings.catch_warnings(), thread_limit(options.threads):
        warnings.simplefilter("ignore", RadiusWarning)
        measured = (_path if case.kind == "path" else _search)(case, options.tiny)
    ours, theirs = measured["ours"], measured["one_by_one"]
    return case._asdict() | measured | {"ratio": theirs / ours}


def _path(case: Case, tiny: bool) -> Record:
    X, y = simulated(case.N, case.P, case.C, seed=0)
    radii, costs = (RADII[::8], LABEL_COSTS[::9]) if tiny else (RADII, LABEL_COSTS)
    shape: dict[str, Any] = {"norm": case.norm, "fit_intercept": False, "tol": TOL}
    # What is compiled on first use does not count.
    robust_path(X, y, radii[:2], costs[:1], **shape)
    found: list[Any] = []
    ours = processor_seconds(lambda: found.append(robust_path(X, y, radii, costs, **shape)))
    cold = [_ColdPoint(X, y, radius, cost, shape) for radius in radii for cost in costs]
    fits = processor_seconds(lambda: [point.fit().objective_ for point in cold])
    solves = processor_seconds(lambda: [solve(point.problem) for point in cold])
    path = found[0]
    gap = (path.objective - path.dual_bound) / np.maximum(path.objective, 1e-2)
    differs = [
        abs(point.estimator.objective_ - risk) / max(risk, 1e-2)
        for point, risk in zip(cold, path.objective.ravel(), strict=True)
    ]
    return {
        "points": len(cold),
        "ours": ours,
        "one_by_one": fits,
        "solver_ratio": solves / ours,
        "gap": float(gap.max()),
        "reached": bool(gap.max() <= 1.01 * TOL and max(differs) <= 2.1 * TOL),
    }


class _ColdPoint:
    """A point of the grid, fitted alone."""

    def __init__(self, X: Any, y: Any, radius: float, cost: float, shape: dict[str, Any]):
        self.rows, self.estimator = (X, y), RobustLinearSVC(radius, cost, **shape)
        self.problem = as_problem(X, y, WassersteinBall(radius, cost, shape["norm"]), False)

    def fit(self) -> Any:
        return self.estimator.fit(*self.rows)


def _search(case: Case, tiny: bool) -> Record:
    X, y = _table(case)
    radii, costs = (RADII, LABEL_COSTS) if case.kind == "search" else (10, (2.0, np.inf))
    if tiny:
        radii, costs = 3, (2.0, np.inf)
    search = RobustLinearSVCCV(radii, costs, norm=case.norm, cv=3 if tiny else 5)
    # What is compiled on first use does not count.
    RobustLinearSVCCV([0.1], costs[:1], norm=case.norm).fit(X, y)
    ours = processor_seconds(partial(search.fit, X, y))
    grid = {"radius": search.radii_, "label_cost": list(costs)}
    peer = GridSearchCV(RobustLinearSVC(norm=case.norm), grid, cv=search.cv)
    theirs = processor_seconds(partial(peer.fit, X, y))
    same_choice = peer.best_params_ == search.best_params_
    gap = search.duality_gap_ / max(search.objective_, 1e-2)
    return {
        "points": len(search.cv_results_["params"]) * search.n_splits_,
        "ours": ours,
        "one_by_one": theirs,
        "gap": gap,
        "scores_apart": abs(peer.best_score_ - search.best_score_),
        "reached": bool(same_choice and gap <= TOL),
    }


def _table(case: Case) -> tuple[Any, Any]:
    if case.data == "wine":
        X, y = load_wine(return_X_y=True)
    else:
        X, y = make_classification(
            case.N,
            case.P,
            n_informative=case.P * 3 // 5,
            n_redundant=0,
            n_clusters_per_class=1,
            n_classes=case.C,
            flip_y=0.05,
            random_state=0,
        )
    return scale(X), y


def summarise(records: Sequence[Record]) -> Record:
    """The least ratio of each kind."""
    least: Record = {}
    for kind in sorted({record["kind"] for record in records}):
        ratios = [record["ratio"] for record in records if record["kind"] == kind]
        least[f"least_{kind}_ratio"] = min(ratios)
    return least | {"missed": sum(not record["reached"] for record in records)}


FAMILY = Family(
    name="b6",
    title="B6 paths: planes and searches against fits one by one, relative gap 1e-6",
    cases=cases,
    run=run,
    columns=(
        *("kind", "data", "N", "P", "C", "norm", "points", "ours", "one_by_one"),
        *("ratio", "gap"),
    ),
    summarise=summarise,
)
