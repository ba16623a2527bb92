r"""Newton steps on the smoothed risk.

The norm constraint keeps its primal-dual cone (``cones``).  The state is (M, b, lam) and
the cone.  One pass over the rows returns all numbers that a step needs.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ...arrays import Floats
from ...problem import lipschitz
from ..cones.choice import starting_cone
from ..cones.kernels import native
from ..result import Start
from .settings import NEWTON
from .smoothed_risk import SmoothedRisk

# A few units of rounding: a rise of the merit by no more than this share does not count.
MERIT_ROUNDING = 1e-15
# The start of lam does not depend on flip costs here.
NO_PRICES = np.empty(0)


class NewtonSteps:
    """The state of the method and its steps."""

    step_share = NEWTON.step_share

    def __init__(self, smoothed: SmoothedRisk, rng: np.random.Generator):
        problem, scaling = smoothed.problem, smoothed.scaling
        centre = NEWTON.first_centre
        self.smoothed, self.rng = smoothed, rng
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
        self.mu, self.centre = NEWTON.first_mu, centre
        self.max_curvature_rows = NEWTON.rows_per_coefficient * self.coef.size
        self.n_iter = 0
        self._look()

    def begin_at(self, start: Start) -> None:
        """Move to a given point, with a small mu, because the optimum is near."""
        scaling, n_touchable = self.smoothed.scaling, self.smoothed.scaling.n_touchable
        self.coef = scaling.scaled(start.coef, start.intercept)
        touchable = self.coef[:, :n_touchable]
        problem = self.smoothed.problem
        if problem.norm == "l1":  # the gauge in which its box holds
            touchable -= (touchable.max(axis=0) + touchable.min(axis=0)) / 2
        steepest = lipschitz(start.coef, problem.norm, problem.attainable_feature_cost())
        slack = NEWTON.warm_slack
        self.lam = scaling.unit * max(start.lam, steepest) * (1 + slack) + slack
        self.mu = NEWTON.warm_mu
        self._look()
        self.centre = self._share_of_gap()
        self.cone.place(touchable, self.lam, self.centre)

    def _look(self) -> None:
        self.now = self.smoothed.evaluate(self.coef, self.lam, self.mu)

    @property
    def risk(self) -> float:
        """The smoothed risk, an upper bound of the risk on the rows seen."""
        return self.radius * self.lam + self.now.loss

    @property
    def gap(self) -> float:
        """The gap that smoothing and centring leave, once the steps have settled."""
        return self.risk - self.now.dual

    @property
    def is_tied(self) -> bool:
        """Whether most rows are near a kink, however small mu has become."""
        many = NEWTON.tied_share * self.smoothed.problem.n_rows
        return self.mu < NEWTON.tied_mu and self.now.n_soft > many

    @property
    def is_sharp(self) -> bool:
        """Whether too few rows are near a kink for a useful curvature."""
        few = self.now.n_soft < NEWTON.soft_rows_per_coefficient * self.coef.size
        return few or self.mu < NEWTON.last_mu

    def sharpen(self, smoothed: SmoothedRisk) -> None:
        """Start the next round: smaller mu and centre, perhaps more rows."""
        self.smoothed = smoothed
        self.mu *= NEWTON.mu_factor
        self.centre = NEWTON.gap_factor * self._share_of_gap()
        self._look()

    def _share_of_gap(self) -> float:
        """A complementarity that adds little to the gap.

        Before the steps have settled, the gap is only a guess and may be negative.
        """
        gap = max(self.gap, self.mu**2 * self.risk)
        return float(NEWTON.cone_share * gap / max(self.degree, 1))

    @property
    def degree(self) -> int:
        """Number of products slack times multiplier that the cone has."""
        return int(self.cone.degree)

    def settle(self, max_iter: int, share: float = NEWTON.settled) -> None:
        """Step until the promised decrease is a share of the gap, or a step fails.

        A round of many steps shows that some rows do not speak for the others, as where a
        class is rare or features have outliers: from then on all rows tell the curvature.
        """
        for n_taken in range(NEWTON.max_steps_per_round):
            if self.n_iter >= max_iter:
                break
            if n_taken == NEWTON.max_sampled_steps:
                self.max_curvature_rows = sys.maxsize
            self.n_iter += 1
            promise = self._step()
            if not promise > share * self.gap:
                break

    def _step(self) -> float:
        """Take a damped Newton step; return the promised decrease, or 0 if it failed."""
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
        """The samples' curvature, estimated from a share of the rows that have any."""
        seed = int(self.rng.integers(2**32)) if share < 1 else 0
        at = self.coef, self.lam, self.mu
        return self.smoothed.curvature(*at, self.now, share, seed)

    def _search(self, step: Any, decline: float) -> bool:
        """Shorten the step until the barrier function falls.

        ``decline`` is minus the slope of the function at the start.  The next length is the
        lowest point of the parabola through the start and the last trial.
        """
        length, dual = (min(1.0, self.step_share * end) for end in self.moves.lengths)
        origin = self._position()
        merit = self._merit_after(0.0)
        for _ in range(NEWTON.max_trials):
            self._go(origin, step, length)
            self._look()
            rise = self._merit_after(length) - merit
            # Scores beyond floating point may make the risk anything, even minus infinity.
            rise = rise if np.isfinite(rise) else np.inf
            if rise <= MERIT_ROUNDING * abs(merit):
                self.moves.advance(length, dual)
                return True
            lowest = decline * length / (2 * (rise + decline * length))
            length *= min(max(lowest, NEWTON.shortest_cut), NEWTON.longest_cut)
        self._return_to(origin)
        self._look()
        return False

    def _position(self) -> Any:
        return self.coef, self.lam

    def _return_to(self, origin: Any) -> None:
        """Undo a step; a step of length 0 would not do if the step is not finite."""
        self.coef, self.lam = origin

    def _go(self, origin: Any, step: Any, length: float) -> None:
        """Move to the point at this length along a step."""
        coef, lam = origin
        self.coef = coef + length * step[:-1].reshape(coef.shape)
        self.lam = lam + length * float(step[-1])

    def _merit_after(self, length: float) -> float:
        """The barrier function here, after a step ``length`` of the cone."""
        barrier = self.moves.barrier_after(length)
        return float(self.radius * self.lam + self.now.merit + self.centre * barrier)
