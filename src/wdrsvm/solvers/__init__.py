"""How the training problem is solved: one folder per family, one result for all.

``solve.py`` is the way in; ``auto.py`` chooses the family, ``registry.py`` knows what each
family can do, ``result.py`` has the result and its status.  Solvers neither print nor warn.
"""

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
