"""B4, sparse and high-dimensional: news20 tf-idf, l2, relative gap 1e-3.

Against liblinear's Crammer-Singer machine on the same rows; accuracies are on the official
test rows.  The counts are read from the folder that ``WDRSVM_DATA`` names; without them
there is nothing to measure, and a line says so.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from wdrsvm.problem import WassersteinBall

from ..data import Rows, as_problem
from ..family import Family, Options, Record
from ..liblinear import PeerFit, compared, fit_liblinear, fit_ours
from ..peers import ratio_summary

TOL = 1e-3
SOLVER = "first-order"
COUNTS = Path("benchmark") / "news20_counts.npz"
# (radius, label cost): radii at which unit rows still leave something to learn.
BALLS = ((0.03, np.inf), (0.03, 0.5), (0.01, np.inf))


class Case(NamedTuple):
    """``source`` is the file of counts, or empty for a small invented corpus."""

    source: str
    radius: float
    label_cost: float


class Corpus(NamedTuple):
    train: Rows
    test: Rows


def cases(options: Options) -> list[Case]:
    """Three balls around news20; one around an invented corpus if tiny."""
    if options.tiny:
        return [Case("", *BALLS[0])]
    folder = os.environ.get("WDRSVM_DATA")
    path = Path(folder or ".") / COUNTS
    if folder is None or not path.is_file():
        print(f"skipped: there is no {COUNTS} in the folder named by WDRSVM_DATA")
        return []
    return [Case(str(path), *ball) for ball in BALLS]


def run(case: Case, options: Options) -> Record:
    """Ours against liblinear, both with an intercept."""
    data = corpus(case.source)
    ball = WassersteinBall(case.radius, case.label_cost, "l2")
    problem = as_problem(*data.train, ball, True)
    ours = fit_ours(problem, TOL, _with_solver(options))
    sizes = {"N": problem.n_rows, "P": problem.n_features, "C": problem.n_classes}
    corpus_name = {"corpus": "news20" if case.source else "invented"}
    told = {"radius": case.radius, "label_cost": case.label_cost}
    peer = _peer(case.source, options)
    return corpus_name | sizes | told | compared(ours, peer, data.test)


def _with_solver(options: Options) -> Options:
    return replace(options, solver=SOLVER) if options.solver == "auto" else options


@cache  # The ball does not concern the peer: one run serves all cases.
def _peer(source: str, options: Options) -> PeerFit:
    return fit_liblinear(partial(_training_rows, source), options, options.time_limit)


def _training_rows(source: str) -> Rows:
    return corpus(source).train


def corpus(source: str) -> Corpus:
    """Unit rows of tf-idf weights, which the training rows alone decide."""
    counts, y, is_test = _read(source) if source else _invented()
    weights = TfidfTransformer(sublinear_tf=True).fit(counts[~is_test])
    X = sparse.csr_array(weights.transform(counts))
    return Corpus(Rows(X[~is_test], y[~is_test]), Rows(X[is_test], y[is_test]))


def _read(source: str) -> tuple[Any, NDArray[np.intp], NDArray[np.bool_]]:
    with np.load(source) as file:
        parts = (
            file["data"].astype(np.float64),
            file["indices"].astype(np.int32),
            file["indptr"].astype(np.int32),
        )
        counts = sparse.csr_matrix(parts, shape=tuple(file["shape"]))
        return counts, file["y"].astype(np.intp), file["is_test"]


def _invented() -> tuple[Any, NDArray[np.intp], NDArray[np.bool_]]:
    """300 texts about 4 topics, of 40 words each out of 1000."""
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(1000, 0.02), size=4) / 2 + 1 / 2000
    y = np.arange(300) % 4
    counts = np.array([rng.multinomial(40, topics[topic]) for topic in y])
    return sparse.csr_matrix(counts.astype(np.float64)), y, np.arange(300) % 3 == 0


FAMILY = Family(
    name="b4",
    title="B4 sparse, high-dimensional: relative gap 1e-3 against liblinear",
    cases=cases,
    run=run,
    columns=(
        *("corpus", "radius", "label_cost", "ours", "ours_all_cpus", "gap", "peer"),
        *("ratio", "cpu_ratio", "accuracy", "peer_accuracy"),
    ),
    summarise=ratio_summary,
)
