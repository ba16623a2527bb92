r"""First-order training for high dimensions: nothing larger than the data and M.

A proximal point method on (M, b, lam) whose subproblems are ascended in the dual, one
sample at a time; sparse data stay sparse.  An epoch

1. sweeps over the rows in random order; each row balances its multipliers exactly, and
   coefficients, price lam and the norm's own multipliers follow at once
   (``first_order_rows``, and ``first_order_l1``, ``_l2``, ``_linf`` for the norms);
2. moves the proximal centres to where the sweep ended: M, the free columns, lam;
3. now and then asks the certificate (``first_order_bound``), which decides when to stop.

The price: lam = centre - step (radius - spent on flips - pressure of the norm), where the
pressure is what the norm constraint's multipliers add up to; the optimum spends the
radius.  It follows every flip while the rows are swept: updated once an epoch it
oscillates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

import os

STEER = int(os.environ.get("STEER", "0"))
from ..problem import dual_bound, Multipliers, LOSSES, RobustProblem, lipschitz
from .first_order_bound import Feasible, feasible, spending
from .first_order_l1 import BoxBlock
from .first_order_l2 import EuclideanBlock
from .first_order_layout import Layout, design_of
from .first_order_linf import FlowBlock
from .first_order_rows import (
    CENTRE,
    LAM,
    PRESSURE,
    RADIUS,
    RESPONSE,
    SPENT,
    STEP,
    Duals,
    Floats,
    FreeTable,
    Rows,
)
from .first_order_steps import column_steps, effective_rows, row_squares
from .result import (
    History,
    Incumbent,
    SolverResult,
    SolverSettings,
    SolverStatus,
    Start,
)

MIN_EPOCHS, MAX_EPOCHS = 1000, 30_000
# Multiply-adds that a solve may take by default, within the limits above.
DEFAULT_WORK = 1e10
FIRST_CHECK = 4
MIN_CHECK_INTERVAL = 3
# A solve has stalled when the last half of its epochs, and at least this many, did not
# shrink the gap by this factor.
STALL_EPOCHS = 2000
STALL_FACTOR = 0.9
# Rows are balanced to this share of the gap.
ROW_TOL_SHARE = 0.05
FIRST_ROW_TOL = 1e-3
LEAST_ROW_TOL = 1e-13
# Pairs of classes keep this share of the gap as weight.
PAIR_WEIGHT_SHARE = 0.1
# Mean curvature of a free column relative to that of a row's touchable ones.
FREE_SHARE = 0.1
LEAST_STIFFNESS = 0.3
# The price never falls below this share of the first.
LEAST_LAM_SHARE = 1e-12
# Proximal steps change at most by this factor at a check.
MAX_SOFTENING = 2.0

MIN_SOFTNESS, MAX_SOFTNESS = 0.01, 100.0


class Block(Protocol):
    """What a norm has to offer."""

    coef: Floats

    @property
    def stiffness(self) -> float: ...
    def sweep(self, order: NDArray[np.intp], tol: float, least_weight: float) -> None: ...
    def recentre(self) -> None: ...
    def soften(self, factor: float) -> None: ...
    def polar(self, gradient: Floats) -> float: ...
    def flow(self) -> Floats | None: ...


BLOCKS: dict[str, Callable[..., Block]] = {
    "l1": BoxBlock,
    "l2": EuclideanBlock,
    "linf": FlowBlock,
}


def first_order(
    problem: RobustProblem, settings: SolverSettings, start: Start | None = None
) -> SolverResult:
    """Train by proximal point and dual coordinate ascent; see the module."""
    if problem.loss != LOSSES["crammer-singer"]:
        raise ValueError(
            "solver 'first-order' handles only the Crammer-Singer loss (smoothing=0); "
            "use solver='newton' for the others."
        )
    ascent = Ascent(problem, start)
    rng = np.random.default_rng(settings.seed)
    history, best = History(settings.callback), _no_incumbent(problem)
    last = _epoch_limit(problem, ascent.rows, settings.max_iter)
    epoch, due, status = 0, FIRST_CHECK, SolverStatus.MAX_ITER
    while epoch < last:
        epoch += 1
        ascent.sweep(rng)
        ascent.recentre()
        if epoch < min(due, last):
            continue
        ascent.judge(best)
        history.add(epoch, best.objective, best.dual_bound)
        due = epoch + max(MIN_CHECK_INTERVAL, epoch // 5)
        if best.certificate.holds(settings.tol):
            status = SolverStatus.CONVERGED
            break
        if _stalled(history):
            status = SolverStatus.STALLED
            break
    return best.result("first-order", status, epoch, history)


class Ascent:
    """The state of the method and its steps."""

    def __init__(self, problem: RobustProblem, start: Start | None):
        self.problem = problem
        self.layout = Layout.of(problem)
        self.rows = _rows(problem, self.layout)
        self.duals = _zero_pieces(self.rows, problem.n_classes)
        touch, self.free_centre, lam = _first_point(problem, self.layout, start)
        self.least_lam = LEAST_LAM_SHARE * lam
        self.price = np.zeros(7)
        self.price[[LAM, RADIUS, PRESSURE]] = lam, problem.radius, problem.radius
        self.free = FreeTable(self.free_centre.copy(), np.ones(len(self.free_centre)))
        self.free_shape, self.free_squares = column_steps(
            self.rows.free, self.rows.weight, len(self.free_centre), rarity=1.0
        )
        kind = BLOCKS[problem.ball.norm] if len(touch) else BoxBlock
        self._move_price()
        self.softness = 1.0
        self.block: Block = kind(self.rows, self.duals, self.free, self.price, touch)
        self._move_free()
        self.gap = 1.0

    def sweep(self, rng: np.random.Generator) -> None:
        """One epoch over the rows in random order."""
        order = rng.permutation(self.problem.n_rows)
        tol = max(min(ROW_TOL_SHARE * self.gap, FIRST_ROW_TOL), LEAST_ROW_TOL)
        self.block.sweep(order, tol, PAIR_WEIGHT_SHARE * min(self.gap, 1.0))

    def recentre(self) -> None:
        """Let the next proximal steps begin where this epoch ended."""
        self._move_price()
        self.block.recentre()
        self._move_free()

    def judge(self, best: Incumbent) -> None:
        """Offer the present point, and a bound from the present multipliers."""
        coef, intercept = self.layout.original(self.block.coef, self.free_centre)
        risk = self.problem.risk(coef, intercept)
        best.offer(coef, intercept, risk)
        made = feasible(self.rows, self.layout, self.duals)
        bound = 0.0
        if made is not None:
            bound = made.bound(self.problem, self.block.polar(made.gradient))
            flow = self.block.flow()
            m = Multipliers(
                *made.multipliers(None).rows(slice(None)),
                None if flow is None else self.layout.flow(flow),
                self.layout.flow(self.block.own_gradient(made.gradient).T),
            )
            if STEER:
                bound = max(bound, dual_bound(self.problem, m))
        if bound > best.dual_bound:
            best.raise_bound(bound, made and made.multipliers(self._flow()))
        self.price[SPENT] = spending(self.rows, self.duals.phi)
        self.gap = max(best.certificate.gap, 0.0)
        self._soften(risk.value, bound, made)

    def _soften(self, objective: float, bound: float, made: Feasible | None) -> None:
        """Longer proximal steps if the bound lags behind, shorter if the objective does.

        Their common measure is the Lagrangian, which lies between the two at the end.
        """
        factor = MAX_SOFTENING
        if made is not None:
            price = self.price
            middle = made.value + price[LAM] * (price[RADIUS] - made.on_flips)
            middle += float((self.block.coef * made.gradient).sum())
            ahead, behind = max(objective - middle, 0.0), max(middle - bound, 0.0)
            if ahead > 0:
                factor = min(max(np.sqrt(behind / ahead), 1 / factor), factor)
        factor = np.clip(self.softness * factor, MIN_SOFTNESS, MAX_SOFTNESS) / self.softness
        self.softness *= factor
        self.block.soften(factor)

    def _flow(self) -> Floats | None:
        flow = self.block.flow()
        return None if flow is None else self.layout.flow(flow)

    def _move_price(self) -> None:
        price = self.price
        price[LAM] = price[CENTRE] = max(price[LAM], self.least_lam)
        # In units of the price itself: spending all of the radius too much doubles it.
        price[STEP] = price[LAM] / price[RADIUS] if price[RADIUS] > 0 else 1.0
        price[RESPONSE] = price[STEP]

    def _move_free(self) -> None:
        """Centre the free columns; steps keep pace with the touchable ones' curvature."""
        if len(self.free_centre) == 0:
            return
        share = self.softness
        if len(self.block.coef):
            share = self.block.stiffness / effective_rows(self.rows.weight)
            share = max(share, LEAST_STIFFNESS) * min(
                1.0, FREE_SHARE * len(self.free_centre)
            )
        # V = centre - steps * G, and G does not change with the steps.
        slopes = (self.free_centre - self.free.coef) / self.free.steps[:, None]
        self.free_centre = self.free.coef.copy()
        self.free.steps[:] = share * self.free_shape
        self.free.coef[:] -= self.free.steps[:, None] * slopes
        self.rows.free_curvature[:] = share * self.free_squares


def _rows(problem: RobustProblem, layout: Layout) -> Rows:
    touch = design_of(layout.touch)
    cost = problem.attainable_flip_cost()
    if not np.isfinite(cost).any():
        cost = np.empty((0, problem.n_classes))
    squares = np.empty(problem.n_rows)
    row_squares(touch, np.ones(layout.touch.shape[1]), squares)
    return Rows(
        touch=touch,
        free=design_of(layout.free),
        y=problem.y.astype(np.intp),
        weight=problem.weight.astype(np.float64),
        cost=cost,
        touch_curvature=squares,
        free_curvature=np.zeros(problem.n_rows),
    )


def _zero_pieces(rows: Rows, n_classes: int) -> Duals:
    """All mass on the zero piece of the true label: G = 0."""
    alpha = np.zeros((len(rows.y), n_classes))
    alpha[np.arange(len(rows.y)), rows.y] = rows.weight
    return Duals(alpha, np.zeros_like(rows.cost), np.zeros_like(rows.cost))


def _first_point(
    problem: RobustProblem, layout: Layout, start: Start | None
) -> tuple[Floats, Floats, float]:
    """Tables (T, C), (E, C) and lam to begin at."""
    lam = _first_lam(problem, layout)
    if start is not None:
        touch, free = layout.tables(start)
        return touch, free, start.lam if start.lam > 0 else lam
    n_classes = problem.n_classes
    touch = np.zeros((layout.touch.shape[1], n_classes))
    return touch, np.zeros((layout.free.shape[1], n_classes)), lam


def _first_lam(problem: RobustProblem, layout: Layout) -> float:
    """The modulus of the class means, scaled to a mean margin of 1.

    With G = sum_n w_n (1 / C - e_y) x_n' the classifier -G / ||G||^2 has it.  As zero
    has risk 1, no optimum pays more than 1 / radius.
    """
    slopes = np.repeat(problem.weight[:, None] / problem.n_classes, problem.n_classes, 1)
    slopes[np.arange(problem.n_rows), problem.y] -= problem.weight
    gradient = np.asarray(layout.touch.T @ slopes)
    square = float((gradient * gradient).sum())
    highest = 1 / problem.radius if problem.radius > 0 else np.inf
    if square == 0:
        return min(1.0, highest)
    modulus = lipschitz(gradient.T, problem.ball.norm, np.ones(len(gradient)))
    return min(modulus / square, highest)


def _no_incumbent(problem: RobustProblem) -> Incumbent:
    n_classes = problem.n_classes
    return Incumbent(np.zeros((n_classes, problem.n_features)), np.zeros(n_classes))


def _epoch_limit(problem: RobustProblem, rows: Rows, max_iter: int | None) -> int:
    if max_iter is not None:
        return max_iter
    work = (len(rows.touch.data) + problem.n_rows) * problem.n_classes
    return int(np.clip(DEFAULT_WORK / max(work, 1), MIN_EPOCHS, MAX_EPOCHS))


def _stalled(history: History) -> bool:
    """Whether the second half of the epochs was in vain."""
    now = history.records[-1]
    if now.n_iter < STALL_EPOCHS:
        return False
    earlier = [record for record in history.records if 2 * record.n_iter <= now.n_iter]
    return now.gap > STALL_FACTOR * earlier[-1].gap
