"""What a family of benchmarks is: cases to run, a way to run one, a summary."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

Record = dict[str, Any]  # one row of the table; numbers, strings and booleans only
Case = Any  # whatever the family's own ``run`` understands


@dataclass(frozen=True)
class Options:
    """What the command line decides."""

    tiny: bool = False
    solver: str = "auto"
    threads: int = 1
    repeats: int = 5
    time_limit: float = 300.0
    processor: bool = False

    @property
    def clock(self) -> Callable[[], float]:
        """Seconds on the wall, or those of the processor if others use it, too."""
        return time.process_time if self.processor else time.perf_counter


@dataclass(frozen=True)
class Family:
    """A family: ``cases`` lists the work, ``run`` measures one case."""

    name: str
    title: str
    cases: Callable[[Options], Sequence[Case]]
    run: Callable[[Case, Options], Record]
    columns: Sequence[str]
    summarise: Callable[[Sequence[Record]], Record] = field(default=lambda records: {})
