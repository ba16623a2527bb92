"""What a classifier promises."""

from .certified import certified_radius
from .distribution import WorstCaseDistribution, worst_case_distribution
from .label_audit import LabelAudit, audit_labels
from .radius import radius_max, radius_max_of
from .worst_case import worst_case_risk

__all__ = [
    "LabelAudit",
    "WorstCaseDistribution",
    "audit_labels",
    "certified_radius",
    "radius_max",
    "radius_max_of",
    "worst_case_distribution",
    "worst_case_risk",
]
