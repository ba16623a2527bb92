r"""Training in matrix products: smooth losses with many classes or coefficients.

The risk  radius D(M) + mean loss  with a smoothed diameter D (``diameter``) is smooth.
Preconditioned quasi-Newton steps minimise it, one pass over the rows each (``design``).
Where scores are kept (``line``), the length of a step needs no other pass (``search``).

1. Steps go on until the next one promises little compared with what new shares of the
   lengths would add to D.  Then the shares are adapted to the lengths, and D is sharper.
2. The sums of a pass give an estimate of the gap.  Its upper part is the loss at
   coefficients whose longest differences are shortened.  Its lower part is the value of the
   tangents after they are moved towards the labels, until the radius can pay for them.
3. When the estimate is small enough, the certificate is computed.
4. If the first steps settle early, minima of a model of the loss take the place of further
   steps, as long as the risk follows the model (``model``).

No matrix is larger than the coefficients, (P, P) or (C, C).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ....arrays import Floats
from ....problem import RobustProblem
from ....problem.certificate.gap import allowed_gap
from ....problem.pair_weights import PairWeights
from ...result import (
    History,
    Incumbent,
    SolverResult,
    SolverSettings,
    SolverStatus,
    Start,
)
from ...scaling import Scaling
from .choice import single_flip_cost
from .curvature.heavy_rows import heavy_count
from .curvature.principal_axes import along_axes
from .design import Design, in_columns, keeps_scores
from .diameter import DIAMETERS, PairDiameter
from .flips.cluster import ClusterFlipDesign, Lessons
from .flips.descent import FlipDescent
from .flips.label_shares import LabelShares
from .flips.memory import FlipDesign, first_flipped
from .model import model_step
from .row_steps import row_step
from .settings import PRODUCTS
from .start import first_point
from .steps import Descent
from .tangents import DrawnTangents, KnownScores, Multiples, with_winners


def product_newton(
    problem: RobustProblem,
    settings: SolverSettings,
    start: Start | None = None,
    rounds: type[ProductRounds] | None = None,
) -> SolverResult:
    """Train to the gap asked for; ``start`` replaces the ridge direction."""
    problem = problem.without_idle_rows()
    told = problem, settings, start, rounds or ProductRounds
    if settings.tol < PRODUCTS.single_tol:
        return _product_newton(np.float64, *told)
    found = _product_newton(np.float32, *told)
    # Single precision is too coarse for rows that are far from zero beside their spread.
    is_lost = found.status is SolverStatus.STALLED and problem.trusts_labels
    return _product_newton(np.float64, *told) if is_lost else found


def _product_newton(
    kind: Any,
    problem: RobustProblem,
    settings: SolverSettings,
    start: Start | None,
    rounds: type[ProductRounds],
) -> SolverResult:
    """With rows in numbers of ``kind``."""
    scaling = Scaling.of(problem, PRODUCTS.features_per_row)
    every = row_step(problem.n_rows, scaling.n_columns, problem.n_classes)
    prepared = problem.by_chunks(partial(in_columns, scaling, kind))
    scaling, is_principal, axes, basis = along_axes(scaling, prepared)
    with prepared.reduction() as reduction:
        told = scaling, reduction, kind, every, is_principal, axes, basis
        flip_cost, n_heavy = single_flip_cost(problem), 0
        if not problem.is_distributed:
            n_heavy = heavy_count(problem.n_rows, problem.n_classes, scaling.n_columns)
        if flip_cost < np.inf:
            design = _flip_design((*told, n_heavy), prepared, problem.radius / flip_cost)
        elif problem.is_distributed:
            design = Design(*told)
        else:
            design = Design(*told, n_heavy, keeps_scores(problem, kind))
        return rounds(problem, design, settings, start).solve()


def _flip_design(told: Any, prepared: RobustProblem, budget: float) -> Design:
    """Passes for labels that can be flipped; ``prepared`` has the solver's columns."""
    if not prepared.is_distributed:
        keeps = keeps_scores(prepared, prepared.X.dtype.type)
        design = FlipDesign(*told, problem=prepared, budget=budget)
        return replace(design, keeps_scores=keeps)
    shape = prepared.n_classes, prepared.n_features
    shares = LabelShares.first(shape, first_flipped(budget))
    return ClusterFlipDesign(*told, budget=budget, lessons=Lessons(shares))


class Fit(NamedTuple):
    """How tangents are fitted to the radius: drawn to the labels, so that this share of
    them is left, or taken at a multiple of the coefficients."""

    share: float
    scale: float = 1.0

    @property
    def plain(self) -> Fit:
        return Fit(self.share)


class ProductRounds:
    """The rounds, the best point and the best bound so far."""

    most_steps = PRODUCTS.max_iter

    def __init__(
        self,
        problem: RobustProblem,
        design: Design,
        settings: SolverSettings,
        start: Start | None,
    ):
        self.problem, self.design, self.settings = problem, design, settings
        self.radius = problem.radius / design.scaling.unit
        self.descent = self.first_descent(start)
        limit = settings.max_iter
        self.max_iter = self.most_steps if limit is None else limit
        self.history = History(settings.callback)
        shape = (problem.n_classes, problem.n_features)
        self.best = Incumbent(np.zeros(shape), np.zeros(problem.n_classes))
        self.n_asked, self.n_model_rounds = 0, 0
        # What a repair cost, relative to what there was to learn.
        self.excess_rate = PRODUCTS.first_excess
        # What a bound lacked, relative to the imbalance of the intercepts.
        self.shortfall_rate = PRODUCTS.first_shortfall

    def first_descent(self, start: Start | None) -> Descent:
        """The descent at its first point."""
        problem, design = self.problem, self.design
        n_touchable = design.scaling.n_touchable
        diameter = DIAMETERS[problem.norm].of(problem.n_classes, n_touchable, design.kind)
        coef = first_point(
            problem, design, start, lambda coef: diameter.at(coef[:, :n_touchable]).largest
        )
        if start is not None:
            # The differences at the start show which lengths are long.
            lengths = diameter.at(coef[:, :n_touchable]).lengths
            diameter = diameter.reweighted(lengths, PRODUCTS.warm_power)
        flip_cost = single_flip_cost(problem) / design.scaling.unit
        told = design, diameter, self.radius, coef, flip_cost, self.settings.tol
        levels = isinstance(design, FlipDesign) and isinstance(diameter, PairDiameter)
        return FlipDescent(*told) if levels else Descent(*told)

    def solve(self) -> SolverResult:
        descent, tol = self.descent, self.settings.tol
        while not self._is_over():
            is_moving = descent.step()
            has_settled = descent.has_settled or not is_moving
            if has_settled or descent.is_sharp:
                self._consider()
            if has_settled:
                self._sharpen()
            self.history.add(descent.n_iter, descent.risk, self.best.dual_bound)
        if not self.best.certificate.holds(tol) and self.n_asked < PRODUCTS.max_asked:
            self._offer(descent.repaired(tol))
            flow = descent.flow(tol)
            self._ask(flow, self._fit(flow).plain)
        stalled = descent.n_iter < self.max_iter
        return self.best.result("newton", tol, stalled, descent.n_iter, self.history)

    def _sharpen(self) -> None:
        """By the loss's model as long as that leads on; else by one more power."""
        if self._is_over() or not self._model_pays():
            self.descent.sharpen()
            return
        for _ in range(PRODUCTS.model_rounds):
            followed = model_step(self.descent)
            self._consider()
            if not followed or self._is_over():
                break
        self.n_model_rounds += 1

    def _model_pays(self) -> bool:
        """Whether the steps settled early, which shows that the curvature is known, and a
        pass over the rows takes longer than many steps without one."""
        problem, descent = self.problem, self.descent
        enough = PRODUCTS.model_rows * (problem.n_classes + 50)
        n_unknowns = descent.coef.size
        is_long = problem.n_rows * n_unknowns >= PRODUCTS.model_work
        is_long = is_long or problem.n_rows >= PRODUCTS.model_rows_per_unknown * n_unknowns
        return (
            isinstance(descent.diameter, PairDiameter)
            and descent.flip_cost == np.inf
            and self.n_model_rounds == 0
            and descent.n_iter <= PRODUCTS.model_after
            and descent.n_since < PRODUCTS.patience
            and problem.n_rows >= enough
            and is_long
        )

    def _is_over(self) -> bool:
        return (
            self.best.certificate.holds(self.settings.tol)
            or self.descent.n_iter >= self.max_iter
            or self.n_asked >= PRODUCTS.max_asked
            or self.descent.is_stuck
        )

    def _consider(self) -> None:
        """Compute the certificate if it is likely to succeed.

        The best classifier so far may be good enough; else a repaired one is offered.
        """
        descent, tol, wanted = self.descent, self.settings.tol, self._wanted
        excess = PRODUCTS.excess_hope * self.excess_rate * descent.to_learn
        hoped = min(self.best.objective, descent.smooth_risk + excess + descent.promise)
        is_far = descent.promise > PRODUCTS.most_promise * wanted
        if is_far or hoped - Multiples.of(descent).best_dual > wanted:
            return
        flow = descent.flow(tol)
        fit = self._fit(flow)
        if hoped - self._foreseen_bound(fit.plain) <= wanted:
            # A multiple would put the intercepts out of balance.
            fit = fit.plain
        bound = self._foreseen_bound(fit)
        if self.best.objective - bound > wanted >= hoped - bound:
            enough = bound + wanted
            self._offer(descent.repaired(tol, enough), enough)
        if self.best.objective - bound <= wanted:
            self._ask(flow, fit)

    @property
    def _wanted(self) -> float:
        """The gap at which a certificate is likely to succeed."""
        return PRODUCTS.hope * allowed_gap(self.settings.tol, self.descent.risk)

    def _offer(self, coef: Floats, enough: float = np.inf) -> None:
        """Compute the risk of these coefficients, unless it is surely not ``enough``."""
        descent = self.descent
        risk = descent.least_risk_at(coef)
        if risk <= enough:
            original = self.design.scaling.original(coef)
            found = self.problem.risk(*original)
            self.best.offer(*original, found)
            risk = found.value
        if descent.to_learn > 0:
            excess = max(0.0, risk - descent.smooth_risk)
            self.excess_rate = excess / descent.to_learn

    def _foreseen_bound(self, fit: Fit) -> float:
        descent = self.descent
        lost = (1 - fit.share) * descent.robust_part
        foreseen = Multiples.of(descent).dual_at(fit.scale) - lost
        return foreseen - self.shortfall_rate * descent.imbalance

    def _fit(self, flow: PairWeights | None) -> Fit:
        """How the tangents are fitted to what the radius can pay for."""
        spent = self.descent.diameter.polar(flow, self.descent.flow_gradient)
        spent += self.descent.on_flips
        # Rounding and the balance of the intercept may make the true cost a little larger.
        rounding = 1e-5 if self.settings.tol >= PRODUCTS.single_tol else 1e-9
        growth = self.radius / max(spent, self.radius / 2) * (1 - rounding)
        return Fit(min(1.0, growth), Multiples.of(self.descent).scale_for(growth))

    def _learn_shortfall(self, foreseen: float) -> None:
        foreseen += self.shortfall_rate * self.descent.imbalance
        lacking, imbalance = foreseen - self.best.dual_bound, self.descent.imbalance
        if imbalance > 0 and 0 < lacking < np.inf:
            self.shortfall_rate = PRODUCTS.shortfall_hope * lacking / imbalance

    def _ask(self, flow: PairWeights | None, fit: Fit) -> None:
        self.n_asked += 1
        foreseen = self._foreseen_bound(fit)
        descent = self.descent
        coef, intercept = self.design.scaling.original(fit.scale * descent.coef)
        shares = self.design.shares(descent.at)
        drawn = self.drawn_flow(flow, fit.share)
        multipliers = DrawnTangents(coef, intercept, fit.share, drawn, shares=shares)
        known = None
        if descent.line is not None:
            told = self.design.problem_of_rows, descent.line.here
            known = KnownScores(*told, scale=fit.scale)
        multipliers = with_winners(multipliers, self.problem, known)
        self.best.raise_bound_by(
            self.problem, multipliers, self.settings.tol, steering=False
        )
        self._learn_shortfall(foreseen)
        self._forget_rows()

    def drawn_flow(self, flow: Any, share: float) -> Any:
        """The flow of drawn tangents in the problem's features; weights of pairs serve as
        they are."""
        return flow

    def _forget_rows(self) -> None:
        """A result keeps no winners, and the masses of flips only if they are not many."""
        kept = self.best.multipliers
        if isinstance(kept, DrawnTangents):
            shares = kept.shares
            many = shares.size if isinstance(shares, np.ndarray) else 0
            is_light = many <= PRODUCTS.max_kept_winners
            self.best.multipliers = replace(kept, winners=None) if is_light else None
