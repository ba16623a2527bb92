"""Plots in the style of scikit-learn's displays; they need matplotlib."""

from .certified_radius import CertifiedRadiusDisplay
from .convergence import ConvergenceDisplay
from .error_curve import ErrorCurveDisplay
from .label_audit import LabelAuditDisplay
from .path import PathDisplay
from .search import SearchDisplay
from .sets import CoverageDisplay, SetSizeDisplay
from .tradeoff import TradeoffDisplay
from .worst_case import WorstCaseDisplay

__all__ = [
    "CertifiedRadiusDisplay",
    "ConvergenceDisplay",
    "CoverageDisplay",
    "ErrorCurveDisplay",
    "LabelAuditDisplay",
    "PathDisplay",
    "SearchDisplay",
    "SetSizeDisplay",
    "TradeoffDisplay",
    "WorstCaseDisplay",
]
