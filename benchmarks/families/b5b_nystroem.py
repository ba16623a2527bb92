"""B5b, kernels, large: Nystroem features against scikit-learn's SVC, equal threads."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from sklearn.datasets import make_classification
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from wdrsvm import RobustSVC

from ..family import Family, Options, Record
from ..measure import median_seconds, thread_limit
from ..peers import ratio_summary

TOL = 1e-3
RADIUS, LABEL_COST = 1e-3, 2.0
N_TEST = 10_000


class Case(NamedTuple):
    N: int
    P: int
    C: int
    class_sep: float
    n_components: int
    seed: int = 0


def cases(options: Options) -> list[Case]:
    """Classes well and badly apart, more and fewer landmarks; a small one if tiny."""
    if options.tiny:
        return [Case(500, 10, 3, 1.0, 50)]
    return [
        Case(20_000, 20, 4, class_sep, n_components)
        for class_sep in (1.0, 0.6)
        for n_components in (400, 800)
    ]


def run(case: Case, options: Options) -> Record:
    """Seconds and test accuracy of both; the gap is that of the approximated kernel."""
    X, y = make_classification(
        case.N + N_TEST,
        case.P,
        n_informative=12 if case.P > 12 else case.P,
        n_redundant=0,
        n_classes=case.C,
        n_clusters_per_class=2,
        class_sep=case.class_sep,
        flip_y=0.02,
        random_state=case.seed,
    )
    train, test = slice(None, case.N), slice(case.N, None)
    X = scale(X)
    robust = RobustSVC(RADIUS, LABEL_COST, n_components=case.n_components, tol=TOL)
    with thread_limit(options.threads):
        robust.fit(X[train], y[train])
        ours = median_seconds(lambda: robust.fit(X[train], y[train]), options.repeats)
        plain, peer = _timed(lambda: SVC(kernel="rbf").fit(X[train], y[train]))
    return case._asdict() | {
        "ours": ours,
        "gap": robust.duality_gap_ / robust.objective_,
        "reached": robust.duality_gap_ <= TOL * robust.objective_,
        "peer": peer,
        "ratio": peer / ours,
        "lower_bound": False,
        "accuracy": robust.score(X[test], y[test]),
        "peer_accuracy": plain.score(X[test], y[test]),
    }


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    began = time.perf_counter()
    found = work()
    return found, time.perf_counter() - began


FAMILY = Family(
    name="b5b",
    title="B5b kernel, large: Nystroem against SVC(kernel='rbf'), gap 1e-3",
    cases=cases,
    run=run,
    columns=(
        *("N", "P", "C", "class_sep", "n_components"),
        *("ours", "gap", "peer", "accuracy", "peer_accuracy", "ratio"),
    ),
    summarise=ratio_summary,
)
