r"""The state of the first-order method: a point, its multipliers, and its price.

The price lam is the increase of the optimum per unit of the radius,

    lam = centre - step (radius - spent on flips - pressure of the norm),

where the pressure is the sum of the multipliers of the norm constraint.  At the optimum the
radius is the sum of spending and pressure.  lam changes with every flip during a sweep,
because it would oscillate if it changed once per epoch.

Free columns (the intercept, and features that cannot move) have their own augmented
Lagrangian: B = B_k - steps * sum_n f_n g_n'.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
from scipy import sparse

from ...arrays import Codes, Floats, Matrix
from ...problem import RobustProblem, RobustRisk, dual_bound
from ...problem.certificate.gap import allowed_gap, relative_gap
from ...problem.certificate.multipliers import RowMultipliers
from ...problem.norms import HUGE
from ..result import Incumbent, Progress, Start
from .average import RunningMean
from .beginning import first_duals, first_point, sample_arrays, with_flips
from .feasible_multipliers import Feasible, feasible, spending
from .kernels import Price
from .known_multipliers import resumable
from .layout import Layout
from .multiples import best_multiple
from .norms.blocks import BLOCKS
from .norms.l1 import BoxBlock
from .norms.l2 import EuclideanBlock
from .places_of_rows.foresight import (
    FallingGap,
    Remembered,
    estimated_bound,
    estimated_risk,
)
from .places_of_rows.masses import own_masses, with_places
from .places_of_rows.masses import slopes as slopes_of_few
from .places_of_rows.places import Places, find_places
from .resting_rows import RestingRows
from .samples import Duals, FreeTable
from .settings import FIRST_ORDER
from .step_sizes import column_steps, effective_rows, restoring_factor

# A row is at rest when its mass is on its own label, up to rounding.
AT_REST = 1 - 1e-12


class Ascent:
    """The state of the method and its steps."""

    def __init__(self, problem: RobustProblem, start: Start | None, seed: int):
        self.problem = problem
        self.rng = np.random.default_rng(seed)
        known = resumable(problem, start)
        # From known multipliers few epochs follow, which a turn would not pay for.
        self.layout = Layout.of(problem, may_turn=known is None)
        self.rows = sample_arrays(problem, self.layout)
        self._duals = first_duals(self.rows, problem, known)
        # Places whose masses the table of all masses does not follow yet.
        self._ahead: Places | None = None
        begun = first_point(problem, self.layout, self.rows, start)
        touch, self.free_centre, lam = begun
        self.width = FIRST_ORDER.place_width if start is None and touch.any() else np.inf
        self.least_lam = FIRST_ORDER.least_lam_share * lam
        loss = problem.loss
        self.price = Price(lam, problem.radius, loss.temperature, loss.margin)
        self._move_price()
        self.free = FreeTable(self.free_centre.copy(), np.ones(len(self.free_centre)))
        self.free_shape, self.free_squares = column_steps(
            self.rows.free, self.rows.weight, len(self.free_centre), rarity=1.0
        )
        self.effective_rows = effective_rows(self.rows.weight)
        self.gap = self.softness = 1.0
        self.promised: Floats | None = None
        self.n_sweeps = 0
        self.places: Places | None = None
        self.moves = np.zeros(problem.n_rows)
        self.age_of_places, self.offers_mean = 0, False
        self.remembered: Remembered | None = None
        self.falling, self.gave_up_places = FallingGap(), False
        work = len(self.rows.touch.data) * problem.n_classes
        large = work >= FIRST_ORDER.least_slack_work
        self.resting = RestingRows(self.layout, self.rows) if large else None
        block = BLOCKS[problem.norm] if len(touch) else BoxBlock
        self.block = block(self.rows, self.duals, self.free, self.price, touch)
        if known is not None and isinstance(self.block, EuclideanBlock):
            self._resume(self.block)
        self._move_free()
        self.mean = RunningMean(self.block.coef, self.free_centre)

    def _resume(self, block: EuclideanBlock) -> None:
        """Let the block and the price follow the multipliers of the start."""
        alpha = self.duals.alpha
        if sparse.issparse(alpha):
            slopes = slopes_of_few(alpha, self.problem.y)
        else:
            slopes = RowMultipliers(*with_flips(self.duals)).slopes(self.problem.y)
        self.price.spent = spending(self.rows, self.duals.phi)
        block.resume(np.asarray(self.layout.touch.T @ slopes))

    def sweep(self) -> None:
        """One epoch in random order, over the rows that may move."""
        tol = min(FIRST_ORDER.row_tol_share * self.gap, FIRST_ORDER.first_row_tol)
        tol = max(tol, FIRST_ORDER.least_row_tol)
        least_weight = FIRST_ORDER.pair_weight_share * min(self.gap, 1.0)
        if isinstance(self.block, EuclideanBlock) and self._has_places(tol):
            self._sweep_places(self.block, tol, least_weight)
            return
        self.places = None
        order = self.rng.permutation(self._rows_of_epoch(tol))
        if sparse.issparse(self.duals.alpha):
            told = order, self.duals.alpha, tol, least_weight
            self._keep(cast(EuclideanBlock, self.block).sweep_parts(*told))
        else:
            self.block.sweep(order, tol, least_weight)

    def _keep(self, alpha: Matrix) -> None:
        self._duals, self._ahead = self._duals._replace(alpha=alpha), None

    @property
    def duals(self) -> Duals:
        """The multipliers.  Epochs among places change those of the places alone, and the
        table of all follows when it is asked for."""
        if self._ahead is not None:
            self._keep(with_places(self._duals.alpha, self._ahead))
        return self._duals

    def _has_places(self, tol: float) -> bool:
        """Whether dense rows are settled among places, in single precision."""
        coarse = tol >= FIRST_ORDER.least_single_row_tol and len(self.rows.singles) > 0
        trusted = self.problem.norm == "l2" and len(self.rows.cost) == 0
        ready = self.n_sweeps >= FIRST_ORDER.full_sweeps or self.width < np.inf
        return coarse and trusted and ready and not self.gave_up_places

    def _sweep_places(self, block: EuclideanBlock, tol: float, least_weight: float) -> None:
        """One epoch over the rows that may move, among their places."""
        self.n_sweeps += 1
        n_classes, places, age = self.problem.n_classes, self.places, self.age_of_places
        if self.n_sweeps > FIRST_ORDER.narrow_sweeps:
            self.width = np.inf
        if places is None or age >= places.lasting_epochs(n_classes, self.width):
            places = self._places_at(block.coef, self.free_centre)
        self.age_of_places += 1
        order = places.order(self.rng, len(block.coef), self.moves)
        self.moves = block.sweep_places(order, places, tol, least_weight)
        self.places = self._ahead = places

    def _rows_of_epoch(self, tol: float) -> Codes | int:
        """The rows that are not at rest, in some epochs also those that would leave it, or
        of few rows all.

        Most rows of a hinge end beyond their margin and stay there.
        """
        turn, self.n_sweeps = self.n_sweeps, self.n_sweeps + 1
        if self.problem.loss.temperature > 0 or turn == 0:
            return self.problem.n_rows
        at_rest = own_masses(self.duals.alpha, self.rows.y)
        moving = at_rest < AT_REST * self.rows.weight
        if turn % FIRST_ORDER.sweeps_per_turn == 0:
            if self.resting is None:
                return self.problem.n_rows
            point = self.block.coef, self.free_centre, self.price.lam
            coarse = tol >= FIRST_ORDER.least_single_row_tol
            leaving = self.resting.leaving(np.flatnonzero(~moving), *point, coarse)
            moving[leaving] = True
        return np.flatnonzero(moving) if moving.any() else self.problem.n_rows

    def _places_at(self, touch: Floats, free: Floats) -> Places:
        self.age_of_places = 0
        of = self.layout, self.rows, self.duals.alpha
        return find_places(*of, touch, free, self.width)

    def recentre(self) -> None:
        """Move the centres of the proximal steps to the end of this epoch."""
        self._move_price()
        self.block.recentre()
        self._move_free()
        self.mean.add(self.block.coef, self.free_centre)

    @property
    def has_run_away(self) -> bool:
        """Whether the coefficients have grown without limit, on badly scaled columns."""
        sizes = (
            np.abs(part).max(initial=0.0) for part in (self.block.coef, self.free_centre)
        )
        return not all(size < HUGE for size in sizes)

    def foresee(self, tol: float) -> Progress | None:
        """About what ``certify`` would find, where that is known at little cost; the
        proximal steps are adapted to it."""
        block, problem = self.block, self.problem
        if self.places is None or not isinstance(block, EuclideanBlock):
            return None
        self.places = self._places_at(block.coef, self.free_centre)
        now = estimated_risk(problem, self.places.loss, block.coef)
        rtol = FIRST_ORDER.flow_rtol * relative_gap(min(self.gap, 1.0), now.least)
        masses = estimated_bound(problem, self.duals.alpha, block, rtol)
        risk = self._least_risk(now.least, masses.bound, tol)
        # A gap that meets the goal is not known before it is certified.
        self.gap = max(risk - masses.bound, allowed_gap(tol, risk))
        self.gave_up_places |= self.falling.has_stopped(self.gap, self.n_sweeps)
        middle = masses.value + self.price.lam * problem.radius
        middle += float((block.coef * masses.gradient).sum())
        self._soften(now.risk, masses.bound, middle, FIRST_ORDER.place_softening)
        now_at = self.free_centre, self.price, self.places
        self.remembered = Remembered.of(block, *now_at)
        return Progress(self.n_sweeps, risk, masses.bound, 0.0)

    def _least_risk(self, risk: float, bound: float, tol: float) -> float:
        """This risk, or that of the mean of the last points where it might suffice."""
        near = risk - bound <= allowed_gap(FIRST_ORDER.hopeful_gaps * tol, risk)
        self.offers_mean = False
        if not near or self.n_sweeps < FIRST_ORDER.first_mean:
            return risk
        loss = self._places_at(self.mean.touch, self.mean.free).loss
        mean = estimated_risk(self.problem, loss, self.mean.touch).least
        self.offers_mean = mean < risk
        return min(mean, risk)

    def recall(self) -> bool:
        """Go back to the last point that was looked at; False if there is none."""
        if self.remembered is None or not isinstance(self.block, EuclideanBlock):
            return False
        self.free_centre = self.remembered.free
        told = self.block, self.price, self.duals.alpha
        self._keep(self.remembered.restore(*told))
        self.offers_mean = False
        return True

    def certify(self, best: Incumbent, foreseen: bool = False) -> None:
        """Offer the present point, the mean of the last ones, and a bound from the present
        multipliers; of the points the better one alone if that is ``foreseen``."""
        objective = np.inf
        if not (foreseen and self.offers_mean):
            objective = self._offer(best, self.block.coef, self.free_centre)
        if self.offers_mean if foreseen else self.n_sweeps >= FIRST_ORDER.first_mean:
            mean = self._offer(best, self.mean.touch, self.mean.free)
            objective = min(objective, mean)
        made = feasible(self.problem, self.layout, self.duals)
        bound = 0.0 if made is None else self._raise_bound(best, made)
        best.raise_bound(bound, None)
        self.gap = max(best.certificate.gap, 0.0)
        self.price.spent = spending(self.rows, self.duals.phi)
        if foreseen:
            return
        middle = None
        if made is not None:
            middle = made.value + self.price.lam * (self.problem.radius - made.on_flips)
            middle += float((self.block.coef * made.gradient).sum())
        self._soften(objective, bound, middle, FIRST_ORDER.max_softening)

    def _offer(self, best: Incumbent, touch: Floats, free: Floats) -> float:
        """Offer a point and a promising multiple of it, and return the point's risk."""
        problem = self.problem
        coef, intercept = self.layout.original(touch, free)
        choices = problem.flip_choices(coef, intercept)
        risk = problem.risk_of_choices(choices, coef)
        best.offer(coef, intercept, risk)
        if problem.loss.temperature > 0:
            return risk.value
        factor, gain = best_multiple(
            choices.loss, problem.weight, problem.radius * risk.lam
        )
        multiple = factor * coef, factor * intercept
        promised = RobustRisk(risk.value - gain, factor * risk.lam)
        if problem.trusts_labels and promised.value < best.objective:
            best.offer(*multiple, promised)
            self.promised = best.coef
        elif promised.value < best.objective - FIRST_ORDER.least_gain * self.gap:
            best.offer(*multiple, problem.risk(*multiple))
        return risk.value

    def confirm(self, best: Incumbent) -> None:
        """Compute the risk of the best point anew if it is that of a multiple by formula.

        Without flips the two differ by rounding, which grows with the intercepts: by 1e-15
        of the risk on standardised columns, and by 4e-9 on columns that are 1e9 deviations
        away from zero.  So the last line of the history may differ from the certificate.
        """
        if best.coef is self.promised:
            best.objective, best.lam = self.problem.risk(best.coef, best.intercept)
            self.promised = None

    def _raise_bound(self, best: Incumbent, made: Feasible) -> float:
        """Offer these multipliers with their bound, and return the bound."""
        problem, gradient = self.problem, made.gradient
        flow = self.block.flow()
        rtol = FIRST_ORDER.flow_rtol * relative_gap(min(self.gap, 1.0), best.objective)
        bound = made.bound(problem, self.block.polar(gradient, rtol))
        unknowns = problem.n_classes * (problem.n_features + 1)
        work = problem.n_rows * unknowns**2
        small = unknowns <= FIRST_ORDER.max_dense_unknowns
        small = small and work <= FIRST_ORDER.max_dense_work
        if bound <= best.dual_bound and not small:
            return bound
        multipliers = made.multipliers(None if flow is None else self.layout.flow(flow))
        if small:
            own = self.layout.flow(self.block.own_gradient(gradient).T)
            multipliers = replace(multipliers, gradient=own)
            bound = max(bound, dual_bound(problem, multipliers))
        best.raise_bound(bound, multipliers)
        return bound

    def _soften(
        self, objective: float, bound: float, middle: float | None, most: float
    ) -> None:
        """Make proximal steps longer if the bound is worse, shorter if the objective is.

        Both are compared to the Lagrangian, which lies between them at the end.
        """
        factor = most
        if middle is not None:
            ahead, behind = max(objective - middle, 0.0), max(middle - bound, 0.0)
            factor = restoring_factor(ahead, behind, most)
        softness = max(self.softness * factor, FIRST_ORDER.min_softness)
        softness = min(softness, FIRST_ORDER.max_softness)
        self.block.soften(softness / self.softness)
        self.softness = softness

    def _move_price(self) -> None:
        price = self.price
        price.lam = price.centre = max(price.lam, self.least_lam)
        # With this step, spending twice the radius doubles the price.
        price.step = price.lam / price.radius if price.radius > 0 else 1.0
        price.response = price.step

    def _move_free(self) -> None:
        """Centre the free columns; steps follow the curvature of touchable columns."""
        if len(self.free_centre) == 0:
            return
        share = self.softness
        if len(self.block.coef):
            share = self.block.stiffness / self.effective_rows
            share = max(share, FIRST_ORDER.least_stiffness)
            share *= min(1.0, FIRST_ORDER.free_share * len(self.free_centre))
        # B = B_k - steps * G, and G does not change with the steps.
        slopes = (self.free_centre - self.free.coef) / self.free.steps[:, None]
        self.free_centre = self.free.coef.copy()
        self.free.steps[:] = share * self.free_shape
        self.free.coef[:] -= self.free.steps[:, None] * slopes
        self.rows.free_curvature[:] = share * self.free_squares
