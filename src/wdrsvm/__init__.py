"""Classifiers that stay right when features are noisy, labels wrong, classes rare."""

from .estimators import (
    DisbeliefWarning,
    RadiusWarning,
    RobustLinearSVC,
    RobustLogisticRegression,
    RobustOneVsRestSVC,
    RobustSVC,
)
from .problem import WassersteinBall
from .robustness import (
    LabelAudit,
    RadiusChoice,
    WorstCaseDistribution,
    audit_labels,
    bootstrap_radius,
    certified_radius,
    guaranteed_radius,
    radius_max,
    worst_case_distribution,
    worst_case_risk,
)

__version__ = "0.1.0"

__all__ = [
    "DisbeliefWarning",
    "LabelAudit",
    "RadiusChoice",
    "RadiusWarning",
    "RobustLinearSVC",
    "RobustLogisticRegression",
    "RobustOneVsRestSVC",
    "RobustSVC",
    "WassersteinBall",
    "WorstCaseDistribution",
    "__version__",
    "audit_labels",
    "bootstrap_radius",
    "certified_radius",
    "guaranteed_radius",
    "radius_max",
    "worst_case_distribution",
    "worst_case_risk",
]
