"""The solvers by name, and what each can do: declared once, checked in one place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import NamedTuple, cast

from ..problem import RobustProblem
from ..problem.norms import TRIANGLE
from .result import Solver
from .runtime.blas_threads import forks_wait

BALLS = ("l1", "l2", "linf")


class Address(NamedTuple):
    """Where a function lives.  Its module is imported when it is first asked for, so that
    importing the package stays light and needs no optional dependency."""

    module: str
    function: str

    def load(self) -> Solver:
        with forks_wait():
            module = import_module(f".{self.module}", __package__)
        return cast(Solver, getattr(module, self.function))


@dataclass(frozen=True)
class Declared:
    """A solver and what it can do.

    Parameters
    ----------
    address : Address
        The function that solves problems of unbounded features.
    norms : tuple of str
        Keys of the norms it knows, ``"triangle"`` for ``lipschitz="triangle"``.
    smooth_losses : bool
        Whether it knows losses other than the Crammer-Singer loss.
    distributed : bool
        Whether reductions are all that it needs of the rows.
    bounded : Address or None
        The function that solves problems with ``support`` or ``categorical``, for all
        losses.
    """

    address: Address
    norms: tuple[str, ...] = (*BALLS, TRIANGLE)
    smooth_losses: bool = False
    distributed: bool = False
    bounded: Address | None = None

    def solver_of(self, problem: RobustProblem) -> Solver:
        """The function for such a problem."""
        if problem.is_bounded and self.bounded is not None:
            return self.bounded.load()
        return self.address.load()

    def missing(self, problem: RobustProblem) -> Iterator[str]:
        """What the problem asks for and the solver cannot do."""
        if problem.is_bounded and self.bounded is None:
            yield "support and categorical"
        if problem.is_distributed and not self.distributed:
            yield "rows that are not in memory (a dask collection)"
        if problem.norm == TRIANGLE and TRIANGLE not in self.norms:
            yield "lipschitz='triangle'"
        elif problem.norm not in self.norms:
            yield f"norm={problem.norm!r}"
        knows_losses = self.smooth_losses or (problem.is_bounded and self.bounded)
        if problem.loss.temperature > 0 and not knows_losses:
            yield f"losses other than the Crammer-Singer loss ({problem.loss})"


SOLVERS = {
    "interior-point": Declared(
        Address("interior_point.loop", "interior_point"),
        bounded=Address("interior_point.bounded.loop", "bounded_interior_point"),
    ),
    "newton": Declared(
        Address("newton.method", "newton"),
        smooth_losses=True,
        distributed=True,
        bounded=Address("newton.bounded.rounds", "bounded_newton"),
    ),
    "first-order": Declared(Address("first_order.loop", "first_order"), smooth_losses=True),
    "subgradient": Declared(Address("subgradient.algorithm1", "subgradient"), BALLS),
    "stochastic": Declared(Address("subgradient.stochastic", "stochastic"), BALLS),
    "highs": Declared(Address("reference.peers", "highs"), ("l1", "linf")),
    "clarabel": Declared(Address("reference.peers", "clarabel")),
}


def check_name(name: object) -> None:
    """Refuse what is no solver's name."""
    if not isinstance(name, str) or name not in ("auto", *SOLVERS):
        raise ValueError(f"solver must be one of {_listed(SOLVERS)}, got {name!r}.")


def check_able(problem: RobustProblem, name: str) -> None:
    """Refuse a solver that cannot do what the problem asks for, and name those that can."""
    lacks = " and ".join(SOLVERS[name].missing(problem))
    if lacks:
        able = [other for other in SOLVERS if not any(SOLVERS[other].missing(problem))]
        raise ValueError(
            f"solver {name!r} does not know {lacks}: use one of {_listed(able)}."
        )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(known) for known in ("auto", *names))
