"""Do two lines beat cleanlab?  Accuracy of models trained on doubtful labels.

``python -m benchmarks.doubt_study [--tiny] [--splits 20] [--csv FILE] [--out FOLDER]``

``RobustLogisticRegressionCV(label_noise="random")`` has its defaults.  LogisticRegression
chooses among nine values of C by 5-fold cross-validation on the given labels: by accuracy,
and by log-loss.  cleanlab's CleanLearning has the LogisticRegression that log-loss chose.
On embeddings the nearest neighbours vote too; their number is chosen by accuracy.  Only
training labels are wrong.  ``doubt_data`` names the tables on which the rules were fixed,
and those of this study, which are others.

Results are appended to the file cell by cell, and a run that was cut short goes on where
it was.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from wdrsvm import RobustLogisticRegressionCV

from .doubt_data import EMBEDDINGS, JUDGED_ON, NOISES, case
from .doubt_report import print_report
from .label_noise_data import CROWDS, Case
from .study import all_cells, parsed

STRENGTHS = np.logspace(-3, 3, 9)
NEIGHBOURS = (1, 3, 5, 10, 20, 40)
FIRST_SEED, N_SPLITS = 3000, 20
CROWD = "music genres"


class Cell(NamedTuple):
    """One method on one split of one table with one kind of wrong labels."""

    table: str
    noise: str
    seed: int
    method: str
    accuracy: float
    seconds: float


def folds() -> StratifiedKFold:
    return StratifiedKFold(5, shuffle=True, random_state=0)


def tuned(model: Any, grid: Any, data: Case, scoring: str = "accuracy") -> Any:
    search = GridSearchCV(model, grid, scoring=scoring, cv=folds())
    return search.fit(data.X, data.labels).best_estimator_


def by_accuracy(data: Case) -> Any:
    return tuned(LogisticRegression(max_iter=1000), {"C": STRENGTHS}, data)


def by_log_loss(data: Case) -> Any:
    model = LogisticRegression(max_iter=1000)
    return tuned(model, {"C": STRENGTHS}, data, "neg_log_loss")


def cleaned(data: Case) -> Any:
    from cleanlab.classification import CleanLearning

    # Accuracy may choose so small a C that probabilities are level; cleanlab needs them.
    strength = by_log_loss(data).C
    model = LogisticRegression(C=strength, max_iter=1000)
    learner = CleanLearning(model, seed=0, find_label_issues_kwargs={"n_jobs": 1})
    return learner.fit(data.X, data.labels)


def neighbours(data: Case) -> Any:
    return tuned(KNeighborsClassifier(), {"n_neighbors": NEIGHBOURS}, data)


def doubting(data: Case) -> Any:
    search = RobustLogisticRegressionCV(label_noise="random")
    return search.fit(data.X, data.labels)


METHODS: dict[str, Callable[[Case], Any]] = {
    "logistic, accuracy": by_accuracy,
    "logistic, log-loss": by_log_loss,
    "CleanLearning": cleaned,
    "doubting": doubting,
}


def judged(table: str, noise: str, seed: int) -> list[Cell]:
    """All methods on one split."""
    data = case(table, noise, seed)
    methods = dict(METHODS)
    if table in EMBEDDINGS:
        methods["k-NN"] = neighbours
    found = []
    for name, fit in methods.items():
        began = time.process_time()
        right = fit(data).predict(data.X_test) == data.y_test
        spent = time.process_time() - began
        found.append(Cell(table, noise, seed, name, float(right.mean()), spent))
    return found


def cells(n_splits: int, tiny: bool) -> Iterator[tuple[str, str, int]]:
    """Split by split, so that a run that was cut short has whole splits."""
    if tiny:
        yield from (("contraceptive", "20 %", FIRST_SEED), (CROWD, "crowd, majority", 0))
        return
    for seed in range(FIRST_SEED, FIRST_SEED + n_splits):
        yield from ((CROWD, noise, seed) for noise in CROWDS)
        yield from ((table, noise, seed) for table in JUDGED_ON for noise in NOISES)


def main(arguments: Sequence[str] | None = None) -> list[Cell]:
    given = parsed(__doc__, arguments, N_SPLITS, "doubt.csv", tiny="two cells")
    keys = cells(given.splits, given.tiny)
    found = all_cells(Cell, given.csv, keys, judged)
    print_report(found, given.out)
    return found


if __name__ == "__main__":
    main()
