"""Label costs written out, for comparison."""

from itertools import product

import numpy as np


def costs_by_hand(problem):
    """Label costs (N, C): 0 of the own label, inf wherever a factor is."""
    cost = np.zeros((problem.n_rows, problem.n_classes))
    trust = problem.label_trust
    for n, c in product(range(problem.n_rows), range(problem.n_classes)):
        if c == problem.y[n]:
            continue
        factors = [problem.label_cost[problem.y[n], c]]
        factors += [] if trust is None else [trust[n]]
        cost[n, c] = np.inf if np.inf in factors else np.prod(factors)
    return cost
