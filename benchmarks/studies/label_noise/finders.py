"""How many wrong labels are found: precision and recall beside cleanlab's.

``python -m benchmarks.studies.label_noise.finders [SPLITS]`` flips labels of all tables at
random and takes the crowd's labels as they are.  Out-of-fold probabilities of the robust
logistic regression, all labels believed, go to cleanlab's ``find_label_issues`` and to the
prices of ``problem.disbelief``; beside them stand the labels that a fit at the same radius,
which starts from the same kind of scores, disbelieves in the end.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from wdrsvm import RobustLogisticRegression
from wdrsvm.problem import LOSSES, RobustProblem, WassersteinBall
from wdrsvm.problem.label_noise import DoubtedProblem

from .data import CROWDS, TABLES, Case, case
from .study import largest_radius

RADIUS_SHARE = 0.12
# Prices to trim at are shares of the loss of equal scores.
TRIM_SHARE, REPAIR_COST = 0.75, 0.4
MAX_DISBELIEF = 0.4
N_FOLDS, TOL = 5, 1e-2


def named_labels(data: Case) -> dict[str, Any]:
    """The rows whose labels each finder calls wrong."""
    from cleanlab.filter import find_label_issues

    n_classes = int(data.labels.max()) + 1
    radius = RADIUS_SHARE * largest_radius(data, n_classes, "l2")
    prices = {"trim": TRIM_SHARE * np.log(n_classes), "repair": REPAIR_COST}
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    log_probability = cross_val_predict(
        RobustLogisticRegression(radius, tol=TOL),
        data.X,
        data.labels,
        cv=folds,
        method="predict_log_proba",
    )
    found = {"cleanlab": find_label_issues(data.labels, np.exp(log_probability), n_jobs=1)}
    for disbelief, price in prices.items():
        doubts = doubted(data, n_classes, price, disbelief == "repair")
        found[f"{disbelief} price"] = doubts.beliefs_at(log_probability).belief < 1
        model = RobustLogisticRegression(
            radius, price, label_noise="random", disbelief=disbelief, tol=TOL
        )
        belief = model.fit(data.X, data.labels).label_belief_
        found[f"{disbelief} fit"] = belief < 1
    return found


def doubted(data: Case, n_classes: int, price: float, repair: bool) -> DoubtedProblem:
    weight = np.full(len(data.labels), 1 / len(data.labels))
    ball = WassersteinBall(0.0, price)
    problem = RobustProblem.of(
        data.X, data.labels, weight, ball, n_classes, loss=LOSSES["logistic"]
    )
    return DoubtedProblem(problem, repair, MAX_DISBELIEF)


def counts(n_splits: int) -> Iterator[dict[str, Any]]:
    """What each finder names in each cell, and how much of it is wrong."""
    plain = [(name, noise) for name in TABLES for noise in ("20 %", "30 %")]
    for seed in range(n_splits):
        for name, noise in plain + [("music", noise) for noise in CROWDS]:
            data = case(name, noise, seed)
            wrong = data.labels != data.truth
            for by, named in named_labels(data).items():
                hit = int((named & wrong).sum())
                yield {
                    "noise": noise,
                    "by": by,
                    "named": int(named.sum()),
                    "hit": hit,
                    "wrong": int(wrong.sum()),
                }


def main(n_splits: int) -> None:
    warnings.simplefilter("ignore")
    total = pd.DataFrame(counts(n_splits)).groupby(["noise", "by"], sort=False).sum()
    total["precision"] = total["hit"] / total["named"]
    total["recall"] = total["hit"] / total["wrong"]
    total["F1"] = 2 * total["hit"] / (total["named"] + total["wrong"])
    print(total.round(3).to_string())


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
