"""The claims as one experiment: their tasks, and one table of verdicts.

The aims of a claim were written down before the first run.  An aim that is not reached is
printed as failed.
"""

from __future__ import annotations

import warnings
from typing import Any

from ...datasets.tables import can_be_had
from ..running.spec import Experiment, Record, Tables, Task
from .claim import Claim
from .many_classes import CLAIM as MANY_CLASSES
from .rare_classes import CLAIM as RARE_CLASSES
from .worst_case import CLAIM as WORST_CASE
from .wrong_labels import CLAIM as WRONG_LABELS

CLAIMS: dict[str, Claim] = {
    each.name: each for each in (WRONG_LABELS, WORST_CASE, RARE_CLASSES, MANY_CLASSES)
}
REPETITIONS = {"quick": 2, "full": 20}


def tasks(preset: str, repetitions: int | None) -> list[Task]:
    """All claims on all tables at hand."""
    kinds = [
        {"claim": claim.name, **kind}
        for claim in CLAIMS.values()
        for kind in claim.tasks(preset)
    ]
    return [
        {**kind, "repetition": repetition}
        for repetition in range(repetitions or REPETITIONS[preset])
        for kind in _at_hand(kinds)
    ]


def _at_hand(kinds: list[Task]) -> list[Task]:
    """The tasks whose tables are on this machine; all of them if no table is."""
    names = dict.fromkeys(kind["table"] for kind in kinds)
    missing = [name for name in names if not can_be_had(name)]
    if not missing or len(missing) == len(names):
        return kinds
    warnings.warn(
        f"{', '.join(missing)} is left out of the claims: it is not on this machine. "
        f"wdrsvm.datasets.load({missing[0]!r}) tells how to get it.",
        stacklevel=3,
    )
    return [kind for kind in kinds if kind["table"] not in missing]


def table_of(task: Task) -> str:
    """The data set of a task."""
    return str(task["table"])


def run(task: Task) -> list[Record]:
    """The records of one task of one claim."""
    return CLAIMS[task["claim"]].run(task)


def summarise(frame: Any) -> Tables:
    """The verdicts, and the tables of each claim; names begin with that of the claim."""
    import pandas

    verdicts, tables = [], {}
    for claim, part in _by_claim(frame):
        verdicts += [{"claim": claim.name, **aim.record()} for aim in claim.aims(part)]
        for name, table in claim.tables(part).items():
            tables[claim.key(name)] = table
    return {"verdicts": pandas.DataFrame(verdicts), **tables}


def _by_claim(frame: Any) -> list[tuple[Claim, Any]]:
    """The claims with records, and these records without columns of other claims."""
    return [
        (claim, frame[frame["claim"] == name].dropna(axis=1, how="all"))
        for name, claim in CLAIMS.items()
        if (frame["claim"] == name).any()
    ]


EXPERIMENT = Experiment(
    name="claims",
    title="The claims of this package",
    protocol=1,
    tasks=tasks,
    run=run,
    summarise=summarise,
    table=table_of,
)
