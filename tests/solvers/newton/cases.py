"""Problems of many rows, and points of passes over them."""

from functools import cache

import numpy as np

from wdrsvm.rows.reduce import MemoryReduction
from wdrsvm.solvers.newton.smoothed_risk import SmoothedRisk
from wdrsvm.solvers.scaling import Scaling

from ..cases import clusters, problem_of


@cache
def many_rows(norm="l1", n_rows=20_000):
    return problem_of(*clusters(n_rows, 6, 3), norm, radius=0.02)


LAM, MU = 0.4, 0.2


# With and without trust, intercept and features that cannot be moved.
EVERY_SEED = range(16)


def smoothed_over(problem, run=map):
    return SmoothedRisk.over(problem, Scaling.of(problem), MemoryReduction(problem, run))


def coefficients(problem, seed=0):
    shape = (problem.n_classes, Scaling.of(problem).n_columns)
    coef = np.random.default_rng(seed).normal(size=shape)
    return coef - coef.mean(axis=0)
