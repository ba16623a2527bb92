r"""The plane of radii and label costs: what a solve at one point proves at others.

A classifier found anywhere has a risk everywhere: an upper bound.  Multipliers found
anywhere bound the optimum everywhere from below
(``problem.certificate.radius_envelope``).  Where the two meet within the
requested gap, nothing is left to solve:

* at and beyond ``radius_max`` the constant classifier is optimal, and what proves it at one
  point proves it at every larger radius and smaller label cost;
* at small radii the optimum is linear in the radius, and one classifier optimal for all;
* a label cost at which no flip pays makes no difference when it rises.

What is left is solved row by row, radii descending; in a row the largest label cost first,
which tells where no flip pays, and the others ascending, so that the points from which
solves begin lie on the safe side (``solvers.chain``).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...arrays import Floats
from ...cached import cached_property
from ...problem import Certificate, RobustProblem, RobustRisk
from ...problem.certificate.gap import allowed_gap
from ...problem.certificate.radius_envelope import DualPoint, envelope
from ...problem.label_flips import spend
from ...solvers import SolverResult, SolverSettings, SolverStatus
from ...solvers.chain import Chain, chain_of
from ...solvers.neighbours import Neighbour
from ..radius.break_ties import break_ties, is_constant, nominal_classifier
from ..radius.radius_max import LimitClassifier, limit_classifier

# A grid of so many points is worth a solve without a budget, which bounds the small radii.
LARGE_GRID = 50
# A bound and the multipliers behind it agree to this share.
BOUND_ROUNDING = 1e-12


def solve_plane(
    problem: RobustProblem,
    radii: Sequence[float],
    label_costs: Sequence[Any],
    solver: str = "auto",
    settings: SolverSettings | None = None,
    of_kernel: bool = False,
    wanted: Collection[tuple[int, int]] | None = None,
) -> dict[tuple[int, int], SolverResult]:
    """Optimal classifiers at all points of a grid.

    Parameters
    ----------
    problem : RobustProblem
        Data, ball and loss; the radius and the label cost of its ball do not matter.
    radii : sequence of float
        Radii, in any order.
    label_costs : sequence
        Label costs, numbers or matrices, in any order.
    solver : str, default="auto"
        As for :class:`wdrsvm.RobustLinearSVC`.
    settings : SolverSettings or None, default=None
        Settings of the solver.
    of_kernel : bool, default=False
        Whether the features are those of a kernel, for the choice of the solver.
    wanted : collection of (int, int) or None, default=None
        The points (i, j) to solve; None are all of them.

    Returns
    -------
    dict
        The result at each point wanted (i, j), the i-th radius and the j-th label cost.

    Examples
    --------
    >>> import numpy as np
    >>> from wdrsvm import WassersteinBall
    >>> from wdrsvm.problem import RobustProblem
    >>> from wdrsvm.robustness.paths.plane import solve_plane
    >>> X, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
    >>> problem = RobustProblem.of(X, y, np.full(2, 0.5), WassersteinBall(0.0), n_classes=2)
    >>> found = solve_plane(problem, [0.1, 0.2], [np.inf])
    >>> print(f"{found[0, 0].certificate.objective:.2f}")
    0.10
    """
    settings = SolverSettings() if settings is None else settings
    columns = [_Column(problem, cost) for cost in label_costs]
    middle = columns[0].at(max(radii)) if len(columns) else problem
    with chain_of(middle, solver, settings, of_kernel) as chain:
        return _Plane(list(radii), columns, chain, settings.tol, wanted).solve()


@dataclass(eq=False)
class _Column:
    """The problems of one label cost."""

    problem: RobustProblem
    label_cost: Any

    def at(self, radius: float) -> RobustProblem:
        ball = replace(self.problem.ball, radius=radius, label_cost=self.label_cost)
        return replace(self.problem, ball=ball)

    @cached_property
    def scale(self) -> float | None:
        """The label cost if it is one number."""
        return float(self.label_cost) if np.ndim(self.label_cost) == 0 else None

    @property
    def is_priced(self) -> bool:
        """Whether flips cost a finite positive number, the same for all."""
        return self.scale is not None and 0 < self.scale < np.inf

    @cached_property
    def limit(self) -> LimitClassifier:
        return limit_classifier(self.at(1.0))


class _Candidate:
    """A classifier whose risk is asked for at several points of the plane."""

    def __init__(self, result: SolverResult, unit: RobustProblem | None):
        self.result, self.unit = result, unit

    @cached_property
    def _choices(self) -> Any:
        assert self.unit is not None
        choices = self.unit.flip_choices(self.result.coef, self.result.intercept)
        loss = float(self.unit.weight @ choices.loss)
        mass = self.unit.weight[choices.flips.row]
        return loss, choices.flips, mass, self.unit.modulus(self.result.coef)

    def risk(self, problem: RobustProblem, column: _Column) -> RobustRisk:
        """The flips of one price are those of another: only the budget buys less."""
        price = column.scale
        if self.unit is None or price is None or not column.is_priced:
            return problem.risk(self.result.coef, self.result.intercept)
        loss, flips, mass, steepest = self._choices
        bought = spend(flips, mass, problem.radius / price, steepest * price)
        return RobustRisk(loss + bought.gain, bought.rate / price)


class _Envelopes:
    """Values of multipliers, and what they spend at each column's label cost."""

    def __init__(self, columns: list[_Column]):
        self.columns = columns
        self.values: list[float] = []
        self.spending: list[Floats] = []

    def add(self, j: int, radius: float, result: SolverResult) -> None:
        bound = result.certificate.dual_bound
        if not np.isfinite(bound):
            return
        point = result.dual_point
        known = point is not None and point.bound(radius) >= bound * (1 - BOUND_ROUNDING)
        if point is None or not known:
            point = DualPoint(bound, radius, 0.0)
        spending = [self._spending(j, k, point, known) for k in range(len(self.columns))]
        self.values.append(point.value)
        self.spending.append(np.array(spending))

    def _spending(self, j: int, k: int, point: DualPoint, known: bool) -> float:
        """At column k, of multipliers of column j.

        Where it is not known which part is for flips, none of it is less at a smaller
        label cost than it was.
        """
        mine, other = self.columns[j].scale, self.columns[k].scale
        if j == k:
            return point.spending
        if mine is None or other is None or mine == 0:
            return np.inf
        if other <= mine and not (known and mine < np.inf):
            return point.spending
        if not known or other == np.inf:
            return np.inf
        return point.on_moves + point.on_flips * other / mine

    def at(self, j: int, radius: float) -> float:
        if not self.values:
            return 0.0
        spending = np.array([each[j] for each in self.spending])
        return envelope(spending, np.array(self.values), radius)


@dataclass(eq=False)
class _Plane:
    """The walk over the grid."""

    radii: list[float]
    columns: list[_Column]
    chain: Chain
    tol: float
    wanted: Collection[tuple[int, int]] | None = None
    found: dict[tuple[int, int], SolverResult] = field(default_factory=dict)

    def __post_init__(self) -> None:
        numbers = [j for j, column in enumerate(self.columns) if column.scale is not None]
        # Along these the optimum falls; each of the others is on its own.
        self.rising = sorted(numbers, key=lambda j: float(self.columns[j].label_cost))
        self.others = [j for j in range(len(self.columns)) if j not in numbers]
        self.shared = not self.columns[0].at(1.0).is_bounded if self.columns else False
        priced = [column for column in self.columns if column.is_priced]
        self.unit = replace(priced[0], label_cost=1.0).at(0.0) if priced else None
        self.envelopes = _Envelopes(self.columns)
        self.near: dict[int, Neighbour] = {}
        self.candidates: dict[int, _Candidate] = {}

    def solve(self) -> dict[tuple[int, int], SolverResult]:
        if self.shared and self._n_wanted >= LARGE_GRID:
            self._solve(self.columns[-1].at(0.0), len(self.columns) - 1, [])
        last = len(self.rising) - 1
        for i in np.argsort(self.radii)[::-1]:
            last = self._rising_row(int(i), last)
            for j in self.others:
                if self._is_wanted(int(i), j):
                    self._settle(int(i), j, [j])
        return self.found

    @property
    def _n_wanted(self) -> int:
        whole = len(self.radii) * len(self.columns)
        return whole if self.wanted is None else len(self.wanted)

    def _is_wanted(self, i: int, j: int) -> bool:
        return self.wanted is None or (i, j) in self.wanted

    def _rising_row(self, i: int, last: int) -> int:
        """One radius at all label costs that are numbers.

        ``last`` is the last of them at which the constant classifier was optimal at the
        radius before; returns the last at this one.
        """
        places = [k for k, j in enumerate(self.rising) if self._is_wanted(i, j)]
        if not places:
            return last
        order = [self.rising[k] for k in places]
        last = sum(k <= last for k in places) - 1
        constant = last >= 0 and self._settle(i, order[0], order[:2])
        edge = last if constant else 0
        while edge > 0 and not self._settle(i, order[edge], order[edge - 1 : edge + 2]):
            edge -= 1
        # The dearest flips first: where none pays, one classifier is optimal for all.
        for k in (len(order) - 1, *range(len(order) - 1)):
            self._settle(i, order[k], order[max(k - 1, 0) : k + 1])
        return places[edge] if constant else -1

    def _settle(self, i: int, j: int, nearby: list[int]) -> bool:
        """Find the classifier of a point unless it is known; whether it is a constant."""
        column, radius = self.columns[j], self.radii[i]
        problem = column.at(radius)
        if (i, j) not in self.found:
            known = self._known(problem, j, nearby) if self.shared else None
            result = self._solve(problem, j, nearby) if known is None else known
            self.found[i, j] = self._untied(problem, column, result)
        return self._is_constant(problem, column, self.found[i, j])

    def _is_constant(
        self, problem: RobustProblem, column: _Column, result: SolverResult
    ) -> bool:
        bound = result.certificate.dual_bound
        return is_constant(problem, bound, column.limit, self.tol)

    def _untied(
        self, problem: RobustProblem, column: _Column, result: SolverResult
    ) -> SolverResult:
        if not self._is_constant(problem, column, result):
            return result
        nominal, risk = self._nominal.result, self._nominal.risk(problem, column).value
        return break_ties(problem, result, column.limit, nominal, self.tol, risk)

    @cached_property
    def _nominal(self) -> _Candidate:
        return _Candidate(nominal_classifier(self.columns[0].problem), self.unit)

    def _known(
        self, problem: RobustProblem, j: int, nearby: list[int]
    ) -> SolverResult | None:
        """A classifier found elsewhere that is optimal here too."""
        column, floor = self.columns[j], self.envelopes.at(j, problem.radius)
        limit = column.limit
        if problem.radius > 0 and limit.risk - floor <= self._allowed(limit.risk):
            return _reused(limit.coef, limit.intercept, Certificate(limit.risk, floor, 0.0))
        for k in (j, *nearby, *self.rising[-1:]):
            candidate = self.candidates.get(k)
            if candidate is None:
                continue
            value, lam = candidate.risk(problem, column)
            if value - floor <= self._allowed(value):
                found = candidate.result
                certificate = Certificate(value, min(floor, value), lam)
                return _reused(found.coef, found.intercept, certificate)
        return None

    def _allowed(self, value: float) -> float:
        return allowed_gap(self.tol, value)

    def _solve(self, problem: RobustProblem, j: int, nearby: list[int]) -> SolverResult:
        near = [self.near[k] for k in (j, *nearby) if k in self.near]
        solved = self.chain.solve(problem, near if problem.radius > 0 else [])
        result = solved.result
        if result.certificate.lam > 0 and problem.radius > 0:
            self.near[j] = solved
        self.candidates[j] = _Candidate(result, self.unit)
        self.envelopes.add(j, problem.radius, result)
        return result


def _reused(coef: Floats, intercept: Floats, certificate: Certificate) -> SolverResult:
    return SolverResult(
        coef, intercept, certificate, None, SolverStatus.CONVERGED, 0, "path"
    )
