"""The training program of a mixed table for Clarabel, with one set of variables per pair.

For l1 transport the program by pairs is exact, and far smaller than one constraint for each
combination of ends and categories.
"""

from __future__ import annotations

import time

import numpy as np
from scipy import sparse

from wdrsvm.problem import RobustProblem
from wdrsvm.solvers.interior_point.bounded.evaluation import BoundedEvaluation
from wdrsvm.solvers.interior_point.bounded.layout import BoundedLayout


def clarabel_on_pairs(problem: RobustProblem, tol: float) -> tuple[float, float]:
    """Processor seconds, and the risk of the classifier found, recomputed from it."""
    import clarabel

    evaluation = BoundedEvaluation.of(problem.without_idle_rows())
    layout, plain = evaluation.layout(), evaluation.normalised
    cost, rows, bounds = _program(layout, plain)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = tol
    settings.max_threads = 1
    nothing = sparse.csc_matrix((len(cost), len(cost)))
    begun = time.process_time()
    cones = [clarabel.NonnegativeConeT(len(bounds))]
    solver = clarabel.DefaultSolver(nothing, cost, rows.tocsc(), bounds, cones, settings)
    x = np.array(solver.solve().x)
    seconds = time.process_time() - begun
    n_classes, width = plain.n_classes, layout.n_shared
    table = x[: n_classes * width].reshape(n_classes, width)
    intercept = table[:, -1] if plain.fit_intercept else np.zeros(n_classes)
    found = evaluation.units.original(table[:, : plain.n_features], intercept)
    return seconds, float(problem.risk(*found).value)


def _program(
    layout: BoundedLayout, problem: RobustProblem
) -> tuple[np.ndarray, sparse.csr_matrix, np.ndarray]:
    """cost . z, rows z <= bounds, for z = (coef, lam, own of all pairs, s)."""
    n_rows, n_own, width = problem.n_rows, layout.n_own, layout.n_shared
    n_coef, n_pairs = problem.n_classes * width, layout.n_pairs
    design = sparse.csr_matrix(layout.design(problem.moves.rows))
    price = problem.label_price()
    blocks, bounds = [], []
    for k in range(n_pairs):
        unfold = sparse.lil_matrix((width + 1 + n_own, n_coef + 1 + n_pairs * n_own))
        each = np.arange(width)
        unfold[each, layout.winner[k] * width + each] = 1.0
        unfold[each, layout.label[k] * width + each] = -1.0
        unfold[width, n_coef] = 1.0
        own = np.arange(n_own)
        unfold[width + 1 + own, n_coef + 1 + k * n_own + own] = 1.0
        toll = price[:, layout.label[k]]
        kept = np.flatnonzero(np.isfinite(toll))
        losses = (design[kept] @ unfold.tocsr()).tolil()
        losses[:, n_coef] = losses[:, [n_coef]].toarray() - toll[kept, None]
        pick = sparse.csr_matrix((-np.ones(len(kept)), (np.arange(len(kept)), kept)))
        pick.resize(len(kept), n_rows)
        sides = sparse.csr_matrix(layout.sides) @ unfold.tocsr()
        none = sparse.csr_matrix((sides.shape[0], n_rows))
        blocks += [sparse.hstack([losses, pick]), sparse.hstack([sides, none])]
        bounds += [np.full(len(kept), -1.0), np.zeros(sides.shape[0])]
    size = n_coef + 1 + n_pairs * n_own
    above = [sparse.csr_matrix((n_rows, size)), -sparse.identity(n_rows)]
    cost = np.zeros(size + n_rows)
    cost[n_coef], cost[size:] = problem.radius, problem.weight
    rows = sparse.vstack([*blocks, sparse.hstack(above)]).tocsr()
    return cost, rows, np.concatenate([*bounds, np.zeros(n_rows)])
