"""Do two lines beat cleanlab?  Accuracy of models trained on doubtful labels.

``python -m benchmarks.studies.doubt.study [--tiny] [--splits 20] [--csv FILE] [--out
FOLDER]``

``RobustLogisticRegressionCV(label_noise="random")`` has its defaults.  LogisticRegression
chooses among nine values of C by 5-fold cross-validation on the given labels: by accuracy,
and by log-loss.  cleanlab's CleanLearning has the LogisticRegression that log-loss chose.
On embeddings the nearest neighbours vote too; their number is chosen by accuracy.  Only
training labels are wrong.  The rules were fixed on ``DEVELOPED_ON``; the study judges on
other tables, those of ``wdrsvm reproduce claims``, with its splits and methods.

Results are appended to the file cell by cell, and a run that was cut short goes on where
it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from wdrsvm.experiments.claims.data import EMBEDDINGS, TABLES
from wdrsvm.experiments.claims.wrong_labels import (
    CROWD_TABLE,
    CROWDS,
    FIRST_SEED,
    NOISES,
    methods_for,
    run,
)

from ..frame import all_cells, parsed
from .report import print_report

DEVELOPED_ON = (
    *("wine", "seeds", "iris", "breast cancer", "ai4i", "wine quality", "steel plates"),
    *("digits", "music", "simulated: 2 classes, 10 features"),
    *("simulated: 4 classes, 20 features", "simulated: 3 blobs, 15 features"),
)
JUDGED_ON = (*TABLES, *EMBEDDINGS)
N_SPLITS = 20


class Cell(NamedTuple):
    """One method on one split of one table with one kind of wrong labels."""

    table: str
    noise: str
    seed: int
    method: str
    accuracy: float
    seconds: float


def judged(table: str, noise: str, seed: int) -> list[Cell]:
    """All methods on one split."""
    found = []
    for method in methods_for(table):
        task = {"table": table, "noise": noise, "method": method}
        (record,) = run(task | {"repetition": seed - FIRST_SEED})
        found.append(Cell(table, noise, seed, method, **record))
    return found


def cells(n_splits: int, tiny: bool) -> Iterator[tuple[str, str, int]]:
    """Split by split, so that a run that was cut short has whole splits."""
    if tiny:
        yield from (
            ("contraceptive", "20 %", FIRST_SEED),
            (CROWD_TABLE, "crowd, majority", FIRST_SEED),
        )
        return
    for seed in range(FIRST_SEED, FIRST_SEED + n_splits):
        yield from ((CROWD_TABLE, noise, seed) for noise in CROWDS)
        yield from ((table, noise, seed) for table in JUDGED_ON for noise in NOISES)


def main(arguments: Sequence[str] | None = None) -> list[Cell]:
    given = parsed(__doc__, arguments, N_SPLITS, "doubt.csv", tiny="two cells")
    keys = cells(given.splits, given.tiny)
    found = all_cells(Cell, given.csv, keys, judged)
    print_report(found, given.out)
    return found


if __name__ == "__main__":
    main()
