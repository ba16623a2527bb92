"""The robust problem of any loss of the family as exponential cones, solved by Clarabel.

Written without a line of the solvers: variables M (C, P), b (C,), lam, s (N,), and u, one
for each sample, label that it can have and class, with

    (z_j + margin [j != c] - z_c - s_n - lam k_nc) / temperature <= log u_ncj,
    sum_j u_ncj <= 1,      lam >= ||(M_i - M_j) / cost||_*  for all pairs;

without a margin all labels of a sample have the same soft maximum t (N,), so that fewer
cones do:

    (z_j - t_n) / temperature <= log u_nj,   sum_j u_nj <= 1,   s_n >= t_n - z_c - lam k_nc;

and the binary problem of a one-vs-rest machine, f(x) = w.x + b and labels t = 1 or -1,

    s_n >= 0,   s_n >= 1 - t_n f(x_n),   s_n >= 1 + t_n f(x_n) - lam k_n,   lam >= ||w||_*.
"""

from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy import sparse

clarabel = pytest.importorskip("clarabel")


class Rows:
    """Rows of constant - matrix @ x, in the order of their cones."""

    def __init__(self):
        self.entries, self.constants, self.cones = [], [], []

    def add(self, entries, constant=0.0):
        """A row: constant plus the sum of factor x over (columns, factors)."""
        self.entries.append(entries)
        self.constants.append(constant)

    def close(self, cone):
        self.cones.append(cone)

    def matrix(self, n_columns):
        parts = [
            (np.full(np.size(columns), row), columns, factors)
            for row, entries in enumerate(self.entries)
            for columns, factors in entries
        ]
        row, column, factor = (
            np.concatenate([np.broadcast_to(p[i], np.shape(p[0])) for p in parts])
            for i in range(3)
        )
        shape = len(self.entries), n_columns
        return sparse.csc_matrix((-factor, (row, column)), shape)


def optimum(problem):
    """Clarabel's optimum of a problem."""
    n_classes, n_features, n_rows = problem.n_classes, problem.n_features, problem.n_rows
    price = problem.attainable_flip_cost()
    price[np.arange(n_rows), problem.y] = 0.0
    n_cells = int(np.isfinite(price).sum()) * n_classes
    ends = np.cumsum([0, n_classes * n_features, n_classes, 1, n_rows, n_cells])
    coef, shift, lam, slack, cell = (np.arange(*pair) for pair in pairwise(ends))
    coef, n_columns = coef.reshape(n_classes, n_features), int(ends[-1])
    rows = Rows()
    _add_norm(rows, problem, coef, lam)
    _add_losses(rows, problem, price, coef, shift, lam, slack, cell)
    _hold(rows, problem, coef, shift)
    cost = np.zeros(n_columns)
    cost[lam], cost[slack] = problem.radius, problem.weight
    return _solved(cost, rows)


def optimum_without_margin(problem):
    """The same by the program with one soft maximum for each sample."""
    assert problem.loss.margin == 0
    n_classes, n_features, n_rows = problem.n_classes, problem.n_features, problem.n_rows
    sizes = [n_classes * n_features, n_classes, 1, n_rows, n_rows, n_rows * n_classes]
    ends = np.cumsum([0, *sizes])
    coef, shift, lam, slack, top, cell = (np.arange(*pair) for pair in pairwise(ends))
    coef, cell = coef.reshape(n_classes, n_features), cell.reshape(n_rows, n_classes)
    rows = Rows()
    _add_norm(rows, problem, coef, lam)
    _add_soft_maxima(rows, problem, coef, shift, top, cell)
    _add_labels(rows, problem, coef, shift, lam, slack, top)
    _hold(rows, problem, coef, shift)
    cost = np.zeros(int(ends[-1]))
    cost[lam], cost[slack] = problem.radius, problem.weight
    return _solved(cost, rows)


def _add_soft_maxima(rows, problem, coef, shift, top, cell):
    sharp = 1.0 / problem.loss.temperature
    for n, j in np.ndindex(*cell.shape):
        score = [(coef[j], sharp * problem.X[n]), (shift[[j]], sharp)]
        rows.add([*score, (top[[n]], -sharp)])
        rows.add([], 1.0)
        rows.add([(cell[n, [j]], 1.0)])
        rows.close(clarabel.ExponentialConeT())
    for line in cell:
        rows.add([(line, -1.0)], 1.0)
    rows.close(clarabel.NonnegativeConeT(len(cell)))


def _add_labels(rows, problem, coef, shift, lam, slack, top):
    price = problem.label_price(attainable=True)
    possible = np.argwhere(np.isfinite(price))
    for n, label in possible:
        score = [(coef[label], problem.X[n]), (shift[[label]], 1.0)]
        above = [(slack[[n]], 1.0), (top[[n]], -1.0)]
        rows.add([*above, *score, (lam, price[n, label])])
    rows.close(clarabel.NonnegativeConeT(len(possible)))


def _add_losses(rows, problem, price, coef, shift, lam, slack, cell):
    loss, n_classes = problem.loss, problem.n_classes
    cells = cell.reshape(-1, n_classes)
    for each, (n, label) in enumerate(np.argwhere(np.isfinite(price))):
        x = problem.X[n] / loss.temperature
        for j in range(n_classes):
            margin = loss.margin * (j != label)
            entries = [
                (coef[j], x),
                (coef[label], -x),
                (shift[[j, label]], np.array([1.0, -1.0]) / loss.temperature),
                (slack[[n]], -1.0 / loss.temperature),
                (lam, -price[n, label] / loss.temperature),
            ]
            rows.add(entries, margin / loss.temperature)
            rows.add([], 1.0)
            rows.add([(cells[each, [j]], 1.0)])
            rows.close(clarabel.ExponentialConeT())
    for line in cells:
        rows.add([(line, -1.0)], 1.0)
    rows.close(clarabel.NonnegativeConeT(len(cells)))


def _add_norm(rows, problem, coef, lam):
    cost = problem.attainable_feature_cost()
    touchable = np.flatnonzero(np.isfinite(cost))
    rows.add([(lam, 1.0)])
    rows.close(clarabel.NonnegativeConeT(1))
    for i, j in combinations(range(problem.n_classes), 2):
        ends = [(coef[[i, j], [d, d]], np.array([1.0, -1.0]) / cost[d]) for d in touchable]
        if problem.ball.norm == "l2":
            rows.add([(lam, 1.0)])
            for end in ends:
                rows.add([end])
            rows.close(clarabel.SecondOrderConeT(1 + len(ends)))
            continue
        _add_linear_norm(rows, problem.ball.norm, ends, lam)


def _add_linear_norm(rows, norm, ends, lam):
    """l1 transport bounds every entry; linf the sum of them under every choice of signs."""
    before = len(rows.entries)
    if norm == "l1":
        for columns, factors in ends:
            rows.add([(lam, 1.0), (columns, factors)])
            rows.add([(lam, 1.0), (columns, -factors)])
    else:
        for signs in np.ndindex(*(2,) * len(ends)):
            flipped = [
                (columns, factors * (1 - 2 * sign))
                for (columns, factors), sign in zip(ends, signs, strict=True)
            ]
            rows.add([(lam, 1.0), *flipped])
    rows.close(clarabel.NonnegativeConeT(len(rows.entries) - before))


def _hold(rows, problem, coef, shift):
    """The last class at zero; no intercepts, or the last one at zero."""
    held = [*coef[-1], *(shift[-1:] if problem.fit_intercept else shift)]
    for column in held:
        rows.add([(np.array([column]), 1.0)])
    rows.close(clarabel.ZeroConeT(len(held)))


def _solved(cost, rows):
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-9
    found = clarabel.DefaultSolver(
        sparse.csc_matrix((len(cost), len(cost))),
        cost,
        rows.matrix(len(cost)),
        np.array(rows.constants),
        rows.cones,
        settings,
    ).solve()
    return found.obj_val, str(found.status)


def binary_hinge_optimum(X, signs, weight, ball, price, fit_intercept):
    """Clarabel's optimum for flip prices (N,)."""
    n_rows, n_features = X.shape
    coef, shift = np.arange(n_features), np.array([n_features])
    lam, slack = shift + 1, np.arange(n_features + 2, n_features + 2 + n_rows)
    cost = ball.feature_costs(n_features)
    rows = Rows()
    rows.add([(lam, 1.0)])
    rows.close(clarabel.NonnegativeConeT(1))
    ends = [(coef[[d]], np.array([1 / cost[d]])) for d in np.flatnonzero(cost < np.inf)]
    if ball.norm == "l2":
        rows.add([(lam, 1.0)])
        for end in ends:
            rows.add([end])
        rows.close(clarabel.SecondOrderConeT(1 + len(ends)))
    else:
        _add_linear_norm(rows, ball.norm, ends, lam)
    before = len(rows.entries)
    for n, (x, sign) in enumerate(zip(X, signs, strict=True)):
        score = [(coef, sign * x), (shift, sign * float(fit_intercept))]
        turned = [(columns, -np.asarray(factors)) for columns, factors in score]
        rows.add([(slack[[n]], 1.0)])
        rows.add([(slack[[n]], 1.0), *score], -1.0)
        if price[n] < np.inf:
            rows.add([(slack[[n]], 1.0), *turned, (lam, price[n])], -1.0)
    rows.close(clarabel.NonnegativeConeT(len(rows.entries) - before))
    if not fit_intercept:
        rows.add([(shift, 1.0)])
        rows.close(clarabel.ZeroConeT(1))
    total = np.zeros(slack[-1] + 1)
    total[lam], total[slack] = ball.radius, weight
    return _solved(total, rows)
