"""Classifiers that stay right when features are noisy, labels wrong, classes rare."""

from .estimators import RadiusWarning, RobustLinearSVC
from .problem import WassersteinBall
from .robustness import (
    LabelAudit,
    WorstCaseDistribution,
    audit_labels,
    certified_radius,
    radius_max,
    worst_case_distribution,
    worst_case_risk,
)

__version__ = "0.1.0"

__all__ = [
    "LabelAudit",
    "RadiusWarning",
    "RobustLinearSVC",
    "WassersteinBall",
    "WorstCaseDistribution",
    "__version__",
    "audit_labels",
    "certified_radius",
    "radius_max",
    "worst_case_distribution",
    "worst_case_risk",
]
