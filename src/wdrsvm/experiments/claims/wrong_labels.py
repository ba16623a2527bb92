"""Claim: with wrong labels, two lines are more accurate than tuned logistic regression.

Only training labels are wrong.  LogisticRegression chooses among nine values of C by 5-fold
cross-validation on the given labels, by accuracy and by log-loss.  cleanlab's CleanLearning
has the LogisticRegression that log-loss chose.  On embeddings the nearest neighbours vote
too; their number is chosen by accuracy.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.neighbors import KNeighborsClassifier

from ...datasets import flip_labels, load
from ...estimators import RobustLogisticRegressionCV
from ..running.spec import Record, Tables, Task
from ..splits import Split
from .claim import Aim, Claim, gain, gains_by_table, means, shown
from .data import (
    EMBEDDINGS,
    MAX_FEATURES,
    MAX_TEST,
    TABLES,
    random_split,
    rows_of,
    some_classes,
    standardised,
)

FIRST_SEED, N_TRAIN = 3000, 200
# Intents of an embedding set in one split, and training rows per intent.
N_INTENTS, ROWS_PER_INTENT = 20, 20
CROWD_TABLE = "music_genre"
CROWDS = {"crowd, majority": "crowd_majority", "crowd, one vote": "crowd_random"}
STRENGTHS = np.logspace(-3, 3, 9)
NEIGHBOURS = (1, 3, 5, 10, 20, 40)
ROW_SHARE, CLASS_SHARE = 0.2, 0.3
OURS = "doubting"
BY_ACCURACY, BY_LOG_LOSS = "logistic, accuracy", "logistic, log-loss"
CLEANED = "CleanLearning"
# What was to be shown, in points.
MOST_BEHIND_CLEAN, LEAST_AHEAD, MOST_BEHIND_CROWD = 0.3, 1.0, 0.5
N_ERRORS = 2
AHEAD = f"{LEAST_AHEAD:g} point and {N_ERRORS} standard errors"


class Spoiling(NamedTuple):
    """A kind of wrong labels: ``spoil(X, y, rng)`` returns the labels."""

    spoil: Callable[[Any, Any, Any], Any]
    in_aims: bool = False


def _uniform(share: float) -> Spoiling:
    return Spoiling(lambda X, y, rng: flip_labels(y, share, rng), in_aims=True)


def by_class(X: Any, y: Any, rng: Any) -> Any:
    """The first half of the classes loses 30 % of its rows to the next class."""
    n_classes = y.max() + 1
    wrong = (y < (n_classes + 1) // 2) & (rng.random(len(y)) < CLASS_SHARE)
    return np.where(wrong, (y + 1) % n_classes, y)


def by_row(X: Any, y: Any, rng: Any) -> Any:
    """A fifth of the labels becomes the second likeliest, mostly near the boundary."""
    probability = LogisticRegression(max_iter=2000).fit(X, y).predict_proba(X)
    n = np.arange(len(y))
    own, others = probability[n, y], probability.copy()
    others[n, y] = -1.0
    near = np.exp(-4 * np.abs(own - others.max(axis=1)))
    n_wrong = round(ROW_SHARE * len(y))
    wrong = rng.choice(len(y), n_wrong, replace=False, p=near / near.sum())
    labels = y.copy()
    labels[wrong] = others.argmax(axis=1)[wrong]
    return labels


NOISES = {
    "clean": Spoiling(lambda X, y, rng: y),
    "10 %": _uniform(0.1),
    "20 %": _uniform(0.2),
    "30 %": _uniform(0.3),
    "by class": Spoiling(by_class),
    "by row": Spoiling(by_row),
}
QUICK = {"tables": ("contraceptive", "osuleaf"), "noises": ("clean", "20 %")}


def spoiled_split(table: str, noise: str, seed: int) -> Split:
    """Training rows whose labels are partly wrong, and test rows with true labels."""
    if noise in CROWDS:
        return _crowd_split(noise, seed)
    if table in EMBEDDINGS:
        split = _intents(table, seed)
    else:
        split = random_split(*rows_of(table), N_TRAIN, seed)
    rng = np.random.default_rng([seed, 1])
    return split._replace(y=NOISES[noise].spoil(split.X, split.y, rng))


def _intents(table: str, seed: int) -> Split:
    """Some intents of an embedding set, as unit vectors."""
    X, y = some_classes(*rows_of(table), N_INTENTS, [seed, 2])
    n_train = N_INTENTS * ROWS_PER_INTENT
    X, X_test, y, y_test = train_test_split(
        X, y, train_size=n_train, stratify=y, random_state=seed
    )
    return Split(X, y, X_test[:MAX_TEST], y_test[:MAX_TEST])


def _crowd_split(noise: str, seed: int) -> Split:
    """Rows with the labels of a crowd; the verified test rows are always the same."""
    music = load(CROWD_TABLE)
    pool = music.data[~music.is_test]
    drawn = np.random.default_rng(seed).choice(len(pool), N_TRAIN, replace=False)
    labels = music[CROWDS[noise]][drawn]
    test = music.is_test
    split = Split(pool[drawn], labels, music.data[test], music.target[test])
    return standardised(split, MAX_FEATURES)


def _folds() -> StratifiedKFold:
    return StratifiedKFold(5, shuffle=True, random_state=0)


def _logistic(split: Split, scoring: str) -> Any:
    model, grid = LogisticRegression(max_iter=1000), {"C": STRENGTHS}
    search = GridSearchCV(model, grid, scoring=scoring, cv=_folds())
    return search.fit(split.X, split.y).best_estimator_


def _cleaned(split: Split) -> Any:
    from cleanlab.classification import CleanLearning

    # Accuracy may choose so small a C that probabilities are level; cleanlab needs them.
    model = LogisticRegression(C=_logistic(split, "neg_log_loss").C, max_iter=1000)
    learner = CleanLearning(model, seed=0, find_label_issues_kwargs={"n_jobs": 1})
    return learner.fit(split.X, split.y)


def _neighbours(split: Split) -> Any:
    grid = {"n_neighbors": NEIGHBOURS}
    return GridSearchCV(KNeighborsClassifier(), grid, cv=_folds()).fit(split.X, split.y)


def _doubting(split: Split) -> Any:
    return RobustLogisticRegressionCV(label_noise="random").fit(split.X, split.y)


METHODS: dict[str, Callable[[Split], Any]] = {
    BY_ACCURACY: partial(_logistic, scoring="accuracy"),
    BY_LOG_LOSS: partial(_logistic, scoring="neg_log_loss"),
    CLEANED: _cleaned,
    OURS: _doubting,
    "k-NN": _neighbours,
}


def methods_for(table: str) -> list[str]:
    """The methods for a table; cleanlab only if it is installed."""
    left_out = set() if table in EMBEDDINGS else {"k-NN"}
    if importlib.util.find_spec("cleanlab") is None:
        left_out.add(CLEANED)
    return [name for name in METHODS if name not in left_out]


def tasks(preset: str) -> list[Task]:
    """Every method on every table with every kind of wrong labels."""
    cases = [(table, noise) for table in (*TABLES, *EMBEDDINGS) for noise in NOISES]
    cases += [(CROWD_TABLE, noise) for noise in CROWDS]
    if preset == "quick":
        cases = [(table, noise) for table in QUICK["tables"] for noise in QUICK["noises"]]
    return [
        {"table": table, "noise": noise, "method": method}
        for table, noise in cases
        for method in methods_for(table)
    ]


def run(task: Task) -> list[Record]:
    """Tune and fit on spoiled labels, and score on true ones."""
    split = spoiled_split(task["table"], task["noise"], FIRST_SEED + task["repetition"])
    began = time.process_time()
    right = METHODS[task["method"]](split).predict(split.X_test) == split.y_test
    return [{"accuracy": float(right.mean()), "seconds": time.process_time() - began}]


def aims(frame: Any) -> list[Aim]:
    """Clean labels, uniform flips and the labels of a crowd."""
    found = []
    for noise, part in frame.groupby("noise", sort=False):
        others = (BY_ACCURACY, BY_LOG_LOSS, CLEANED)
        gains = {other: gain(part, OURS, other, "accuracy") for other in others}
        found += _aims(str(noise), gains)
    return found


def _aims(noise: str, gains: dict[str, Any]) -> list[Aim]:
    if noise in NOISES and NOISES[noise].in_aims:
        return [
            Aim(
                f"{noise}: {AHEAD} ahead of {each}",
                gains[each],
                LEAST_AHEAD,
                N_ERRORS,
            )
            for each in gains
        ]
    limit = {"clean": MOST_BEHIND_CLEAN, **dict.fromkeys(CROWDS, MOST_BEHIND_CROWD)}
    if noise not in limit:
        return []
    return [
        Aim(f"{noise}: at most {limit[noise]} behind {each}", gains[each], -limit[noise])
        for each in (BY_ACCURACY, BY_LOG_LOSS)
    ]


def tables(frame: Any) -> Tables:
    """Accuracies, gains over each method, gains by table, and seconds."""
    seconds = frame.groupby("method", sort=False)["seconds"].agg(["median", "max"])
    by_table = gains_by_table(frame, OURS, BY_ACCURACY, "accuracy", "noise")
    return {
        "accuracy": means(frame, "accuracy", "noise"),
        "gains": _gains(frame),
        "gains-by-table": by_table.reset_index(),
        "seconds": seconds.round(2).reset_index(),
    }


def _gains(frame: Any) -> Any:
    import pandas

    others = [name for name in frame["method"].unique() if name != OURS]
    rows = [
        {"wrong labels": noise}
        | {each: shown(gain(part, OURS, each, "accuracy")) for each in others}
        for noise, part in frame.groupby("noise", sort=False)
    ]
    return pandas.DataFrame(rows)


CLAIM = Claim(
    name="wrong labels",
    statement=(
        'RobustLogisticRegressionCV(label_noise="random") with its defaults is more '
        "accurate than tuned LogisticRegression and than cleanlab's CleanLearning if "
        "labels are wrong, and as accurate as LogisticRegression if they are right."
    ),
    tasks=tasks,
    run=run,
    aims=aims,
    tables=tables,
    captions={
        "accuracy": "Accuracy in per cent, mean over tables",
        "gains": "Points above each method (standard error)",
        "gains-by-table": f"Points above {BY_ACCURACY}, by table (standard error)",
        "seconds": "Processor seconds to tune and to fit",
    },
    limits=(
        f"Tables have at most {N_TRAIN} training rows, embeddings {N_INTENTS} classes of "
        f"{ROWS_PER_INTENT} rows each.",
        "Labels that are wrong by class or by row are shown, but no aim was set for them.",
        "The labels of a crowd are one table, on which rules were fixed too.",
    ),
)
