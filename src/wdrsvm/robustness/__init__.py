"""What a classifier promises, for fitted classifiers of any library.

``promises/`` are worst cases of a given ball, ``radius/`` chooses the radius of a ball,
``paths/`` trains on grids of radii and label costs, ``labels/`` finds suspicious labels.
"""

from typing import TYPE_CHECKING

from ..lazy_names import lazy_names

if TYPE_CHECKING:
    from .labels.audit import audit_labels
    from .labels.audit_result import LabelAudit
    from .labels.noise_test import label_noise_test
    from .labels.noise_test_result import LabelNoiseTest
    from .labels.votes import VotedLabels, trust_from_votes
    from .paths.path import RobustPath, one_vs_rest_path, robust_path
    from .promises.certified import certified_radius
    from .promises.distributions.distribution import (
        WorstCaseDistribution,
        worst_case_distribution,
    )
    from .promises.errors.error_curve import ClassErrorCurves, ErrorCurve
    from .promises.errors.scorer import WorstCaseErrorScorer, worst_case_error_scorer
    from .promises.errors.tradeoff import Tradeoff, tradeoff
    from .promises.errors.worst_case_error import error_curve, worst_case_error
    from .promises.sets.label_sets import LabelSets
    from .promises.worst_case import worst_case_risk
    from .radius.observed import ObservedRadius, observed_radius
    from .radius.radius_max import radius_max, radius_max_of
    from .radius.rules import RadiusChoice, bootstrap_radius, guaranteed_radius

_HOMES = {
    ".labels.audit": ("audit_labels",),
    ".labels.audit_result": ("LabelAudit",),
    ".labels.noise_test": ("label_noise_test",),
    ".labels.noise_test_result": ("LabelNoiseTest",),
    ".labels.votes": ("VotedLabels", "trust_from_votes"),
    ".paths.path": ("RobustPath", "one_vs_rest_path", "robust_path"),
    ".promises.certified": ("certified_radius",),
    ".promises.distributions.distribution": (
        "WorstCaseDistribution",
        "worst_case_distribution",
    ),
    ".promises.errors.error_curve": ("ClassErrorCurves", "ErrorCurve"),
    ".promises.errors.scorer": ("WorstCaseErrorScorer", "worst_case_error_scorer"),
    ".promises.errors.tradeoff": ("Tradeoff", "tradeoff"),
    ".promises.errors.worst_case_error": ("error_curve", "worst_case_error"),
    ".promises.sets.label_sets": ("LabelSets",),
    ".promises.worst_case": ("worst_case_risk",),
    ".radius.observed": ("ObservedRadius", "observed_radius"),
    ".radius.radius_max": ("radius_max", "radius_max_of"),
    ".radius.rules": ("RadiusChoice", "bootstrap_radius", "guaranteed_radius"),
}
__getattr__, __dir__ = lazy_names(__name__, globals(), _HOMES)

__all__ = [
    "ClassErrorCurves",
    "ErrorCurve",
    "LabelAudit",
    "LabelNoiseTest",
    "LabelSets",
    "ObservedRadius",
    "RadiusChoice",
    "RobustPath",
    "Tradeoff",
    "VotedLabels",
    "WorstCaseDistribution",
    "WorstCaseErrorScorer",
    "audit_labels",
    "bootstrap_radius",
    "certified_radius",
    "error_curve",
    "guaranteed_radius",
    "label_noise_test",
    "observed_radius",
    "one_vs_rest_path",
    "radius_max",
    "radius_max_of",
    "robust_path",
    "tradeoff",
    "trust_from_votes",
    "worst_case_distribution",
    "worst_case_error",
    "worst_case_error_scorer",
    "worst_case_risk",
]
