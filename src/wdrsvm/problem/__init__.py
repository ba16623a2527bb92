"""What is solved: the ball, the loss, the objective and its certificate."""

from .ball import WassersteinBall
from .bounded import RobustRisk
from .canonical import canonical_rows
from .certificate import Certificate, certify, dual_bound
from .loss import LOSSES, Loss
from .multipliers import Multipliers
from .norms import NORMS, lipschitz, polar
from .objective import RobustProblem

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
