"""B13, beside scikit-learn: both losses against LogisticRegression and LinearSVC.

All estimators have their defaults, but for our ``tol`` of 1e-3 and radius.  Each time is
the least processor time of several fits, one thread each, in one process.  The peers have
neither ball nor certificate: this tells what these cost, not who solves a problem faster.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from wdrsvm import RobustLinearSVC, RobustLogisticRegression

from ..data import Rows, large_rows
from ..family import Family, Options, Record
from ..measure import processor_seconds, thread_limit
from .b10_many_classes import invented_embeddings

TOL = 1e-3
TABLES = {"5000 rows": (5000, 20, 6), "100 000 rows": (100_000, 20, 6), "tiny": (150, 4, 3)}
EMBEDDINGS = (3000, 384, 20)
PEERS: dict[str, Callable[[], Any]] = {
    "LogisticRegression": LogisticRegression,
    "LinearSVC": LinearSVC,
}


class Case(NamedTuple):
    data: str
    loss: str
    label_cost: float


def cases(options: Options) -> list[Case]:
    """Every table with both losses, labels trusted and doubted."""
    names = ["tiny"] if options.tiny else ["5000 rows", "100 000 rows", "embeddings"]
    return [
        Case(name, loss, cost)
        for name in names
        for loss in ("hinge", "logistic")
        for cost in (np.inf, 2.0)
    ]


@cache
def rows_of(data: str) -> Rows:
    """The rows of a table, by its name."""
    if data == "embeddings":
        return invented_embeddings(*EMBEDDINGS)
    return large_rows(*TABLES[data], seed=0)


def ours(case: Case) -> Any:
    """Our estimator; unit rows need a smaller radius than standardised ones."""
    radius = 1e-3 if case.data == "embeddings" else 1e-2
    if case.loss == "hinge":
        return RobustLinearSVC(radius, case.label_cost, tol=TOL)
    return RobustLogisticRegression(radius, case.label_cost, tol=TOL)


def run(case: Case, options: Options) -> Record:
    """Ours, and each peer divided by ours."""
    rows = rows_of(case.data)
    model = ours(case)
    record: Record = case._asdict() | {"ours": _seconds(model, rows, options)}
    record |= {"gap": model.duality_gap_, "reached": model.duality_gap_ <= TOL}
    for name in PEERS:
        record[name] = _peer_seconds(name, case.data, options) / record["ours"]
    return record


@cache
def _peer_seconds(name: str, data: str, options: Options) -> float:
    return _seconds(PEERS[name](), rows_of(data), options)


def _seconds(model: Any, rows: Rows, options: Options) -> float:
    with thread_limit(options.threads), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return min(
            processor_seconds(lambda: model.fit(rows.X, rows.y))
            for _ in range(max(options.repeats, 2))
        )


def summarise(records: Sequence[Record]) -> Record:
    """The least ratio of each peer, by loss."""
    summary: Record = {
        f"{loss}, least against {name}": min(
            record[name] for record in records if record["loss"] == loss
        )
        for loss in ("hinge", "logistic")
        for name in PEERS
    }
    return summary | {"gap_missed_by_us": sum(not r["reached"] for r in records)}


FAMILY = Family(
    name="b13",
    title="B13 beside scikit-learn: time of each peer over ours, relative gap 1e-3",
    cases=cases,
    run=run,
    columns=("data", "loss", "label_cost", "ours", "gap", *PEERS),
    summarise=summarise,
)
