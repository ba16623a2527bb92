"""What a classifier promises."""

from .radius import radius_max, radius_max_of
from .worst_case import worst_case_risk

__all__ = ["radius_max", "radius_max_of", "worst_case_risk"]
