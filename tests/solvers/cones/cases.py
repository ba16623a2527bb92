"""Random points of every cone."""

import numpy as np
from scipy import linalg

from wdrsvm.problem.norms import incidence
from wdrsvm.solvers.cones.choice import CONES
from wdrsvm.solvers.cones.polyhedral import Curvature

N_CLASSES, N_TOUCHABLE, N_COLUMNS = 3, 4, 6


PAIRS = N_CLASSES * (N_CLASSES - 1) // 2


DUAL_ORDER = {"l1": np.inf, "l2": 2, "linf": 1, "triangle": 2}


CONIC = ("l2", "triangle")


def combinations(norm):
    """What the norm measures: differences of classes, or twice each class."""
    return 2 * np.eye(N_CLASSES) if norm == "triangle" else incidence(N_CLASSES)


def flat(norm, value):
    """Slacks, multipliers or goals of a cone as one vector in the order of R."""
    if norm == "linf":
        return np.concatenate([np.ravel(value[0]), np.ravel(value[1])])
    return np.ravel(value)


def slack_of(norm, cone):
    return flat(norm, (cone.sides.slack, cone.caps.slack) if norm == "linf" else cone.slack)


def mult_of(norm, cone):
    return flat(norm, (cone.sides.mult, cone.caps.mult) if norm == "linf" else cone.mult)


def step_parts(norm, step):
    parts = step if norm == "linf" else (step,)
    slack = np.concatenate([np.ravel(part.slack) for part in parts])
    return slack, np.concatenate([np.ravel(part.mult) for part in parts])


def random_cone(norm, seed=0):
    """A cone at a feasible point with multipliers far from central."""
    rng = np.random.default_rng(seed)
    coef = rng.normal(size=(N_CLASSES, N_TOUCHABLE))
    coef -= (coef.max(axis=0) + coef.min(axis=0)) / 2
    diff = combinations(norm) @ coef
    lam = 1.3 * np.linalg.norm(diff, DUAL_ORDER[norm], axis=1).max()
    cone = CONES[norm](N_CLASSES, N_TOUCHABLE, 1.0, 1.0)
    cone.place(coef, lam, 0.5)
    if norm in CONIC:
        tail = rng.normal(size=(len(diff), N_TOUCHABLE))
        head = np.linalg.norm(tail, axis=1) * rng.uniform(1.05, 3.0, len(diff))
        cone.mult = np.column_stack([head, tail])
        cone._rescale()
        return cone, coef, lam
    for rows in (cone.sides, cone.caps) if norm == "linf" else (cone,):
        rows.mult = rows.mult * rng.lognormal(size=rows.mult.shape)
    return cone, coef, lam


def nesterov_todd(cone):
    """W of every pair as a dense matrix, from its definition by square roots.

    W^2 maps multiplier to slack, and the only symmetric positive map of the cone that
    does so is P(w)^(1/2) b in the notation of the file it tests.
    """
    blocks = []
    for r, y in zip(cone.slack, cone.mult, strict=True):
        J = np.diag([1.0] + [-1.0] * (len(r) - 1))
        det_r, det_y = r @ J @ r, y @ J @ y
        r_unit, y_unit = r / np.sqrt(det_r), y / np.sqrt(det_y)
        gamma = np.sqrt((1 + r_unit @ y_unit) / 2)
        w = (r_unit + J @ y_unit) / (2 * gamma)
        square = np.sqrt(det_r / det_y) * (2 * np.outer(w, w) - J)
        blocks.append(np.real(linalg.sqrtm(square)))
    return blocks


def random_goal(norm, seed=1):
    rng = np.random.default_rng(seed)
    if norm == "l1":
        return rng.uniform(0.1, 1.0, (2, N_CLASSES, N_TOUCHABLE))
    if norm in CONIC:
        return rng.normal(size=(len(combinations(norm)), 1 + N_TOUCHABLE))
    return rng.uniform(0.1, 1.0, (2, PAIRS, N_TOUCHABLE)), rng.uniform(0.1, 1.0, PAIRS)


def cone_curvature(cone):
    """What the cone adds, read back from a wider matrix on (M, lam)."""
    full = np.zeros((N_CLASSES * N_COLUMNS + 1,) * 2)
    cone.add_curvature(Curvature(full, N_CLASSES, N_COLUMNS, N_TOUCHABLE))
    grid = np.arange(N_CLASSES * N_COLUMNS).reshape(N_CLASSES, N_COLUMNS)
    index = np.append(grid[:, :N_TOUCHABLE].ravel(), len(full) - 1)
    others = np.setdiff1d(np.arange(len(full)), index)
    np.testing.assert_array_equal(full[others], 0.0)
    np.testing.assert_array_equal(full[:, others], 0.0)
    return full[np.ix_(index, index)]
