"""The training problem: the ball, the loss, the objective and its certificate.

A norm is added in ``norms.py``, which lists the other places that have one entry per norm;
a loss is added in ``loss.py``.  The dual bound is ``certificate/bound.py``.
"""

from ..rows.canonical import canonical_rows
from .ball import WassersteinBall
from .bounded.worst_case import RobustRisk
from .certificate.bound import certify, dual_bound
from .certificate.gap import Certificate
from .certificate.multipliers import Multipliers
from .loss import LOSSES, Loss
from .norms import NORMS, lipschitz, polar
from .problem import RobustProblem

__all__ = [
    "LOSSES",
    "NORMS",
    "Certificate",
    "Loss",
    "Multipliers",
    "RobustProblem",
    "RobustRisk",
    "WassersteinBall",
    "canonical_rows",
    "certify",
    "dual_bound",
    "lipschitz",
    "polar",
]
