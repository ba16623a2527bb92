"""Quasi-Newton steps with the l2 norm where labels of rows in memory can be flipped."""

from __future__ import annotations

import numpy as np

from .....arrays import Floats
from ..design import LossSums
from ..diameter import PairDiameter
from ..search import NO_GRADIENT
from ..settings import PRODUCTS
from ..steps import Descent
from .level import Level, level_of
from .memory import FlipDesign
from .settings import LEVELS


class FlipDescent(Descent):
    """Steps whose settling computes shares from the levels of spans and lengths."""

    design: FlipDesign
    diameter: PairDiameter
    n_jumps = 0
    # The last level, and the sums of the point at which it was computed.
    known: tuple[LossSums, Level | None] | None = None

    @property
    def most_holds(self) -> int:
        """A system of so many equations is solved in the time of a few passes."""
        most = (LEVELS.work * self.design.problem.n_rows * self.coef.size) ** (1 / 3)
        return min(int(most), LEVELS.most_holds)

    def level(self) -> Level | None:
        """None where the lengths are zero, where passes are quicker, and at tolerances for
        which levels are too coarse."""
        is_coarse = self.tol < PRODUCTS.single_tol
        is_quick = self.most_holds < LEVELS.least_holds
        if self.smoothed.value == 0 or is_coarse or is_quick:
            return None
        if self.known is None or self.known[0] is not self.sums:
            self.known = self.sums, level_of(self)
        return self.known[1]

    def repaired(self, tol: float, enough: float = -np.inf) -> Floats:
        level = self.level()
        return super().repaired(tol, enough) if level is None else level.coef

    def sharpen(self) -> None:
        """By a jump to the level once the labels are smoothed as little as ever."""
        is_late = self.mu <= self.next_mu and self.n_jumps < LEVELS.jumps
        level = self.level() if is_late else None
        if level is None or not self._go_to(level):
            super().sharpen()

    def _go_to(self, level: Level) -> bool:
        """Go there with the shares that were computed; False if the risk rises."""
        before = self.coef, self.diameter, self.smoothed, self.sums, self.gradient
        priors = dict(self.design.priors)
        self.design.priors.update(level.priors)
        self._adapt_diameter(level)
        if self._moves_to(level):
            self.n_since, self.n_jumps, self.known = 0, self.n_jumps + 1, None
            return True
        self.coef, self.diameter, self.smoothed, self.sums, self.gradient = before
        self.design.priors.clear()
        self.design.priors.update(priors)
        return False

    def _moves_to(self, level: Level) -> bool:
        """Whether the risk does not rise there; kept scores then move there, too."""
        coef, self.coef = self.coef, level.coef
        if self.line is None:
            self._smooth_again()
            return self.smooth_risk <= level.risk
        smoothed = self.smoothed_at(self.coef)
        self.line.aim(self.coef - coef)
        ahead = self.line.look(1.0, *self.told(smoothed))
        if self.smooth_risk_of(smoothed, ahead.sums(NO_GRADIENT)) > level.risk:
            return False
        self.smoothed, self.sums = smoothed, self.line.go(ahead)
        self.gradient = self.gradient_of(self.smoothed, self.sums)
        return True

    def _adapt_diameter(self, level: Level) -> None:
        """Where all lengths are equal, forces are in proportion to the shares."""
        forces = level.forces
        total = float(forces.sum())
        if not total > PRODUCTS.least_left * self.radius:
            return
        power = max(LEVELS.least_power, self.diameter.power)
        if self.n_since <= PRODUCTS.quick_steps:
            power *= PRODUCTS.power_factor
        power = min(PRODUCTS.last_power, power)
        lengths = self.smoothed_at(level.coef).lengths
        self.diameter = self.diameter.with_shares(forces / total, power, lengths)
