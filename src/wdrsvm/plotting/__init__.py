"""Pictures, in the manner of scikit-learn's displays; they need matplotlib."""

from .certified_radius import CertifiedRadiusDisplay
from .convergence import ConvergenceDisplay
from .label_audit import LabelAuditDisplay
from .path import PathDisplay
from .search import SearchDisplay
from .worst_case import WorstCaseDisplay

__all__ = [
    "CertifiedRadiusDisplay",
    "ConvergenceDisplay",
    "LabelAuditDisplay",
    "PathDisplay",
    "SearchDisplay",
    "WorstCaseDisplay",
]
