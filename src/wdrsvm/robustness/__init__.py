"""What a classifier promises."""

from .certified import certified_radius
from .distribution import WorstCaseDistribution, worst_case_distribution
from .label_audit import LabelAudit, audit_labels
from .path import RobustPath, one_vs_rest_path, robust_path
from .radius import radius_max, radius_max_of
from .radius_rules import RadiusChoice, bootstrap_radius, guaranteed_radius
from .worst_case import worst_case_risk

__all__ = [
    "LabelAudit",
    "RadiusChoice",
    "RobustPath",
    "WorstCaseDistribution",
    "audit_labels",
    "bootstrap_radius",
    "certified_radius",
    "guaranteed_radius",
    "one_vs_rest_path",
    "radius_max",
    "radius_max_of",
    "robust_path",
    "worst_case_distribution",
    "worst_case_risk",
]
