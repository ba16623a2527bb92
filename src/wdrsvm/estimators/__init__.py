"""scikit-learn estimators: the only rooms that know scikit-learn's base classes."""

from ._fit import RadiusWarning
from .linear import RobustLinearSVC

__all__ = ["RadiusWarning", "RobustLinearSVC"]
