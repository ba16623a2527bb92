"""Every contestant on every instance, in a process that may be ended; then the verdicts."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Container, Iterator, Sequence
from multiprocessing.connection import Connection
from typing import NamedTuple

import numpy as np

from .contestants import CONTESTANTS, REFERENCES, TOL, Answer, takes_part
from .families import instances
from .instances import Instance

# Objectives below this are told apart by an absolute gap, as the library does.
LEAST_OBJECTIVE = 1e-2
# The share of the gap asked for by which a certificate may be off: doubles have rounding.
LEEWAY = 0.1
# On a busy machine the clock runs this many times as fast as a processor's.
BUSY = 20.0


class Record(NamedTuple):
    """One contestant on one instance: its answer, or why there is none."""

    family: str
    instance: str
    contestant: str
    answer: Answer | None
    trouble: str = ""
    refused: bool = False


class Worker:
    """A process that answers one question after the other, replaced if one takes more
    processor seconds than the limit."""

    def __init__(self, time_limit: float):
        self.time_limit = time_limit
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, self.time_limit))
        self.process.start()
        theirs.close()

    def ask(self, family: str, index: int, contestant: str) -> Record:
        self.pipe.send((family, index, contestant))
        try:
            if self.pipe.poll(BUSY * self.time_limit):
                answered: Record = self.pipe.recv()
                return answered
        except EOFError:
            pass
        self.close()
        trouble = _end_of(self.process.exitcode, self.time_limit)
        self._start()
        return Record(family, instances(family)[index].name, contestant, None, trouble)

    def close(self) -> None:
        self.process.kill()
        self.process.join()


def _end_of(exit_code: int | None, time_limit: float) -> str:
    if exit_code in (-signal.SIGPROF, -signal.SIGKILL):
        return f"no end within {time_limit:g} processor seconds"
    return f"the process died with exit code {exit_code}"


def _serve(pipe: Connection, time_limit: float) -> None:
    known: dict[str, list[Instance]] = {}
    while True:
        family, index, contestant = pipe.recv()
        if family not in known:
            known[family] = instances(family)
        # Nothing handles this signal: it ends the process, compiled loops included.
        signal.setitimer(signal.ITIMER_PROF, time_limit)
        record = attempt(known[family][index], contestant)
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        pipe.send(record)


def attempt(instance: Instance, contestant: str) -> Record:
    """One contestant on one instance, here and now."""
    told = instance.family, instance.name, contestant
    try:
        return Record(*told, CONTESTANTS[contestant](instance))
    except Exception as error:
        refused = isinstance(error, ValueError) and _is_about_data(error)
        return Record(*told, None, f"{type(error).__name__}: {error}", refused)


def _is_about_data(error: ValueError) -> bool:
    """A refusal names the argument that it refuses."""
    return str(error).startswith(
        ("X ", "y ", "label_cost ", "A classifier ", "sample_weight")
    )


def run(
    families: Sequence[str],
    contestants: Sequence[str],
    time_limit: float,
    known: Container[tuple[str, str, str]] = (),
) -> Iterator[Record]:
    """All records that are not yet known, one after the other."""
    worker = Worker(time_limit)
    try:
        for family in families:
            for index, instance in enumerate(instances(family)):
                for name in contestants:
                    told = family, instance.name, name
                    if takes_part(name, instance) and told not in known:
                        yield worker.ask(family, index, name)
    finally:
        worker.close()


class Verdict(NamedTuple):
    """A record judged beside all others of its instance.

    ``solved``: the gap asked for is reached and proven.  ``honest``: it is, or that it is
    not was said, and whatever was claimed holds.
    """

    record: Record
    solved: bool
    honest: bool
    why: str = ""


def verdicts(records: Sequence[Record]) -> list[Verdict]:
    """All records judged, instance by instance."""
    groups: dict[tuple[str, ...], list[Record]] = {}
    for record in records:
        # An estimator finds its own root of a kernel's matrix: another problem.
        own = record.contestant if record.family == "kernels" else ""
        key = record.family, record.instance, own if own == "auto" else ""
        groups.setdefault(key, []).append(record)
    return [verdict for group in groups.values() for verdict in _judged(group)]


def _judged(group: Sequence[Record]) -> list[Verdict]:
    answers = [record.answer for record in group if record.answer is not None]
    attained = min((a.exact for a in answers if np.isfinite(a.exact)), default=np.inf)
    bounds = [a.dual_bound for a in answers if a.dual_bound <= attained + _leeway(attained)]
    floor = max(bounds, default=-np.inf)
    return [_verdict(record, attained, floor) for record in group]


def _leeway(objective: float) -> float:
    return LEEWAY * TOL * max(objective, LEAST_OBJECTIVE)


def _verdict(record: Record, attained: float, floor: float) -> Verdict:
    answer = record.answer
    if answer is None:
        return Verdict(record, False, record.refused, record.trouble)
    if record.contestant in REFERENCES:
        # Of the judges only the classifier counts, beside the best bound of all.
        reached = _reaches(answer.exact, floor)
        return Verdict(record, reached, reached or not answer.claims)
    wrong = _what_is_wrong(answer, attained)
    reached = _reaches(answer.exact, answer.dual_bound)
    return Verdict(record, answer.claims and reached and not wrong, not wrong, wrong)


def _reaches(objective: float, bound: float) -> bool:
    return objective - bound <= (1 + LEEWAY) * TOL * max(objective, LEAST_OBJECTIVE)


def _what_is_wrong(answer: Answer, attained: float) -> str:
    claimed = answer.objective, answer.dual_bound
    # Who does not claim the gap may be off by what no classifier's scores can tell.
    leeway = _leeway(answer.exact) + (0.0 if answer.claims else answer.rounding)
    if not np.isfinite([answer.objective, answer.exact]).all() or np.isnan(claimed[1]):
        return f"not finite: {claimed}, {answer.exact}"
    if abs(answer.objective - answer.exact) > leeway:
        return f"claims the risk {answer.objective:.9g} of one of {answer.exact:.9g}"
    if answer.dual_bound > attained + _leeway(attained):
        return f"the bound {answer.dual_bound:.9g} is above the risk {attained:.9g}"
    if answer.claims and not _reaches(answer.objective, answer.dual_bound):
        return f"claims a gap that is {answer.objective - answer.dual_bound:.2g}"
    return ""
