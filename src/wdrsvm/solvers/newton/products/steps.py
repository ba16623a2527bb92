"""Quasi-Newton steps on the risk with a smoothed diameter."""

from __future__ import annotations

import numpy as np

from ....arrays import Floats
from ....problem.pair_weights import PairWeights
from .design import At, Design, LossSums
from .diameter import EntryDiameter, PairDiameter, Smoothed
from .preconditioner import Preconditioner
from .quasi_newton import Memory
from .settings import PRODUCTS


class Descent:
    """The state of the method: coefficients (C, Q), and the sums of the last pass there."""

    def __init__(
        self,
        design: Design,
        diameter: PairDiameter | EntryDiameter,
        radius: float,
        coef: Floats,
        flip_cost: float = np.inf,
        last_mu: float = 1.0,
    ):
        self.design, self.diameter, self.radius = design, diameter, radius
        self.flip_cost, self.mu, self.last_mu = flip_cost, PRODUCTS.first_mu, last_mu
        self.n_touchable = design.scaling.n_touchable
        self.memory, self.n_iter, self.n_since, self.n_failed = Memory(), 0, 0, 0
        self.promise = np.inf
        self.coef, self.smoothed = coef, self._smoothed_at(coef)
        self.sums = self._sums_at(coef, self.smoothed.value)
        self.gradient = self._gradient_of(self.smoothed, self.sums)
        self._build()

    def price(self, lam: float) -> float:
        """The price of a flip; infinite where labels are trusted, for any lam."""
        return self.flip_cost * lam if lam > 0 else self.flip_cost

    def _at(self, coef: Floats, lam: float) -> At:
        return At(coef, self.price(lam), self.mu)

    def _smoothed_at(self, coef: Floats) -> Smoothed:
        return self.diameter.at(coef[:, : self.n_touchable])

    def _sums_at(self, coef: Floats, lam: float) -> LossSums:
        return self.design.evaluate(self._at(coef, lam))

    def _gradient_of(self, smoothed: Smoothed, sums: LossSums) -> Floats:
        """The gradient of the smoothed risk; flips reduce the radius that moves have."""
        gradient = sums.gradient.copy()
        left = self.radius - self._on_flips(sums)
        gradient[:, : self.n_touchable] += left * smoothed.gradient
        return gradient

    def _on_flips(self, sums: LossSums) -> float:
        return self.flip_cost * sums.flipped if sums.flipped else 0.0

    @property
    def on_flips(self) -> float:
        """The total cost of the flips."""
        return self._on_flips(self.sums)

    def _build(self) -> None:
        sums = self.design.curvature(self._at(self.coef, self.smoothed.value))
        left = max(self.radius - self.on_flips, PRODUCTS.least_left * self.radius)
        stiffness = left * self.smoothed.stiffness
        self.precondition = Preconditioner.of(sums, stiffness, self.design.kind)

    @property
    def smooth_risk(self) -> float:
        return self.radius * self.smoothed.value + self.sums.loss

    @property
    def risk(self) -> float:
        return self.radius * self.smoothed.largest + self.sums.loss

    @property
    def spread(self) -> float:
        """The increase of D under new shares: a measure of how unequal the lengths are."""
        lengths = self.smoothed.lengths
        learnt = self.diameter.reweighted(lengths, self.diameter.power).mean(lengths)
        return learnt - self.smoothed.value

    @property
    def dual(self) -> float:
        """The value of the tangents at the scores, if they were feasible."""
        flips = self.on_flips * self.smoothed.value
        return self.sums.loss + flips - float(np.vdot(self.coef, self.sums.gradient))

    @property
    def flow_gradient(self) -> Floats:
        return self.sums.gradient[:, : self.n_touchable]

    def flow(self) -> PairWeights | None:
        return self.diameter.flow(self.smoothed, self.flow_gradient)

    def risk_at(self, coef: Floats) -> float:
        """The true risk of other coefficients, which takes a pass."""
        largest = self._smoothed_at(coef).largest
        return self.radius * largest + self._sums_at(coef, largest).loss

    def repaired(self, tol: float) -> Floats:
        """The coefficients with the longest differences shortened."""
        coef, n = self.coef.copy(), self.n_touchable
        rtol = PRODUCTS.repair_share * tol
        coef[:, :n] = self.diameter.repaired(coef[:, :n], self.smoothed.value, rtol)
        return coef

    @property
    def has_settled(self) -> bool:
        """Whether new shares of the lengths would change more than further steps."""
        if self.n_since >= PRODUCTS.patience:
            return True
        added = (self.radius - self.on_flips) * self.spread
        return self.promise < PRODUCTS.settled * added

    @property
    def is_stuck(self) -> bool:
        no_moves = self.on_flips > (1 - PRODUCTS.least_left) * self.radius
        return self.n_failed > 2 or (no_moves and self.n_iter > PRODUCTS.patience)

    def sharpen(self) -> None:
        """Adapt the shares to the lengths; raise the power if the steps settled quickly."""
        power = self.diameter.power
        if self.n_since <= PRODUCTS.quick_steps:
            power = min(PRODUCTS.last_power, PRODUCTS.power_factor * power)
        self.diameter = self.diameter.reweighted(self.smoothed.lengths, power)
        self.n_since = 0
        self.smoothed = self._smoothed_at(self.coef)
        if self.flip_cost < np.inf:
            self.mu = max(self.last_mu, PRODUCTS.mu_factor * self.mu)
            self.sums = self._sums_at(self.coef, self.smoothed.value)
        self.gradient = self._gradient_of(self.smoothed, self.sums)

    def step(self) -> bool:
        """One step; False if no step along the direction found gains anything."""
        self.n_iter += 1
        self.n_since += 1
        *early, period = PRODUCTS.rebuilds
        if self.n_iter in early or self.n_iter % period == 0:
            self._build()
        step = self.memory.direction(self.gradient, self.precondition)
        slope = float(np.vdot(self.gradient, step))
        if not slope < 0:
            self.memory.forget()
            self.n_failed += 1
            return False
        self.promise = -slope / 2
        gained = self._search(step, slope)
        self.n_failed = 0 if gained else self.n_failed + 1
        if not gained:
            self.memory.forget()
        return gained

    def _search(self, step: Floats, slope: float) -> bool:
        """Shorten the step until the smoothed risk falls; False if it never does."""
        length, risk, gradient = 1.0, self.smooth_risk, self.gradient
        for _ in range(PRODUCTS.max_trials):
            coef = self.coef + length * step
            smoothed = self._smoothed_at(coef)
            sums = self._sums_at(coef, smoothed.value)
            after = self._gradient_of(smoothed, sums)
            rise = self.radius * smoothed.value + sums.loss - risk
            is_level = rise <= PRODUCTS.risk_rounding * risk
            is_flatter = np.vdot(after, step) <= -PRODUCTS.max_slope * slope
            enough = PRODUCTS.least_gain * length * slope
            if rise <= enough or (is_level and is_flatter):
                self.coef, self.sums = coef, sums
                self.smoothed, self.gradient = smoothed, after
                self.memory.add(length * step, after - gradient)
                return True
            lowest = -slope * length / (2 * (rise - slope * length))
            length *= min(max(lowest, 0.1), 0.5)
        return False
