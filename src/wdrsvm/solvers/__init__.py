"""How the training problem is solved: one algorithm a file, one result for all."""

from .result import (
    Progress,
    Solver,
    SolverResult,
    SolverSettings,
    SolverStatus,
    Start,
)
from .solve import SOLVERS, choose, solve

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
