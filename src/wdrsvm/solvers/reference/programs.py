r"""The training problem as an explicit sparse program, for general-purpose solvers.

Two programs with one optimum.  Variables: M (C, P), b (C), lam, s (N), and h (N).

paper     s_n >= z_nj + 1[j != c] - z_nc - lam k[n, c]     all n, j, c: C^2 rows a sample
compact   s_n >= z_nj + 1[j != y] - z_ny                   all n, j
          h_n >= z_nj                                      all n, j
          s_n >= 1 + h_n - z_nc - lam k[n, c]              all n, c != y_n

with k[n, y_n] = 0 and without the rows of infinite k.  Both minimise
radius lam + sum_n w_n s_n over lam >= ||(M_i - M_j) / feature_cost||_* for all pairs:
linear rows for ``"l1"`` and ``"linf"`` transport, second-order cones for ``"l2"`` and for
the triangle bound lam >= ||M_i|| + ||M_j|| of kernel models, that is lam >= 2 ||M_i||.
One number added to all of b, or, but for that bound, one vector to all rows of M, changes
nothing; the last class is then held at zero, or the solvers' systems would be singular.

Their duals map to the multipliers of the certificate: paper row (n, j, c) counts for
alpha_nj if c = y_n and for phi_nc and beta_nj otherwise; the three groups of compact rows
are alpha, beta and phi; the rows of the norm are the flow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...arrays import Codes, Flags, Floats
from ...problem import Multipliers, RobustProblem
from ...problem.norms import TRIANGLE, class_pairs, divergence


class ConstraintRows(NamedTuple):
    """Rows ``sum of parts[v] x_v <= bound``, one sparse part a variable ``v``."""

    parts: dict[str, Any]
    bound: Floats

    def only(self, kept: Flags) -> ConstraintRows:
        return ConstraintRows(
            {v: part[kept] for v, part in self.parts.items()}, self.bound[kept]
        )


class LossRows(NamedTuple):
    """The rows of the samples, class by class, and how to read their duals."""

    groups: list[ConstraintRows]
    kept: Flags
    multipliers: Callable[[RobustProblem, Floats], Multipliers]


@dataclass(frozen=True, eq=False)
class Program:
    """min cost'x  over  bound - matrix x  in a product of cones.

    The first ``n_linear`` rows are nonnegative, the others second-order cones of
    ``cone_size`` rows each.  The rows of the samples come first, then lam >= 0, then
    those of the norm.  ``slices`` names the columns.
    """

    problem: RobustProblem
    cost: Floats
    matrix: Any
    bound: Floats
    n_linear: int
    cone_size: int
    slices: dict[str, slice]
    loss_rows: LossRows

    def classifier(self, x: Floats) -> tuple[Floats, Floats]:
        """(coef, intercept) of a solution, centred over the classes where they may be."""
        coef = np.zeros((self.problem.n_classes, self.problem.n_features))
        intercept = np.zeros(self.problem.n_classes)
        n_free = len(coef) - (self.problem.norm != TRIANGLE)
        coef[:n_free] = x[self.slices["coef"]].reshape(n_free, -1)
        if self.problem.fit_intercept:
            intercept[:-1] = x[self.slices["intercept"]]
        if self.problem.norm != TRIANGLE:
            coef -= coef.mean(axis=0)
        return coef, intercept - intercept.mean()

    def multipliers(self, duals: Floats) -> Multipliers:
        """All multipliers of the certificate from the duals of the rows."""
        kept = self.loss_rows.kept
        full = np.zeros(len(kept))
        full[kept] = duals[: kept.sum()]
        found = self.loss_rows.multipliers(self.problem, full)
        of_norm = duals[kept.sum() + 1 :]
        if self.problem.norm == TRIANGLE:
            return replace(found, gradient=2 * _pull_on_classes(self.problem, of_norm))
        flow = _flow(self.problem, of_norm)
        return replace(found, flow=flow, gradient=divergence(flow, self.problem.n_classes))


def build_program(problem: RobustProblem, program: str = "paper") -> Program:
    """The training problem as a sparse program, ``"paper"`` or ``"compact"``."""
    loss_rows = LOSS_ROWS[program](problem)
    norm_rows = NORM_ROWS[problem.norm](problem)
    lam_sign = ConstraintRows({"lam": _column(-1.0)}, np.zeros(1))
    groups = [*loss_rows.groups, lam_sign, *norm_rows]
    slices = _column_slices(groups)
    bound = np.concatenate([rows.bound for rows in groups])
    in_cones = len(norm_rows[0].bound) if problem.norm in CONIC else 0
    return Program(
        problem=problem,
        cost=_costs(problem, slices),
        matrix=_stacked(groups, slices),
        bound=bound,
        n_linear=len(bound) - in_cones,
        cone_size=1 + len(_touchable(problem)),
        slices=slices,
        loss_rows=loss_rows,
    )


def _column_slices(groups: list[ConstraintRows]) -> dict[str, slice]:
    widths: dict[str, int] = {}
    for rows in groups:
        widths |= {name: part.shape[1] for name, part in rows.parts.items()}
    ends = np.cumsum(list(widths.values())).tolist()
    return {v: slice(end - widths[v], end) for v, end in zip(widths, ends, strict=True)}


def _costs(problem: RobustProblem, slices: dict[str, slice]) -> Floats:
    cost = np.zeros(max(columns.stop for columns in slices.values()))
    cost[slices["lam"]] = problem.radius
    cost[slices["slack"]] = problem.weight
    return cost


def _stacked(groups: list[ConstraintRows], slices: dict[str, slice]) -> Any:
    grid = [[rows.parts.get(name) for name in slices] for rows in groups]
    return sparse.block_array(grid, format="csc")


def _column(values: float | Floats) -> Any:
    return sparse.csr_array(np.reshape(values, (-1, 1)))


def _repeated(block: Any, n_times: int) -> Any:
    return sparse.kron(np.ones((n_times, 1)), block, format="csr")


def _score_parts(problem: RobustProblem, combination: Any) -> dict[str, Any]:
    """Rows (k, n): sum_j combination[k, j] z_nj, for ``combination`` of (K, C)."""
    all_but_last = combination[:, :-1]
    free = combination if problem.norm == TRIANGLE else all_but_last
    parts = {"coef": sparse.kron(free, problem.X, format="csr")}
    if problem.fit_intercept:
        ones = np.ones((problem.n_rows, 1))
        parts["intercept"] = sparse.kron(all_but_last, ones, format="csr")
    return parts


def _paper_rows(problem: RobustProblem) -> LossRows:
    """Rows (j, c, n), n fastest: class j wins on row n under label c."""
    n_classes, n_rows = problem.n_classes, problem.n_rows
    winner, label = np.divmod(np.arange(n_classes**2), n_classes)
    classes = sparse.eye_array(n_classes, format="csr")
    price = problem.label_price(attainable=True)[:, label].T.ravel()
    kept = np.isfinite(price)
    parts = _score_parts(problem, classes[winner] - classes[label])
    parts["lam"] = _column(-np.where(kept, price, 0.0))
    parts["slack"] = -_repeated(sparse.eye_array(n_rows), n_classes**2)
    rows = ConstraintRows(parts, -np.repeat((winner != label).astype(float), n_rows))
    return LossRows([rows.only(kept)], kept, _paper_multipliers)


def _paper_multipliers(problem: RobustProblem, duals: Floats) -> Multipliers:
    n_classes = problem.n_classes
    duals = duals.reshape(n_classes, n_classes, problem.n_rows)
    own = np.arange(n_classes)[:, None] == problem.y
    kept, flipped = np.where(own, duals, 0.0), np.where(own, 0.0, duals)
    return Multipliers(
        alpha=kept.sum(axis=1).T, phi=flipped.sum(axis=0).T, beta=flipped.sum(axis=1).T
    )


def _compact_rows(problem: RobustProblem) -> LossRows:
    """Three groups of rows (c, n), n fastest, with duals alpha, beta and phi."""
    n_classes, n_rows = problem.n_classes, problem.n_rows
    score = _score_parts(problem, sparse.eye_array(n_classes, format="csr"))
    price = problem.attainable_flip_cost().T.ravel()
    possible = np.isfinite(price)
    flippable = possible.reshape(n_classes, n_rows).any(axis=0)
    top = _repeated(sparse.eye_array(n_rows, format="csc")[:, flippable], n_classes)
    above = ConstraintRows(score | {"top": -top}, np.zeros(n_classes * n_rows))
    flip = ConstraintRows(
        {v: -part for v, part in score.items()}
        | {"lam": _column(-np.where(possible, price, 0.0)), "top": top}
        | {"slack": -_repeated(sparse.eye_array(n_rows), n_classes)},
        np.full(n_classes * n_rows, -1.0),
    )
    has_top = np.tile(flippable, n_classes)
    return LossRows(
        groups=[_true_label_rows(problem, score), above.only(has_top), flip.only(possible)],
        kept=np.concatenate([np.ones_like(possible), has_top, possible]),
        multipliers=_compact_multipliers,
    )


def _true_label_rows(problem: RobustProblem, score: dict[str, Any]) -> ConstraintRows:
    """s_n >= z_nj + 1[j != y_n] - z_n,y, rows (j, n); j = y_n says s_n >= 0."""
    n_classes, n_rows = problem.n_classes, problem.n_rows
    own = problem.y * n_rows + np.arange(n_rows)
    rivals = {v: part - _repeated(part[own], n_classes) for v, part in score.items()}
    bound = np.full(n_classes * n_rows, -1.0)
    bound[own] = 0.0
    slack = -_repeated(sparse.eye_array(n_rows), n_classes)
    return ConstraintRows(rivals | {"slack": slack}, bound)


def _compact_multipliers(problem: RobustProblem, duals: Floats) -> Multipliers:
    alpha, beta, phi = duals.reshape(3, problem.n_classes, problem.n_rows)
    return Multipliers(alpha=alpha.T, phi=phi.T, beta=beta.T)


LOSS_ROWS = {"paper": _paper_rows, "compact": _compact_rows}


def _touchable(problem: RobustProblem) -> Codes:
    return np.flatnonzero(np.isfinite(problem.attainable_feature_cost()))


def _binding_pairs(problem: RobustProblem) -> Codes:
    """Pairs of classes of which one is a label that some mass can carry."""
    first, second = class_pairs(problem.n_classes)
    return np.flatnonzero(problem.reachable[first] | problem.reachable[second])


def _pair_differences(problem: RobustProblem) -> Any:
    """(pairs, C - 1): e_i - e_j, the last class held at zero."""
    binding = _binding_pairs(problem)
    first, second = (ends[binding] for ends in class_pairs(problem.n_classes))
    classes = sparse.eye_array(problem.n_classes, format="csr")[:, :-1]
    return classes[first] - classes[second]


def _price_scaling(problem: RobustProblem) -> Any:
    """(touchable features, P): divides each touchable feature by its cost."""
    touchable = _touchable(problem)
    scaling = sparse.eye_array(problem.n_features, format="csr")[touchable]
    return sparse.diags_array(1.0 / problem.feature_cost[touchable]) @ scaling


def _l1_rows(problem: RobustProblem) -> list[ConstraintRows]:
    """lam >= |(M_i - M_j)_d / cost_d|."""
    difference = sparse.kron(_pair_differences(problem), _price_scaling(problem))
    lam = _column(-np.ones(difference.shape[0]))
    bound = np.zeros(difference.shape[0])
    return [
        ConstraintRows({"coef": sign * difference, "lam": lam}, bound) for sign in (1, -1)
    ]


def _linf_rows(problem: RobustProblem) -> list[ConstraintRows]:
    """lam >= sum_d u_d,  u_d >= |(M_i - M_j)_d / cost_d|."""
    pairs, scaling = _pair_differences(problem), _price_scaling(problem)
    difference = sparse.kron(pairs, scaling)
    part = -sparse.eye_array(difference.shape[0])
    bound = np.zeros(difference.shape[0])
    total = sparse.kron(sparse.eye_array(pairs.shape[0]), np.ones((1, scaling.shape[0])))
    n_pairs = pairs.shape[0]
    return [
        *(
            ConstraintRows({"coef": sign * difference, "part": part}, bound)
            for sign in (1, -1)
        ),
        ConstraintRows(
            {"lam": _column(-np.ones(n_pairs)), "part": total}, np.zeros(n_pairs)
        ),
    ]


def _l2_rows(problem: RobustProblem) -> list[ConstraintRows]:
    """Cone rows (lam, (M_i - M_j) / cost) of every pair."""
    return _cone_rows(problem, _pair_differences(problem))


def _triangle_rows(problem: RobustProblem) -> list[ConstraintRows]:
    """Cone rows (lam, 2 M_i / cost) of every class."""
    return _cone_rows(problem, 2 * sparse.eye_array(problem.n_classes, format="csr"))


def _cone_rows(problem: RobustProblem, combinations: Any) -> list[ConstraintRows]:
    scaling = _price_scaling(problem)
    with_lam = sparse.vstack([sparse.csr_array((1, scaling.shape[1])), scaling])
    first = np.zeros((with_lam.shape[0], 1))
    first[0] = 1.0
    coef = -sparse.kron(combinations, with_lam, format="csr")
    lam = -_repeated(first, combinations.shape[0])
    return [ConstraintRows({"coef": coef, "lam": lam}, np.zeros(coef.shape[0]))]


NORM_ROWS = {
    "l1": _l1_rows,
    "l2": _l2_rows,
    "linf": _linf_rows,
    "triangle": _triangle_rows,
}
CONIC = ("l2", "triangle")


def _pull_on_classes(problem: RobustProblem, duals: Floats) -> Floats:
    """The duals (C, P) of the triangle bound's rows."""
    touchable = _touchable(problem)
    pull = np.zeros((problem.n_classes, problem.n_features))
    tails = duals.reshape(problem.n_classes, -1)[:, 1:]
    pull[:, touchable] = tails / problem.feature_cost[touchable]
    return pull


def _flow(problem: RobustProblem, duals: Floats) -> Floats:
    """The flow (pairs, P) whose divergence is G, from the duals of the norm's rows."""
    touchable, binding = _touchable(problem), _binding_pairs(problem)
    shape = (len(binding), len(touchable))
    if problem.norm == "l2":
        pull = duals.reshape(len(binding), -1)[:, 1:]
    else:
        size = len(binding) * len(touchable)
        pull = (duals[size : 2 * size] - duals[:size]).reshape(shape)
    n_pairs = problem.n_classes * (problem.n_classes - 1) // 2
    flow = np.zeros((n_pairs, problem.n_features))
    flow[np.ix_(binding, touchable)] = pull / problem.feature_cost[touchable]
    return flow
