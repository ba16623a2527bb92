"""General-purpose solvers as peers, each given its best chance."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from wdrsvm.problem import RobustProblem
from wdrsvm.solvers.reference.peers import (
    Limits,
    ReferenceSolution,
    solve_clarabel,
    solve_highs,
)

from .family import Options, Record
from .measure import Timing, judge, reached, thread_limit, time_ours

Peer = Callable[[RobustProblem, str, Limits], ReferenceSolution]

# A peer's own tolerance is not a gap: it gets the loosest of these, times the gap asked
# for, whose answer is good enough.
TOLERANCE_LADDER = (1.0, 1e-2, 1e-4)
# Runs shorter than this are repeated and the fastest counts.
SHORT_SECONDS = 2.0
# A peer is stopped when it has taken this many times as long as the best before it: others
# may use the processor more than before.
SLOWER = 1.5


def _highs(method: str) -> Peer:
    def run(problem: RobustProblem, program: str, limits: Limits) -> ReferenceSolution:
        return solve_highs(problem, program=program, method=method, limits=limits)

    return run


def _clarabel(problem: RobustProblem, program: str, limits: Limits) -> ReferenceSolution:
    return solve_clarabel(problem, program=program, limits=limits)


PEERS: dict[str, Peer] = {
    "highs-simplex": _highs("simplex"),
    "highs-ipm": _highs("ipm"),
    "clarabel": _clarabel,
}


def able(names: Sequence[str], problem: RobustProblem) -> list[str]:
    """The peers that can solve the problem: HiGHS has no second-order cones."""
    return [n for n in names if n == "clarabel" or problem.ball.norm != "l2"]


def time_peer(
    name: str,
    problem: RobustProblem,
    program: str,
    tol: float,
    known_bound: float,
    options: Options,
) -> Timing:
    """Time of a peer at the loosest tolerance whose answer is good enough.

    Good enough means within ``tol`` of the best bound known, whoever proved it.  Only the
    solver's own run counts, not the building of its program.
    """
    for factor in TOLERANCE_LADDER:
        found, seconds = _fastest(name, problem, program, factor * tol, options)
        objective, bound = judge(problem, found.coef, found.intercept, found.multipliers)
        good = reached(objective, max(bound, known_bound), tol)
        if good or found.limited:
            break
    return Timing(seconds, objective, bound, good, found.limited, found.seconds)


def seconds_of(found: ReferenceSolution, options: Options) -> float:
    """A peer's time by the clock that the options name."""
    return found.processor_seconds if options.processor else found.seconds


def _fastest(
    name: str, problem: RobustProblem, program: str, tol: float, options: Options
) -> tuple[ReferenceSolution, float]:
    limits = Limits(tol, None, options.time_limit, options.threads)
    with thread_limit(options.threads):
        runs = [PEERS[name](problem, program, limits)]
        if seconds_of(runs[0], options) <= SHORT_SECONDS:
            runs += [PEERS[name](problem, program, limits) for _ in range(2)]
    return runs[0], min(seconds_of(run, options) for run in runs)


def versus(
    problem: RobustProblem,
    names: Sequence[str],
    program: str,
    tol: float,
    options: Options,
) -> Record:
    """One row: our time, each peer's, and the ratio of the best peer's to ours.

    If no peer finished in its time, the ratio is a lower bound and says so.
    """
    ours = time_ours(problem, tol, options)
    theirs: dict[str, Timing] = {}
    for name in able(names, problem):
        patient = replace(options, time_limit=_patience(theirs, options))
        theirs[name] = time_peer(name, problem, program, tol, ours.dual_bound, patient)
    best = _best(theirs)
    peer_seconds = theirs[best].seconds if best else math.nan
    record: Record = {
        "ours": ours.seconds,
        "gap": ours.gap,
        "reached": ours.reached,
        "objective": ours.objective,
        "peer": peer_seconds,
        "best_peer": best or "none",
        "ratio": peer_seconds / ours.seconds,
        "lower_bound": not any(timing.reached for timing in theirs.values()),
    }
    return record | {name: _told(timing) for name, timing in theirs.items()}


def _patience(theirs: dict[str, Timing], options: Options) -> float:
    """Seconds on the wall after which a peer is slower than one that arrived."""
    arrived = [timing.on_the_wall for timing in theirs.values() if timing.reached]
    longest = max(SLOWER * min(arrived, default=math.inf), SHORT_SECONDS)
    return min(longest, options.time_limit)


def _best(theirs: dict[str, Timing]) -> str | None:
    """The fastest that arrived, else the one that gave up first of those out of time."""
    arrived = [name for name, timing in theirs.items() if timing.reached]
    waiting = [name for name, timing in theirs.items() if timing.timed_out]
    return min(arrived or waiting, key=lambda name: theirs[name].seconds, default=None)


def _told(timing: Timing) -> Record:
    return {
        "seconds": timing.seconds,
        "objective": timing.objective,
        "gap": timing.gap,
        "reached": timing.reached,
        "timed_out": timing.timed_out,
    }


def ratio_summary(records: Sequence[Record]) -> Record:
    """Geometric mean and minimum of the ratios, and how often the gap was missed."""
    ratios = np.array([record["ratio"] for record in records], dtype=float)
    counted = ratios[np.isfinite(ratios)]
    if not len(counted):
        return {"cases": len(records), "measured": 0}
    return {
        "cases": len(records),
        "measured": len(counted),
        "geometric_mean": float(np.exp(np.log(counted).mean())),
        "minimum": float(counted.min()),
        "lower_bounds": sum(bool(record["lower_bound"]) for record in records),
        "gap_missed_by_us": sum(not record["reached"] for record in records),
    }
