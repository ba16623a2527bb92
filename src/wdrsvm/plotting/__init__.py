"""Pictures, in the manner of scikit-learn's displays; they need matplotlib."""

from .label_audit import LabelAuditDisplay

__all__ = ["LabelAuditDisplay"]
