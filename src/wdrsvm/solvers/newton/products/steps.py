"""Quasi-Newton steps on the risk with a smoothed diameter."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import Any

import numpy as np

from ....arrays import Floats
from ....problem.certificate.gap import allowed_gap
from ....problem.pair_weights import PairWeights
from .curvature.heavy_rows import HeavyRows
from .curvature.preconditioner import ClassCurvature, ClassInverse, Preconditioner
from .design import At, Design, LossSums
from .diameter import EntryDiameter, Lesson, PairDiameter, Smoothed
from .flips.line import line_of
from .quasi_newton import Memory
from .repair.shortening import repaired
from .search import Place, search
from .settings import PRODUCTS


class Descent:
    """The state of the method: coefficients (C, Q), and the sums of the last pass there."""

    curvature_kind: Any = ClassCurvature
    lesson: Lesson | None = None
    heavy_after: float = PRODUCTS.model_after  # Heavy rows are taken after so many steps,
    basis_steps: float = PRODUCTS.basis_steps  # and a basis of the point's own.

    def __init__(
        self,
        design: Design,
        diameter: PairDiameter | EntryDiameter,
        radius: float,
        coef: Floats,
        flip_cost: float = np.inf,
        tol: float = 0.0,
    ):
        self.design, self.diameter, self.radius = design, diameter, radius
        self.tol, self.mu = tol, PRODUCTS.first_mu
        self.flip_cost, self.has_flips = flip_cost, flip_cost < np.inf
        self.n_touchable, self.memory = design.scaling.n_touchable, Memory(design.kind)
        self.n_iter, self.n_since, self.n_failed, self.promise = 0, 0, 0, np.inf
        # The last steps, and how the loss's gradient changed along them.
        self.pairs: deque[tuple[Floats, Floats]] = deque(maxlen=PRODUCTS.model_pairs)
        self.line = line_of(design, len(coef))
        self.coef, self.smoothed = coef, self.smoothed_at(coef)
        told = self.told(self.smoothed)
        self.sums = self.line.begin(coef, *told) if self.line else self._sums_here()
        self.gradient = self.gradient_of(self.smoothed, self.sums)
        self.precondition: Preconditioner | ClassInverse
        self.has_heavy_rows = False
        self.rebuild()

    def told(self, smoothed: Smoothed) -> tuple[float, float]:
        """The least price of a flip where the norm is this, and the labels' smoothing."""
        return self._price(smoothed.value), self.mu

    def _price(self, lam: float) -> float:
        """The price of a flip; infinite where labels are trusted, for any lam."""
        return self.flip_cost * lam if self.has_flips else np.inf

    @property
    def at(self) -> At:
        """The point of the sums, at the price that was found there."""
        least = self._price(self.smoothed.value)
        scores = None if self.line is None else self.line.here
        return At(self.coef, max(least, self.sums.price or least), self.mu, scores)

    @property
    def lam(self) -> float:
        """The diameter, or more if flips would else cost more than the radius."""
        return self._lam_of(self.smoothed, self.sums)

    def _lam_of(self, smoothed: Smoothed, sums: LossSums) -> float:
        if not self.has_flips:
            return smoothed.value
        # Prices are compared, not quotients: rounding must not part equal ones.
        if sums.price is None or sums.price <= self._price(smoothed.value):
            return smoothed.value
        return sums.price / self.flip_cost

    def smoothed_at(self, coef: Floats, known: Smoothed | None = None) -> Smoothed:
        """The norm there; what another diameter found there may be ``known``."""
        return self.diameter.at(coef[:, : self.n_touchable], known)

    def sums_at(self, coef: Floats, lam: float) -> LossSums:
        return self.design.evaluate(At(coef, self._price(lam), self.mu))

    def _sums_here(self) -> LossSums:
        if self.line is None:
            return self.sums_at(self.coef, self.smoothed.value)
        return self.line.go(self.line.look(0.0, *self.told(self.smoothed)))

    def gradient_of(self, smoothed: Smoothed, sums: LossSums) -> Floats:
        """The gradient of the smoothed risk; flips reduce the radius that moves have."""
        gradient = sums.gradient.copy()
        left = self.left_at(smoothed, sums)
        gradient[:, : self.n_touchable] += left * smoothed.gradient
        return gradient

    def left_at(self, smoothed: Smoothed, sums: LossSums) -> float:
        """The radius that flips leave to moves: none if lam is above the diameter."""
        if not self.has_flips:
            return self.radius
        if self._lam_of(smoothed, sums) > smoothed.value:
            return 0.0
        return self.radius - self._on_flips(sums)

    @property
    def left(self) -> float:
        return self.left_at(self.smoothed, self.sums)

    def _on_flips(self, sums: LossSums) -> float:
        return self.flip_cost * sums.flipped if sums.flipped else 0.0

    @property
    def on_flips(self) -> float:
        return self._on_flips(self.sums)

    def rebuild(self) -> None:
        """The curvature at the point, which takes a pass, and the preconditioner.

        Heavy rows are taken when the first steps did not settle; then the spread of the
        others need not be found again.  After many steps the point's own basis pays.
        """
        if self.n_iter > self.basis_steps and self.design.basis is not None:
            self.design = replace(self.design, basis=None)
        if not self.has_heavy_rows:
            sums = self.design.curvature(self.at)
            self.curvature = self.curvature_kind.of(sums, self.n_touchable)
        is_due = self.design.n_heavy and self.n_iter > self.heavy_after
        heavy = self._heavy_rows() if is_due else None
        self.has_heavy_rows = heavy is not None
        self.precondition = self._preconditioner(heavy)

    def _preconditioner(
        self, heavy: HeavyRows | None, curvature: ClassCurvature | None = None
    ) -> Preconditioner:
        left = max(self.left, PRODUCTS.least_left * self.radius)
        stiffness, kind = left * self.smoothed.stiffness, self.design.kind
        return Preconditioner.of(curvature or self.curvature, stiffness, kind, heavy)

    def _heavy_rows(self) -> HeavyRows | None:
        """The heaviest rows of each class, if they have much of the curvature."""
        found = self.design.heavy_curvature(self.at)
        self.curvature = self.curvature.moved(found.mass, found.first)
        if found.heavy_share < PRODUCTS.least_heavy_share:
            return None
        return HeavyRows(found.entries.curvature, self.design.features(found.entries.rows))

    @property
    def smooth_risk(self) -> float:
        return self.smooth_risk_of(self.smoothed, self.sums)

    def smooth_risk_of(self, smoothed: Smoothed, sums: LossSums) -> float:
        return self.radius * self._lam_of(smoothed, sums) + sums.loss

    @property
    def risk(self) -> float:
        return self.radius * max(self.smoothed.largest, self.lam) + self.sums.loss

    @property
    def spread(self) -> float:
        """The increase of D under new shares: a measure of how unequal the lengths are."""
        return self._lesson().value - self.smoothed.value

    def _lesson(self) -> Lesson:
        """What the lengths at the point teach; found once for each smoothed norm."""
        if self.lesson is None or self.lesson.smoothed is not self.smoothed:
            self.lesson = self.diameter.lesson(self.smoothed)
        return self.lesson

    @property
    def most_spread(self) -> float:
        """A bound of the spread: no mean is above the longest length."""
        return self.smoothed.largest - self.smoothed.value

    @property
    def dual(self) -> float:
        """The value of the tangents at the scores, if they were feasible."""
        flips = self.on_flips * self.lam + self.sums.smoothing
        return self.sums.loss + flips - float(np.vdot(self.coef, self.sums.gradient))

    @property
    def robust_part(self) -> float:
        """What the risk has beyond the loss of the rows as they are."""
        return self.radius * self.lam + self.sums.added

    @property
    def flow_gradient(self) -> Floats:
        return self.sums.gradient[:, : self.n_touchable]

    @property
    def imbalance(self) -> float:
        """How far the slopes of the classes are from sums of zero, as intercepts need."""
        if not self.design.scaling.fit_intercept:
            return 0.0
        return float(np.abs(self.sums.gradient[:, -1]).sum())

    def flow(self, tol: float) -> PairWeights | None:
        return self.diameter.flow(self.smoothed, self.flow_gradient, tol)

    def least_risk_at(self, coef: Floats) -> float:
        """A lower bound of the true risk of other coefficients, without a pass.

        The risk is convex in coefficients and the multiplier: it lies above its tangent.
        """
        rise = float(np.vdot(self.sums.gradient, coef - self.coef))
        rise += self.left * (self.smoothed_at(coef).largest - self.lam)
        return self.smooth_risk + rise

    def repaired(self, tol: float, enough: float = -np.inf) -> Floats:
        """The coefficients with the longest differences shortened, so that their risk is
        about ``enough``, or as low as can be."""
        return repaired(self, tol, enough)

    @property
    def knows_forces(self) -> bool:
        """Whether the norm acts by forces between the classes, and labels are trusted."""
        smooth = isinstance(self.diameter, PairDiameter) and not self.has_flips
        return smooth and self.smoothed.value > 0

    @property
    def has_settled(self) -> bool:
        """Whether new shares of the lengths would change more than further steps."""
        patience, settled = PRODUCTS.patience, PRODUCTS.settled
        if self.has_flips:
            patience, settled = PRODUCTS.flip_patience, PRODUCTS.flip_settled
        return self.settles(patience, settled)

    def settles(self, patience: float, settled: float) -> bool:
        """Whether steps are many, or the next one promises too little."""
        if self.n_since >= patience:
            return True
        # Most steps need no new shares to be judged.
        at_most = settled * self._to_learn(self.most_spread)
        return self.promise < at_most and self.promise < settled * self.to_learn

    @property
    def is_sharp(self) -> bool:
        """Whether the smoothed diameter is close to the true one."""
        return self.diameter.power >= PRODUCTS.sharp_power

    @property
    def to_learn(self) -> float:
        """What new shares of the lengths and of the labels would add to the risk."""
        return self._to_learn(self.spread)

    def _to_learn(self, spread: float) -> float:
        return self.left * spread + abs(self.sums.smoothing)

    @property
    def is_stuck(self) -> bool:
        return self.n_failed > 2

    def sharpen(self) -> None:
        """Adapt the shares to the lengths; raise the power if the steps settled quickly."""
        if self.has_flips:
            self.design.learn(self.at)
            self.mu = self.next_mu
        if self.left > 0 or self.smoothed.largest > self.lam:
            self._sharpen_diameter()
        self.n_since = 0
        self._smooth_again(self.smoothed)

    @property
    def next_mu(self) -> float:
        """The smoothing of the labels after the next settling."""
        last = min(PRODUCTS.last_mu, PRODUCTS.mu_of_price * self.at.price)
        return max(last, PRODUCTS.mu_factor * self.mu)

    def _smooth_again(self, known: Smoothed | None = None) -> None:
        """Another smoothing of the risk, at a point where the norm may be ``known``."""
        self.smoothed = self.smoothed_at(self.coef, known)
        self.sums = self._sums_here() if self.has_flips else self.sums
        self.gradient = self.gradient_of(self.smoothed, self.sums)

    def _sharpen_diameter(self) -> None:
        power = self.diameter.power
        if self.n_since <= PRODUCTS.quick_steps:
            power = min(PRODUCTS.last_power, PRODUCTS.power_factor * power)
        if power == self.diameter.power:
            self.diameter = self.diameter.taught(self._lesson())
        else:
            self.diameter = self.diameter.reweighted(self.smoothed.lengths, power)

    def step(self) -> bool:
        """One step; False if no step along the direction found gains anything."""
        self.n_iter, self.n_since = self.n_iter + 1, self.n_since + 1
        if self._needs_rebuild():
            self.rebuild()
        step = self.memory.direction(self.gradient, self.precondition)
        slope, gained = float(np.vdot(self.gradient, step)), False
        if slope < 0:
            self.promise = -slope / 2
            gained = self._search(step, slope)
        self.n_failed = 0 if gained else self.n_failed + 1
        if not gained:
            self.memory.forget()
        return gained

    def _needs_rebuild(self) -> bool:
        """Early, then from time to time, unless the end is near."""
        *early, period = PRODUCTS.rebuilds
        is_near = self.promise < PRODUCTS.near * allowed_gap(self.tol, self.risk)
        return self.n_iter in early or (self.n_iter % period == 0 and not is_near)

    def _search(self, step: Floats, slope: float) -> bool:
        """Go along the step; False if the smoothed risk does not fall there."""
        if (place := search(self, step, slope)) is not None:
            self._move(place)
        return place is not None

    def _move(self, place: Place) -> None:
        """Go there, and remember how the gradients changed."""
        coef, smoothed, sums = place
        step, after = coef - self.coef, self.gradient_of(smoothed, sums)
        self.memory.add(step, after - self.gradient)
        self.pairs.append((step, sums.gradient - self.sums.gradient))
        self.coef, self.smoothed, self.sums, self.gradient = *place, after

    def jump(
        self, coef: Floats, diameter: PairDiameter | EntryDiameter, promised: float
    ) -> bool:
        """Go where the smoothed risk, with this diameter, is ``promised`` to be lower.

        Returns whether it fell by much of what was promised; if it never falls, stay.
        """
        self.n_iter += 1
        before = self.diameter, self.smoothed, self.sums, self.gradient
        self.diameter = diameter
        self._smooth_again(self.smoothed)
        step, risk = coef - self.coef, self.smooth_risk
        slope = float(np.vdot(self.gradient, step))
        if not (slope < 0 and self._search(step, slope)):
            self.diameter, self.smoothed, self.sums, self.gradient = before
            return False
        self.promise = max(0.0, self.smooth_risk - promised)
        wanted = PRODUCTS.model_trust * (risk - promised)
        return risk - self.smooth_risk >= wanted - PRODUCTS.risk_rounding * risk
