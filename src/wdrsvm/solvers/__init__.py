"""How the training problem is solved: one algorithm a file, one result for all."""

from .choose import SOLVERS, choose, solve
from .result import (
    Progress,
    Solver,
    SolverResult,
    SolverSettings,
    SolverStatus,
    Start,
)

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
