"""Classifiers that stay right when features are noisy, labels wrong, classes rare."""

from .estimators import (
    RadiusWarning,
    RobustLinearSVC,
    RobustLogisticRegression,
    RobustOneVsRestSVC,
    RobustSVC,
)
from .problem import WassersteinBall
from .robustness import radius_max, worst_case_risk

__version__ = "0.1.0"

__all__ = [
    "RadiusWarning",
    "RobustLinearSVC",
    "RobustLogisticRegression",
    "RobustOneVsRestSVC",
    "RobustSVC",
    "WassersteinBall",
    "__version__",
    "radius_max",
    "worst_case_risk",
]
