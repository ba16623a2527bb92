"""scikit-learn estimators: the only folder that uses scikit-learn's base classes.

- ``_base.py``: the five steps of every ``fit``; one file per classifier beside it.
- ``fitting/``: these steps, the options that change them, and the table of all warnings.
- ``search/``: cross-validation over radii and label costs.
- ``sets/``: sets of labels around any classifier.
- ``tables/``: the encoder of a table of numbers and categories.
- ``_promises.py``: what a fitted classifier promises; ``_states.py``: pickles and files.
"""

from typing import TYPE_CHECKING

from ..lazy_names import lazy_names

if TYPE_CHECKING:
    from .fitting.label_noise import DisbeliefWarning
    from .fitting.steps import RadiusWarning
    from .kernel import RobustSVC
    from .linear import RobustLinearSVC
    from .logistic import RobustLogisticRegression
    from .one_vs_rest import RobustOneVsRestSVC
    from .search.classifiers import (
        RobustLinearSVCCV,
        RobustLogisticRegressionCV,
        RobustSVCCV,
    )
    from .search.doubt.suspects import SuspectLabels
    from .sets.conformal import RobustConformalClassifier

# A search needs much more of scikit-learn than a fit.
_HOMES = {
    ".fitting.label_noise": ("DisbeliefWarning",),
    ".fitting.steps": ("RadiusWarning",),
    ".kernel": ("RobustSVC",),
    ".linear": ("RobustLinearSVC",),
    ".logistic": ("RobustLogisticRegression",),
    ".one_vs_rest": ("RobustOneVsRestSVC",),
    ".search.classifiers": (
        "RobustLinearSVCCV",
        "RobustLogisticRegressionCV",
        "RobustSVCCV",
    ),
    ".search.doubt.suspects": ("SuspectLabels",),
    ".sets.conformal": ("RobustConformalClassifier",),
}
__getattr__, __dir__ = lazy_names(__name__, globals(), _HOMES)

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
