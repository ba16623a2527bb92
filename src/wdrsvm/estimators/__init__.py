"""scikit-learn estimators: the only folder that uses scikit-learn's base classes."""

from ._fit import RadiusWarning
from ._label_noise import DisbeliefWarning
from ._suspects import SuspectLabels
from .conformal import RobustConformalClassifier
from .kernel import RobustSVC
from .linear import RobustLinearSVC
from .logistic import RobustLogisticRegression
from .one_vs_rest import RobustOneVsRestSVC
from .search import RobustLinearSVCCV, RobustLogisticRegressionCV, RobustSVCCV

__all__ = [
    "DisbeliefWarning",
    "RadiusWarning",
    "RobustConformalClassifier",
    "RobustLinearSVC",
    "RobustLinearSVCCV",
    "RobustLogisticRegression",
    "RobustLogisticRegressionCV",
    "RobustOneVsRestSVC",
    "RobustSVC",
    "RobustSVCCV",
    "SuspectLabels",
]
