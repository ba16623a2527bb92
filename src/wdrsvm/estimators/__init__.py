"""scikit-learn estimators: the only rooms that know scikit-learn's base classes."""

from ._fit import RadiusWarning
from .kernel import RobustSVC
from .linear import RobustLinearSVC

__all__ = ["RadiusWarning", "RobustLinearSVC", "RobustSVC"]
