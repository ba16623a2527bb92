"""Descend on the smooth stand-in for the worst-case error (``smooth_error.error``)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...arrays import Floats
from ...problem.ramp import RampProblem
from ..descent_settings import DESCENT
from ..runtime.blas_threads import single_threaded_blas
from ..runtime.interrupts import plain_interrupts
from .error import SmoothError


class Classifier(NamedTuple):
    """Coefficients (C, P) and intercepts (C,)."""

    coef: Floats
    intercept: Floats


class _Units(NamedTuple):
    """Where features are zero, and what one unit of them costs, both (P,)."""

    origin: Floats
    scale: Floats

    def inside(self, found: Classifier) -> Classifier:
        intercept = found.intercept + found.coef @ self.origin
        return Classifier(found.coef / self.scale, intercept)

    def outside(self, found: Classifier) -> Classifier:
        coef = found.coef * self.scale
        return Classifier(coef, found.intercept - coef @ self.origin)


def softened(ramp: RampProblem, start: Classifier) -> Classifier:
    """The end of a descent on the smooth error that begins at a classifier.

    The multiplier is that of the classifier at hand, and is taken anew after each round.
    """
    units = _units(ramp)
    smooth = _smooth_error(ramp, units)
    found = start
    # The products are thin: threads inside them cost several times what they save.
    with single_threaded_blas(), plain_interrupts():
        for _ in range(DESCENT.soft_rounds):
            lam = ramp.multiplier(*found, DESCENT.least_bought)
            if not (0 < lam < np.inf) or not found.coef.any():
                break
            inside = _descended(smooth, units.inside(found), lam)
            found = units.outside(inside)
    return found


def _descended(smooth: SmoothError, start: Classifier, lam: float) -> Classifier:
    shape, n_coef = start.coef.shape, start.coef.size
    flat = np.concatenate([start.coef.ravel(), start.intercept])
    # The error knows no scale, but the first step of the method does.
    flat /= np.abs(flat).max()
    end = smooth.descended(flat, lam, DESCENT.soft_steps)
    return Classifier(end[:n_coef].reshape(shape), end[n_coef:])


def _units(ramp: RampProblem) -> _Units:
    """The mean of the rows, unless this is no classifier with intercepts or they are
    sparse; the features' costs."""
    problem = ramp.problem
    cost, origin = problem.feature_cost, np.zeros(problem.n_features)
    if problem.fit_intercept and not sparse.issparse(problem.X):
        origin = problem.weight @ problem.features(slice(None)) / problem.weight.sum()
    return _Units(np.asarray(origin), np.where(np.isfinite(cost), cost, 1.0))


def _smooth_error(ramp: RampProblem, units: _Units) -> SmoothError:
    problem = ramp.problem
    X: Any = problem.features(slice(None))
    if sparse.issparse(X):
        X = sparse.csr_array(X @ sparse.diags_array(units.scale))
    else:
        X = np.ascontiguousarray((X - units.origin) * units.scale)
    return SmoothError(
        X,
        np.ascontiguousarray(problem.y),
        np.ascontiguousarray(problem.weight),
        np.ascontiguousarray(ramp.flip_cost),
        np.isfinite(problem.feature_cost),
        problem.ball.norm,
        problem.n_classes,
        DESCENT.softness,
        problem.fit_intercept,
    )
