"""The kernel problem as published, solved by Clarabel.

Written without a line of the library: the functions of the classes are given by their
coordinates A (C, r) on the eigenvectors of the Gram matrix, K = F F', which makes the
lengths sqrt(a' K a) plain norms.  Variables A, b (C,), lam, s (N,), t (C,); all C^2 rows a
sample; either bound on the functions.
"""

from itertools import combinations, combinations_with_replacement, pairwise

import numpy as np
import pytest
from scipy import sparse

clarabel = pytest.importorskip("clarabel")


class Columns:
    """Where each variable stands."""

    def __init__(self, n_rows, n_classes, rank):
        ends = np.cumsum([0, n_classes * rank, n_classes, 1, n_rows, n_classes])
        ranges = [np.arange(first, last) for first, last in pairwise(ends)]
        self.coef, self.shift, self.lam, self.slack, self.length = ranges
        self.coef = self.coef.reshape(n_classes, rank)
        self.n = int(ends[-1])

    def row(self, *entries):
        row = np.zeros(self.n)
        for columns, factor in entries:
            row[columns] += factor
        return row


def published_optimum(gram, y, weight, radius, price, bound, fit_intercept=True):
    """The optimum for label prices (N, C), 0 for the given label."""
    n_rows, n_classes = price.shape
    values, vectors = np.linalg.eigh(gram)
    kept = values > 1e-13 * values[-1]
    factor = vectors[:, kept] * np.sqrt(values[kept])
    at = Columns(n_rows, n_classes, factor.shape[1])
    linear, constants = _loss_rows(at, factor, price, float(fit_intercept))
    linear.append(at.row((at.lam, 1.0)))
    if bound == "triangle":
        for i, j in combinations_with_replacement(range(n_classes), 2):
            ends = (at.length[i], -1.0), (at.length[j], -1.0)
            linear.append(at.row((at.lam, 1.0), *ends))
        cones = [_cone(at, at.length[i], {i: 1.0}) for i in range(n_classes)]
    else:
        pairs = combinations(range(n_classes), 2)
        cones = [_cone(at, at.lam, {i: 1.0, j: -1.0}) for i, j in pairs]
    # Without these the last class's function, shift and length may be anything.
    held = [at.row((at.shift[-1], 1.0))]
    if bound == "exact":
        held += [at.row((column, 1.0)) for column in (*at.coef[-1], *at.length)]
    cost = at.row((at.lam, radius), (at.slack, weight))
    return _solved(cost, linear, constants, cones, held)


def _loss_rows(at, factor, price, with_shift):
    """Rows that must be at least the constants that come with them."""
    rows, constants = [], []
    for n, line in enumerate(factor):
        for label in np.flatnonzero(np.isfinite(price[n])):
            for winner in range(price.shape[1]):
                scores = [
                    entry
                    for which, sign in ((winner, -1.0), (label, 1.0))
                    for entry in (
                        (at.coef[which], sign * line),
                        (at.shift[which], sign * with_shift),
                    )
                ]
                rows.append(at.row((at.slack[n], 1.0), (at.lam, price[n, label]), *scores))
                constants.append(float(winner != label))
    return rows, constants


def _cone(at, head, signs):
    """Rows of head >= || sum of sign * function ||."""
    rows = [at.row((head, 1.0))]
    for d in range(at.coef.shape[1]):
        rows.append(at.row(*((at.coef[i, d], sign) for i, sign in signs.items())))
    return rows


def _solved(cost, linear, constants, cones, held):
    constants = np.pad(constants, (0, len(linear) - len(constants)))
    matrix = np.array(linear + [row for cone in cones for row in cone] + held)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-8
    found = clarabel.DefaultSolver(
        sparse.csc_matrix((len(cost), len(cost))),
        cost,
        sparse.csc_matrix(-matrix),
        np.pad(-constants, (0, len(matrix) - len(linear))),
        [
            clarabel.NonnegativeConeT(len(linear)),
            *(clarabel.SecondOrderConeT(len(cone)) for cone in cones),
            clarabel.ZeroConeT(len(held)),
        ],
        settings,
    ).solve()
    assert str(found.status) in ("Solved", "AlmostSolved")
    return found.obj_val
