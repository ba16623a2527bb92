"""Random problems in boxes and with categories, and programs that solve them by force."""

from __future__ import annotations

import itertools

import cvxpy as cp
import numpy as np

from wdrsvm import WassersteinBall
from wdrsvm.problem import RobustProblem

DUAL = {"l1": "inf", "l2": 2, "linf": 1}


def bounded_problem(seed, norm, n_rows=8, n_features=2, endless=0.2):
    """Numeric features, one with probability ``endless`` without an end on each side, and
    for odd seeds two categorical features."""
    rng = np.random.default_rng(seed)
    n_classes = 2 + seed % 3
    y = np.r_[np.arange(n_classes), rng.integers(0, n_classes, n_rows)][:n_rows]
    X = rng.normal(size=(n_rows, n_features)) + y[:, None]
    low = X.min(axis=0) - rng.exponential(size=n_features)
    high = X.max(axis=0) + rng.exponential(size=n_features)
    low[rng.random(n_features) < endless] = -np.inf
    high[rng.random(n_features) < endless] = np.inf
    categorical = None
    if seed % 2:
        first = np.eye(3)[rng.integers(0, 3, n_rows)]
        second = np.eye(2)[rng.integers(0, 2, n_rows)]
        X = np.hstack([X, first, second])
        low, high = (np.r_[end, np.zeros(5)] for end in (low, high))
        columns = n_features + np.arange(5)
        costs = rng.exponential(size=2) + 0.05
        categorical = [(columns[:3], costs[0]), (columns[3:], costs[1])]
    feature_cost = rng.exponential(size=X.shape[1]) + 0.2
    feature_cost[rng.random(X.shape[1]) < 0.15] = np.inf
    label_cost = rng.exponential(size=(n_classes, n_classes)) + 0.3
    label_cost[rng.random(label_cost.shape) < 0.2] = np.inf
    np.fill_diagonal(label_cost, 0.0)
    weight = rng.exponential(size=n_rows)
    ball = WassersteinBall(
        0.01 + 0.1 * rng.exponential(),
        label_cost,
        norm,
        feature_cost,
        None if seed % 5 == 0 and categorical else (low, high),
        categorical,
    )
    return RobustProblem.of(X, y, weight / weight.sum(), ball, n_classes, seed % 4 != 3)


def brute_force(problem, classifier=None):
    """The optimum, or the risk of a classifier, from explicit programs.

    l1 transport: every row may keep each feature or take it to an end, and take every
    combination of categories, one constraint for each.  Other norms: the shared split.
    """
    n_classes, n_features = problem.n_classes, problem.n_features
    lam, slack = cp.Variable(nonneg=True), cp.Variable(problem.n_rows, nonneg=True)
    constraints = []
    if classifier is None:
        coef, intercept = cp.Variable((n_classes, n_features)), cp.Variable(n_classes)
        constraints += [coef[-1] == 0, intercept[-1] == 0]
        if not problem.fit_intercept:
            constraints.append(intercept == 0)
    else:
        coef, intercept = (cp.Constant(part) for part in classifier)
    price = problem.flip_cost()
    price[np.arange(problem.n_rows), problem.y] = 0.0
    family = _enumerated if problem.ball.norm == "l1" else _split
    for j, c in itertools.permutations(range(n_classes), 2):
        slope = coef[j] - coef[c]
        possible = np.flatnonzero(np.isfinite(price[:, c]))
        if not len(possible):
            continue
        gains, extra = family(problem, slope, lam)
        constraints += extra
        for rows, gain in gains:
            kept = np.isin(rows, possible)
            rows = rows[kept]
            constraints.append(
                slack[rows]
                >= 1
                + problem.X[rows] @ slope
                + intercept[j]
                - intercept[c]
                - lam * price[rows, c]
                + gain[np.flatnonzero(kept)]
            )
    objective = problem.radius * lam + problem.weight @ slack
    return cp.Problem(cp.Minimize(objective), constraints).solve(solver="CLARABEL")


def _numeric(problem):
    numeric = np.isfinite(problem.ball.feature_costs(problem.n_features))
    for group in problem.ball.groups(problem.n_features):
        numeric[group.columns] = False
    return np.flatnonzero(numeric)


def _category_moves(problem):
    """Pairs (cost, function from rows to moved rows) for all combinations of categories."""
    groups = [g for g in problem.ball.groups(problem.n_features) if np.isfinite(g.cost)]
    for target in itertools.product(*(range(len(group.columns)) for group in groups)):
        moved = problem.X.copy()
        cost = np.zeros(problem.n_rows)
        for group, k in zip(groups, target, strict=True):
            cost += group.cost * (moved[:, group.columns].argmax(axis=1) != k)
            moved[:, group.columns] = np.eye(len(group.columns))[k]
        yield cost, moved - problem.X


def _enumerated(problem, slope, lam):
    low, high = problem.ball.box(problem.n_features)
    cost = problem.ball.feature_costs(problem.n_features)
    numeric = _numeric(problem)
    extra = [slope[d] <= lam * cost[d] for d in numeric if np.isinf(high[d])]
    extra += [-slope[d] <= lam * cost[d] for d in numeric if np.isinf(low[d])]
    choices = [
        [None, *(end[d] for end in (low, high) if np.isfinite(end[d]))] for d in numeric
    ]
    gains = []
    for category_cost, category_step in _category_moves(problem):
        for ends in itertools.product(*choices):
            step, paid = category_step.copy(), category_cost.copy()
            for d, end in zip(numeric, ends, strict=True):
                if end is not None:
                    step[:, d] = end - problem.X[:, d]
                    paid = paid + cost[d] * np.abs(step[:, d])
            gains.append((np.arange(problem.n_rows), step @ slope - lam * paid))
    return gains, extra


def _split(problem, slope, lam):
    low, high = problem.ball.box(problem.n_features)
    numeric = _numeric(problem)
    box_gain, extra = np.zeros(problem.n_rows), []
    if len(numeric):
        paid = cp.Variable(len(numeric))
        price = 1 / problem.ball.feature_costs(problem.n_features)[numeric]
        extra.append(cp.norm(cp.multiply(paid, price), DUAL[problem.ball.norm]) <= lam)
        for sign, end in ((1, high), (-1, low)):
            ended = np.isfinite(end[numeric])
            left = sign * (slope[numeric] - paid)
            if not ended.all():
                extra.append(left[np.flatnonzero(~ended)] <= 0)
            room = sign * (end - problem.X)[:, numeric[ended]]
            if ended.any():
                box_gain = box_gain + room @ cp.pos(left[np.flatnonzero(ended)])
    gains = [
        (np.arange(problem.n_rows), box_gain + step @ slope - lam * cost)
        for cost, step in _category_moves(problem)
    ]
    return gains, extra


def smooth_brute_force(problem):
    """The optimum for a smooth loss: gains of all moves inside the softmax of winners."""
    n_classes, n_rows, loss = problem.n_classes, problem.n_rows, problem.loss
    coef, intercept = cp.Variable((n_classes, problem.n_features)), cp.Variable(n_classes)
    lam, slack = cp.Variable(nonneg=True), cp.Variable(n_rows)
    constraints = [coef[-1] == 0, intercept[-1] == 0]
    if not problem.fit_intercept:
        constraints.append(intercept == 0)
    price = problem.label_price()
    for c in range(n_classes):
        scores = [np.zeros((n_rows, 1))]
        for j in range(n_classes):
            if j != c:
                slope, gain = coef[j] - coef[c], cp.Variable(n_rows)
                gains, extra = _enumerated(problem, slope, lam)
                constraints += [*extra, *(gain >= part for _, part in gains)]
                score = problem.X @ slope + intercept[j] - intercept[c] + gain
                scores.append(cp.reshape(score + loss.margin, (n_rows, 1), order="F"))
        possible = np.flatnonzero(np.isfinite(price[:, c]))
        if len(possible):
            soft = cp.log_sum_exp(cp.hstack(scores) / loss.temperature, axis=1)
            net = loss.temperature * soft[possible] - lam * price[possible, c]
            constraints.append(slack[possible] >= net)
    objective = problem.radius * lam + problem.weight @ slack
    return cp.Problem(cp.Minimize(objective), constraints).solve(solver="CLARABEL")
