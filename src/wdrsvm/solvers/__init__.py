"""How the training problem is solved: one folder per family, one result for all."""

from .auto import choose
from .registry import SOLVERS
from .result import (
    Progress,
    Solver,
    SolverResult,
    SolverSettings,
    SolverStatus,
    Start,
)
from .solve import solve

__all__ = [
    "SOLVERS",
    "Progress",
    "Solver",
    "SolverResult",
    "SolverSettings",
    "SolverStatus",
    "Start",
    "choose",
    "solve",
]
