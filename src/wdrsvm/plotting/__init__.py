"""Pictures, in the manner of scikit-learn's displays; they need matplotlib."""

from .label_audit import LabelAuditDisplay
from .path import PathDisplay
from .search import SearchDisplay

__all__ = ["LabelAuditDisplay", "PathDisplay", "SearchDisplay"]
