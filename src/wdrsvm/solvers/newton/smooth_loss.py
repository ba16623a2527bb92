r"""Newton's method for the smooth losses of the family.

Above temperature 0 the losses themselves are smooth.  Two kinds of kinks remain.  The norm
keeps its primal-dual cone.  The maximum over the labels that the adversary may give is
smoothed by mu, with a softmax if there are many rows, with a barrier if there are few
(``native.label_maximum``).  Without label flips nothing is smoothed.  Each round

1. makes mu smaller, and the complementarity of the cone.  While mu is above the
   temperature, mu replaces the temperature, so that a low temperature is reached slowly;
2. takes damped Newton steps until the decrease that they promise is small compared to the
   gap that mu leaves.  Early rounds use a sample of the rows.  The curvature is summed over
   all rows with several likely labels, and over a bounded number of other rows;
3. if the expected gap is the requested one, takes steps with the curvature of all rows and
   computes a certificate.  Its multipliers are the tangents at the scores.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Floats
from ...problem import RobustProblem
from ...problem.certificate.gap import allowed_gap
from ..result import SolverResult, SolverSettings, Start
from ..scaling import Scaling
from .hinge import Rounds
from .settings import NEWTON
from .smoothed_risk import SmoothedLabelRisk, SmoothedRisk
from .steps import NewtonSteps


class SmoothSteps(NewtonSteps):
    """Steps on a smooth loss, which settle to a share of what mu leaves of the gap."""

    with_all_rows = False

    @property
    def resolution(self) -> float:
        """The order of the gap that mu leaves."""
        return self.mu**2

    @property
    def is_tied(self) -> bool:
        """False: rows of a smooth loss have curvature everywhere, not only at ties."""
        return False

    def settle(self, max_iter: int, share: float = NEWTON.smooth_settled) -> None:
        """Step until the next one would promise a share of the gap, or a step fails."""
        self.with_all_rows = share < NEWTON.smooth_settled
        before = np.inf
        for _ in range(NEWTON.max_steps_per_round):
            if self.n_iter >= max_iter:
                break
            self.n_iter += 1
            promise = self._step()
            at_rounding = before / 2 < promise < NEWTON.smooth_settled * self.resolution
            left = foreseen_promise(before, promise)
            if at_rounding or not left > share * self.resolution:
                break
            before = promise


def foreseen_promise(before: float, promise: float) -> float:
    """An estimate of what the next step will promise.

    Near the minimum steps converge quadratically, and a promise is a square: the next one
    is k p^2, with the k of the last two.  Far from it, or after the first step, the next
    promise may be as large as this one.
    """
    shrunk = promise / before
    return promise * shrunk**2 if 0 < shrunk < NEWTON.quadratic else promise


class LabelNewtonSteps(SmoothSteps):
    """The state of the method and its steps."""

    smoothed: SmoothedLabelRisk
    # Shorter steps than for hinge losses, because the labels have kinks, too.
    step_share = NEWTON.smooth_step_share

    def __init__(self, smoothed: SmoothedLabelRisk, rng: np.random.Generator):
        super().__init__(smoothed, rng)
        self.foreseen_gap = np.inf
        self.centre = self._share_of_gap()
        touchable = self.coef[:, : smoothed.scaling.n_touchable]
        self.cone.place(touchable, self.lam, self.centre)

    @property
    def resolution(self) -> float:
        """The order of the gap that mu leaves.

        Softmax weights fall exponentially, so that they change only rows within mu of a
        tie.  A barrier changes all rows.
        """
        return self.mu if self.smoothed.is_barrier else self.mu**2

    @property
    def expected_gap(self) -> float:
        """What is left of the gap, once the steps have settled."""
        if self.smoothed.is_barrier:
            n_labels = len(self.coef) if self.smoothed.has_flips else 0
            return self.mu * (1.0 + n_labels)
        # Before the steps have settled, the measured gap is noisy and often too large.
        return max(min(self.gap, self.foreseen_gap), self.resolution)

    @property
    def is_sharp(self) -> bool:
        return self.mu < NEWTON.last_barrier_mu

    def _share_of_gap(self) -> float:
        return float(self.resolution / max(self.cone.degree, 1))

    def sharpen(self, smoothed: SmoothedRisk) -> None:
        """Start the next round: smaller mu and centre, perhaps more rows."""
        assert isinstance(smoothed, SmoothedLabelRisk)
        if smoothed.is_barrier and not self.smoothed.is_barrier:
            self.mu = self.expected_gap / (1.0 + len(self.coef))
        self.smoothed = smoothed
        self.foreseen_gap = NEWTON.foreseen_factor * self.expected_gap
        factor = NEWTON.barrier_factor if smoothed.is_barrier else NEWTON.softmax_factor
        if self.mu > smoothed.problem.loss.temperature:
            factor = max(factor, NEWTON.cooling_factor)
        self.mu *= factor
        self.centre = self._share_of_gap()
        self._look()

    def _curvature(self) -> Floats:
        few = self._n_soft <= 2 * self.max_curvature_rows
        if few or self.with_all_rows:
            return self._curvature_of(1.0)
        return super()._curvature()


def label_newton(
    problem: RobustProblem, settings: SolverSettings, start: Start | None = None
) -> SolverResult:
    """Train to the requested gap; ``start`` replaces the origin as the first point."""
    problem = problem.without_idle_rows()
    with problem.reduction() as reduction:
        smoothed = SmoothedLabelRisk.over(problem, Scaling.of(problem), reduction)
        return LabelRounds(problem, smoothed, settings).solve(start)


class LabelRounds(Rounds):
    """The rounds of the method; mu may become arbitrarily small, without a polish."""

    smoothed: SmoothedLabelRisk
    newton = LabelNewtonSteps
    well_settled = NEWTON.smooth_well_settled

    def __init__(
        self, problem: RobustProblem, smoothed: SmoothedLabelRisk, settings: SolverSettings
    ):
        size = problem.n_classes * smoothed.scaling.n_columns
        many = problem.n_rows >= NEWTON.softmax_rows_per_coefficient * size
        is_barrier = not (many and smoothed.has_flips)
        super().__init__(problem, smoothed.with_barrier(is_barrier), settings)

    def _promising(self, newton: NewtonSteps) -> bool:
        assert isinstance(newton, LabelNewtonSteps)
        if newton.mu < NEWTON.last_softmax_mu and not self.smoothed.is_barrier:
            self.smoothed = self.smoothed.with_barrier(True)
            return False
        wanted = allowed_gap(self.settings.tol, newton.risk)
        return newton.expected_gap <= NEWTON.smooth_hope * wanted

    def _finish(self, newton: NewtonSteps) -> int:
        self._certify(newton)
        return 0
