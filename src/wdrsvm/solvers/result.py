"""What a solver takes and gives: settings, a start, progress, a result."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, Protocol

import numpy as np

from ..arrays import Floats
from ..problem import Certificate, RobustProblem, RobustRisk
from ..problem.certificate.bound import dual_point
from ..problem.certificate.gap import allowed_gap
from ..problem.certificate.multipliers import MultiplierSource
from ..problem.certificate.radius_envelope import DualPoint


class SolverStatus(Enum):
    """How a solve ended."""

    CONVERGED = "converged"
    MAX_ITER = "max_iter"
    STALLED = "stalled"


def status_of(certificate: Certificate, tol: float, stalled: bool) -> SolverStatus:
    """How a solve ended: what is proven comes first, whatever stopped the solver."""
    if certificate.holds(tol):
        return SolverStatus.CONVERGED
    return SolverStatus.STALLED if stalled else SolverStatus.MAX_ITER


class Start(NamedTuple):
    """A point to start from: coef (C, P), intercept (C,), lam.

    ``multipliers`` are those of a neighbouring problem with the same rows and classes, if
    they are known.
    """

    coef: Floats
    intercept: Floats
    lam: float
    multipliers: MultiplierSource | None = None


class Progress(NamedTuple):
    """One line of a solver's history."""

    n_iter: int
    objective: float
    dual_bound: float
    seconds: float

    @property
    def gap(self) -> float:
        return self.objective - self.dual_bound


Callback = Callable[[Progress], None]


@dataclass(frozen=True)
class SolverSettings:
    """What every solver is told.

    Parameters
    ----------
    tol : float
        Relative duality gap asked for.
    max_iter : int or None
        Limit of iterations; None is the solver's own.
    seed : int
        Seed of solvers that draw random numbers.
    callback : callable or None
        Called with each new ``Progress``.
    gives_up : bool
        Whether "first-order" ends early when the gap does not promise to close within
        ``max_iter`` epochs.
    """

    tol: float = 1e-6
    max_iter: int | None = None
    seed: int = 0
    callback: Callback | None = None
    gives_up: bool = False


@dataclass(frozen=True, eq=False)
class SolverResult:
    """A classifier and what is proven of it."""

    coef: Floats
    intercept: Floats
    certificate: Certificate
    multipliers: MultiplierSource | None
    status: SolverStatus
    n_iter: int
    solver: str
    history: tuple[Progress, ...] = ()
    dual_point: DualPoint | None = None


@dataclass
class History:
    """Collects progress and passes it on."""

    callback: Callback | None
    records: list[Progress] = field(default_factory=list)
    began: float = field(default_factory=time.perf_counter)

    def add(self, n_iter: int, objective: float, dual_bound: float) -> None:
        record = Progress(n_iter, objective, dual_bound, time.perf_counter() - self.began)
        self.records.append(record)
        if self.callback is not None:
            self.callback(record)

    def add_lines(self, n_iter: int, lines: Floats, dual_bound: float) -> None:
        """Iterations after the first ``n_iter`` that went by unwatched, up to now: rows
        (objective, gap, seconds since they began)."""
        began = time.perf_counter() - self.began - (lines[-1, 2] if len(lines) else 0.0)
        for objective, _, seconds in lines.tolist():
            n_iter += 1
            self.records.append(Progress(n_iter, objective, dual_bound, began + seconds))


@dataclass
class Incumbent:
    """The best classifier and the best bound seen; they need not come together."""

    coef: Floats
    intercept: Floats
    objective: float = np.inf
    lam: float = 0.0
    dual_bound: float = -np.inf
    multipliers: MultiplierSource | None = None
    dual_point: DualPoint | None = None

    @classmethod
    def of_equal_scores(cls, problem: RobustProblem) -> Incumbent:
        """Nothing found yet."""
        shape = problem.n_classes, problem.n_features
        return cls(np.zeros(shape), np.zeros(problem.n_classes))

    def offer(self, coef: Floats, intercept: Floats, risk: RobustRisk) -> None:
        if risk.value < self.objective:
            self.coef, self.intercept = coef, intercept
            self.objective, self.lam = risk

    def raise_bound(
        self,
        bound: float,
        multipliers: MultiplierSource | None,
        point: DualPoint | None = None,
    ) -> None:
        if bound > self.dual_bound:
            self.dual_bound, self.multipliers = bound, multipliers
            self.dual_point = point

    def certify(
        self,
        problem: RobustProblem,
        coef: Floats,
        intercept: Floats,
        multipliers: MultiplierSource,
        tol: float,
        steering: bool = True,
    ) -> None:
        """Offer a point and its multipliers, both evaluated by the problem alone."""
        self.offer(coef, intercept, problem.risk(coef, intercept))
        self.raise_bound_by(problem, multipliers, tol, steering)

    def raise_bound_by(
        self,
        problem: RobustProblem,
        multipliers: MultiplierSource,
        tol: float,
        steering: bool = True,
    ) -> None:
        """Offer the bound of these multipliers alone."""
        enough = self.objective - allowed_gap(tol, self.objective)
        point = dual_point(problem, multipliers, enough, steering)
        self.raise_bound(point.bound(problem.radius), multipliers, point)

    @property
    def certificate(self) -> Certificate:
        # At an exact optimum rounding may put the bound a hair above the objective.
        excess = self.dual_bound - self.objective
        bound = self.objective if 0 < excess < 1e-9 else self.dual_bound
        return Certificate(self.objective, bound, self.lam)

    def result(
        self, solver: str, tol: float, stalled: bool, n_iter: int, history: History
    ) -> SolverResult:
        """What was found; ``stalled`` says why the solver gave up, if it did."""
        return SolverResult(
            coef=self.coef,
            intercept=self.intercept,
            certificate=self.certificate,
            multipliers=self.multipliers,
            status=status_of(self.certificate, tol, stalled),
            n_iter=n_iter,
            solver=solver,
            history=tuple(history.records),
            dual_point=self.dual_point,
        )


class Solver(Protocol):
    """An algorithm: problem in, result out; silent."""

    def __call__(
        self,
        problem: RobustProblem,
        settings: SolverSettings,
        start: Start | None = None,
    ) -> SolverResult: ...
