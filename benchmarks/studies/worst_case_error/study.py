"""Who withstands most?  Worst-case and plain errors on test rows of nine tables.

``python -m benchmarks.studies.worst_case_error.study [--tiny] [--splits 20] [--csv FILE]``

No rule was fixed on these tables.  Training rows are 250 at most, features are
standardised.  ``RobustLinearSVC(loss="ramp")`` is given the radius that is judged, and
nothing is tuned.  LogisticRegression chooses C, and the convex machine its radius, by
5-fold cross-validation of the training rows: by accuracy, and by the worst-case error.

Results are appended to the file split by split, and a run that was cut short goes on where
it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from wdrsvm.experiments.claims.worst_case import FIRST_SEED, JUDGED_ON, run

from ..frame import all_cells, parsed
from .report import Verdict, balls_of, judge, print_report

N_SPLITS = 20


class Judged(NamedTuple):
    """One classifier on the test rows of one split, in one ball."""

    table: str
    seed: int
    norm: str
    radius: float
    method: str
    worst_case: float
    plain: float
    seconds: float


def judged(name: str, seed: int) -> list[Judged]:
    """All methods on one split of one table."""
    records = run({"table": name, "repetition": seed - FIRST_SEED})
    return [Judged(name, seed, **record) for record in records]


def studied(file: Path, names: Iterable[str], n_splits: int) -> list[Judged]:
    """What the file has, and what it lacks of these tables and splits."""
    seeds = range(FIRST_SEED, FIRST_SEED + n_splits)
    keys = [(name, seed) for seed in seeds for name in names]
    return all_cells(Judged, file, keys, judged)


def claim(file: Path, n_splits: int = N_SPLITS) -> list[Verdict]:
    """The study's verdicts, over all balls first; it goes on where the file ends."""
    found = studied(file, JUDGED_ON, n_splits)
    return [judge(found, ball) for ball in (None, *balls_of(found))]


def main(arguments: Sequence[str] | None = None) -> list[Judged]:
    given = parsed(
        __doc__, arguments, N_SPLITS, "worst-case-error.csv", tiny="one split of two tables"
    )
    names = ("contraceptive", "acsf1") if given.tiny else JUDGED_ON
    found = studied(given.csv, names, 1 if given.tiny else given.splits)
    print_report(found, given.out)
    return found


if __name__ == "__main__":
    main()
