"""scikit-learn estimators: the only rooms that know scikit-learn's base classes."""

from ._fit import RadiusWarning
from .kernel import RobustSVC
from .linear import RobustLinearSVC
from .logistic import RobustLogisticRegression
from .one_vs_rest import RobustOneVsRestSVC

__all__ = [
    "RadiusWarning",
    "RobustLinearSVC",
    "RobustLogisticRegression",
    "RobustOneVsRestSVC",
    "RobustSVC",
]
