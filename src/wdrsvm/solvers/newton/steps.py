r"""Newton steps on the smoothed risk.

The norm constraint keeps its primal-dual cone (``cones``).  The state is (M, b, lam)
and the cone, so one pass over the rows returns all that a step needs.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Floats
from ...problem import lipschitz
from ..cones.choice import starting_cone
from ..cones.kernels import native
from ..result import Start
from .smoothed_risk import Passes

FIRST_MU = 0.5
LAST_MU = 1e-5
MU_FACTOR = 0.4
# The gap left by smoothing falls with the square of mu.
GAP_FACTOR = MU_FACTOR**2
MAX_STEPS_A_ROUND = 50
# Rows a coefficient that a round's sample, and its curvature, should have.
ROWS_A_COEFFICIENT = 30
STEP_SHARE = 0.99
MAX_TRIALS = 30
# A step that is too long is cut to a share of itself between these.
SHORTEST, LONGEST = 0.25, 0.5
# A merit that rises by no more than this share has not risen.
ROUNDING = 1e-15
# Steps have settled when they promise this share of the gap; the cone's is this one.
SETTLED = 0.05
CONE_SHARE = 0.1
FIRST_CENTRE = 1e-3
WARM_MU = 0.03
WARM_SLACK = 1e-2
# Without a budget flips are free or impossible: there is no price to start from.
NO_PRICES = np.empty(0)
# Below this many rows near a kink, a coefficient, rounds end and the polish begins.
SOFT_ROWS_A_COEFFICIENT = 4
# Below this mu, more than this share of the rows near a kink hints at a constant optimum.
TIED_MU, TIED_SHARE = 0.05, 0.5


class Newton:
    """The state of the method and its steps."""

    step_share = STEP_SHARE

    def __init__(self, passes: Passes, rng: np.random.Generator):
        problem, scaling = passes.problem, passes.scaling
        centre = FIRST_CENTRE
        self.passes, self.rng = passes, rng
        self.radius = problem.radius / scaling.unit
        self.coef = np.zeros((problem.n_classes, scaling.n_columns))
        self.cone, self.lam = starting_cone(
            problem.norm,
            self.coef.shape,
            scaling.n_touchable,
            NO_PRICES,
            self.radius,
            centre,
        )
        self.moves = native.Moves(self.cone)
        self.mu, self.centre = FIRST_MU, centre
        self.max_curvature_rows = ROWS_A_COEFFICIENT * self.coef.size
        self.n_iter = 0
        self._look()

    def begin_at(self, start: Start) -> None:
        """Move to a given point, at a mu from which it is not far to its neighbours."""
        scaling, n_touchable = self.passes.scaling, self.passes.scaling.n_touchable
        self.coef = scaling.scaled(start.coef, start.intercept)
        touchable = self.coef[:, :n_touchable]
        problem = self.passes.problem
        if problem.norm == "l1":  # the gauge in which its box holds
            touchable -= (touchable.max(axis=0) + touchable.min(axis=0)) / 2
        steepest = lipschitz(start.coef, problem.norm, problem.attainable_feature_cost())
        self.lam = scaling.unit * max(start.lam, steepest) * (1 + WARM_SLACK) + WARM_SLACK
        self.mu = WARM_MU
        self._look()
        self.centre = self._share_of_gap()
        self.cone.place(touchable, self.lam, self.centre)

    def _look(self) -> None:
        self.now = self.passes.evaluate(self.coef, self.lam, self.mu)

    @property
    def risk(self) -> float:
        """The smoothed risk, an upper bound of the risk on the rows seen."""
        return self.radius * self.lam + self.now.loss

    @property
    def gap(self) -> float:
        """What smoothing and centring leave of the gap, once the steps have settled."""
        return self.risk - self.now.dual

    @property
    def is_tied(self) -> bool:
        """Whether most rows are near a kink, however small mu has become."""
        many = TIED_SHARE * self.passes.problem.n_rows
        return self.mu < TIED_MU and self.now.n_soft > many

    @property
    def is_sharp(self) -> bool:
        """Whether too few rows are near a kink for their curvature to guide steps."""
        few = self.now.n_soft < SOFT_ROWS_A_COEFFICIENT * self.coef.size
        return few or self.mu < LAST_MU

    def sharpen(self, passes: Passes) -> None:
        """Start the next round: smaller mu and centre, perhaps more rows."""
        self.passes = passes
        self.mu *= MU_FACTOR
        self.centre = GAP_FACTOR * self._share_of_gap()
        self._look()

    def _share_of_gap(self) -> float:
        """The complementarity that adds little to the gap.

        Before the steps have settled the gap is only a guess, and may be negative.
        """
        gap = max(self.gap, self.mu**2 * self.risk)
        return float(CONE_SHARE * gap / max(self.cone.degree, 1))

    def settle(self, max_iter: int, share: float = SETTLED) -> None:
        """Newton steps until they promise only a share of the gap, or lead nowhere."""
        for _ in range(MAX_STEPS_A_ROUND):
            if self.n_iter >= max_iter:
                break
            self.n_iter += 1
            promise = self._step()
            if not promise > share * self.gap:
                break

    def _step(self) -> float:
        """A damped Newton step; returns the decrease that it promised, 0 if it failed."""
        system = self.moves.completed(self._curvature())
        self.moves.aim(self.centre)
        rhs = np.append(-self.now.gradient, self.now.on_flips - self.radius)
        rhs = self.moves.with_goal(rhs)
        step = system.solve(rhs)
        self.moves.find_step(step)
        promise = float(rhs @ step) / 2
        return promise if self._search(step, 2 * promise) else 0.0

    def _curvature(self) -> Floats:
        return self._curvature_of(min(1.0, self.max_curvature_rows / self._n_soft))

    @property
    def _n_soft(self) -> int:
        return max(self.now.n_soft, 1)

    def _curvature_of(self, share: float) -> Floats:
        """The samples' curvature, told by a share of those that have any."""
        seed = int(self.rng.integers(2**32)) if share < 1 else 0
        at = self.coef, self.lam, self.mu
        return self.passes.curvature(*at, self.now, share, seed)

    def _search(self, step: Floats, decline: float) -> bool:
        """Go along the step, shorter and shorter, until the barrier function falls.

        ``decline`` is its slope at the start, which a parabola through the last trial
        takes up.
        """
        length, dual = (min(1.0, self.step_share * end) for end in self.moves.lengths)
        coef, lam = self.coef, self.lam
        d_coef, d_lam = step[:-1].reshape(coef.shape), float(step[-1])
        merit = self._merit_after(0.0)
        for _ in range(MAX_TRIALS):
            self.coef, self.lam = coef + length * d_coef, lam + length * d_lam
            self._look()
            rise = self._merit_after(length) - merit
            if rise <= ROUNDING * abs(merit):
                self.moves.advance(length, dual)
                return True
            lowest = decline * length / (2 * (rise + decline * length))
            length *= min(max(lowest, SHORTEST), LONGEST)
        self.coef, self.lam = coef, lam
        self._look()
        return False

    def _merit_after(self, length: float) -> float:
        """The barrier function at the present point, the cone having gone ``length``."""
        barrier = self.moves.barrier_after(length)
        return float(self.radius * self.lam + self.now.merit + self.centre * barrier)
