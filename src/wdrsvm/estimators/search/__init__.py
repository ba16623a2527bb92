"""Searches over radii and label costs: grid, folds, scores, and the choice of a point."""

from .classifiers import RobustLinearSVCCV, RobustLogisticRegressionCV, RobustSVCCV

__all__ = ["RobustLinearSVCCV", "RobustLogisticRegressionCV", "RobustSVCCV"]
