"""What a classifier promises."""

from .certified import certified_radius
from .distribution import WorstCaseDistribution, worst_case_distribution
from .label_audit import LabelAudit, audit_labels
from .path import RobustPath, one_vs_rest_path, robust_path
from .promises.error_curve import ClassErrorCurves, ErrorCurve
from .promises.scorer import WorstCaseErrorScorer, worst_case_error_scorer
from .promises.tradeoff import Tradeoff, tradeoff
from .promises.worst_case_error import error_curve, worst_case_error
from .radius import radius_max, radius_max_of
from .radius_rules import RadiusChoice, bootstrap_radius, guaranteed_radius
from .worst_case import worst_case_risk

__all__ = [
    "ClassErrorCurves",
    "ErrorCurve",
    "LabelAudit",
    "RadiusChoice",
    "RobustPath",
    "Tradeoff",
    "WorstCaseDistribution",
    "WorstCaseErrorScorer",
    "audit_labels",
    "bootstrap_radius",
    "certified_radius",
    "error_curve",
    "guaranteed_radius",
    "one_vs_rest_path",
    "radius_max",
    "radius_max_of",
    "robust_path",
    "tradeoff",
    "worst_case_distribution",
    "worst_case_error",
    "worst_case_error_scorer",
    "worst_case_risk",
]
