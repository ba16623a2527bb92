"""Classifiers that stay right when features are noisy, labels wrong, classes rare."""

from .estimators import (
    DisbeliefWarning,
    RadiusWarning,
    RobustLinearSVC,
    RobustLinearSVCCV,
    RobustLogisticRegression,
    RobustLogisticRegressionCV,
    RobustOneVsRestSVC,
    RobustSVC,
    RobustSVCCV,
)
from .estimators._states import _blank as _blank
from .model_files import load_model, save_model
from .onnx_export import to_onnx
from .problem import WassersteinBall
from .robustness import (
    LabelAudit,
    ObservedRadius,
    RadiusChoice,
    RobustPath,
    WorstCaseDistribution,
    audit_labels,
    bootstrap_radius,
    certified_radius,
    guaranteed_radius,
    observed_radius,
    one_vs_rest_path,
    radius_max,
    robust_path,
    worst_case_distribution,
    worst_case_risk,
)
from .version import __version__

__all__ = [
    "DisbeliefWarning",
    "LabelAudit",
    "ObservedRadius",
    "RadiusChoice",
    "RadiusWarning",
    "RobustLinearSVC",
    "RobustLinearSVCCV",
    "RobustLogisticRegression",
    "RobustLogisticRegressionCV",
    "RobustOneVsRestSVC",
    "RobustPath",
    "RobustSVC",
    "RobustSVCCV",
    "WassersteinBall",
    "WorstCaseDistribution",
    "__version__",
    "audit_labels",
    "bootstrap_radius",
    "certified_radius",
    "guaranteed_radius",
    "load_model",
    "observed_radius",
    "one_vs_rest_path",
    "radius_max",
    "robust_path",
    "save_model",
    "to_onnx",
    "worst_case_distribution",
    "worst_case_risk",
]
