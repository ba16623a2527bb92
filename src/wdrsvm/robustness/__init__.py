"""What a classifier promises."""

from .labels.audit import LabelAudit, audit_labels
from .paths.path import RobustPath, one_vs_rest_path, robust_path
from .promises.certified import certified_radius
from .promises.distribution import WorstCaseDistribution, worst_case_distribution
from .promises.worst_case import worst_case_risk
from .radius.observed import ObservedRadius, observed_radius
from .radius.radius_max import radius_max, radius_max_of
from .radius.rules import RadiusChoice, bootstrap_radius, guaranteed_radius

__all__ = [
    "LabelAudit",
    "ObservedRadius",
    "RadiusChoice",
    "RobustPath",
    "WorstCaseDistribution",
    "audit_labels",
    "bootstrap_radius",
    "certified_radius",
    "guaranteed_radius",
    "observed_radius",
    "one_vs_rest_path",
    "radius_max",
    "radius_max_of",
    "robust_path",
    "worst_case_distribution",
    "worst_case_risk",
]
