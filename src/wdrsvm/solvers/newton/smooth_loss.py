r"""Newton's method for the smooth losses of the family.

Above temperature 0 the losses themselves are smooth.  Kinks are left at the norm, which
keeps its primal-dual cone, and where the adversary is of two minds about a label: there
the maximum is smoothed by mu, with a softmax while rows are many, with a barrier where
they are few (``native.smooth_loss_rows``).  Where labels cannot be flipped nothing is
smoothed at all.  The rounds

1. cut mu, and the cone's complementarity with the gap that mu leaves; while mu is above
   the temperature it takes its place, which leads gently to low temperatures;
2. take damped Newton steps until their promise is small beside that gap, early ones on a
   sample of the rows; curvature is summed over all rows that are torn between labels and
   a bounded number of the others;
3. when the gap left is the one asked for, settle with the curvature of all rows and ask
   the certificate, whose multipliers are the tangents at the scores.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Floats
from ...problem import RobustProblem
from ...problem.certificate.gap import allowed_gap
from ..result import SolverResult, SolverSettings, Start
from ..scaling import Scaling
from .hinge import Rounds
from .smoothed_risk import LabelPasses, Passes
from .steps import Newton

BARRIER_FACTOR = 0.1
SOFTMAX_FACTOR = 0.4
# What a round of the softmax leaves of the gap at most; its square mostly.
FORESEEN = SOFTMAX_FACTOR
# A temperature must not fall faster than this.
COOLING_FACTOR = 0.3
# With fewer rows a coefficient, or below this mu, ties are too few for a softmax.
SOFTMAX_ROWS_A_COEFFICIENT = 40
LAST_SOFTMAX_MU = 1e-4
LAST_MU = 1e-16
# Steps have settled when they promise this share of what mu leaves of the gap.
SETTLED = 0.01
WELL_SETTLED = 1e-14
# Asking the certificate in vain costs more than a round: not before the gap expected is
# this share of the one asked for.
HOPEFUL = 0.5
MAX_STEPS_A_ROUND = 50


class LabelNewton(Newton):
    """The state of the method and its steps."""

    passes: LabelPasses
    # Shorter than to a kink-free boundary: between labels the cone is not all there is.
    step_share = 0.9

    def __init__(self, passes: LabelPasses, rng: np.random.Generator):
        super().__init__(passes, rng)
        self.with_all_rows = False
        self.foreseen_gap = np.inf
        self.centre = self._share_of_gap()
        touchable = self.coef[:, : passes.scaling.n_touchable]
        self.cone.place(touchable, self.lam, self.centre)

    @property
    def resolution(self) -> float:
        """The order of the gap that mu leaves: softmax weights fall off exponentially,
        so that only rows within mu of a tie feel them, those of a barrier do not."""
        return self.mu if self.passes.is_barrier else self.mu**2

    @property
    def expected_gap(self) -> float:
        """What is left of the gap, once the steps have settled."""
        if self.passes.is_barrier:
            n_labels = len(self.coef) if self.passes.has_flips else 0
            return self.mu * (1.0 + n_labels)
        # Of steps that have not quite settled the gap is noise, and often too large.
        return max(min(self.gap, self.foreseen_gap), self.resolution)

    @property
    def is_tied(self) -> bool:
        """Rows of a smooth loss are soft everywhere: it says nothing of ties."""
        return False

    @property
    def is_sharp(self) -> bool:
        return self.mu < LAST_MU

    def _share_of_gap(self) -> float:
        return float(self.resolution / max(self.cone.degree, 1))

    def sharpen(self, passes: Passes) -> None:
        """Start the next round: smaller mu and centre, perhaps more rows."""
        assert isinstance(passes, LabelPasses)
        if passes.is_barrier and not self.passes.is_barrier:
            self.mu = self.expected_gap / (1.0 + len(self.coef))
        self.passes = passes
        self.foreseen_gap = FORESEEN * self.expected_gap
        factor = BARRIER_FACTOR if passes.is_barrier else SOFTMAX_FACTOR
        if self.mu > passes.problem.loss.temperature:
            factor = max(factor, COOLING_FACTOR)
        self.mu *= factor
        self.centre = self._share_of_gap()
        self._look()

    def settle(self, max_iter: int, share: float = SETTLED) -> None:
        """Newton steps until they promise only a share of the gap, or lead nowhere."""
        self.with_all_rows = share < SETTLED
        before = np.inf
        for _ in range(MAX_STEPS_A_ROUND):
            if self.n_iter >= max_iter:
                break
            self.n_iter += 1
            promise = self._step()
            at_rounding = before / 2 < promise < SETTLED * self.resolution
            if at_rounding or not promise > share * self.resolution:
                break
            before = promise

    def _curvature(self) -> Floats:
        few = self._n_soft <= 2 * self.max_curvature_rows
        if few or self.with_all_rows:
            return self._curvature_of(1.0)
        return super()._curvature()


def label_newton(
    problem: RobustProblem, settings: SolverSettings, start: Start | None = None
) -> SolverResult:
    """Train to the gap asked for; ``start`` replaces the origin as the first point."""
    problem = problem.without_idle_rows()
    with problem.reduction() as reduction:
        passes = LabelPasses.over(problem, Scaling.of(problem), reduction)
        return LabelRounds(problem, passes, settings).solve(start)


class LabelRounds(Rounds):
    """The rounds of the method; there is no polish, because mu may fall to nothing."""

    passes: LabelPasses
    newton = LabelNewton
    # A promise is a square: this settles multipliers to about its root.
    well_settled = WELL_SETTLED

    def __init__(
        self, problem: RobustProblem, passes: LabelPasses, settings: SolverSettings
    ):
        size = problem.n_classes * passes.scaling.n_columns
        many = problem.n_rows >= SOFTMAX_ROWS_A_COEFFICIENT * size
        is_barrier = not (many and passes.has_flips)
        super().__init__(problem, passes.with_barrier(is_barrier), settings)

    def _promising(self, newton: Newton) -> bool:
        assert isinstance(newton, LabelNewton)
        if newton.mu < LAST_SOFTMAX_MU and not self.passes.is_barrier:
            self.passes = self.passes.with_barrier(True)
            return False
        wanted = allowed_gap(self.settings.tol, newton.risk)
        return newton.expected_gap <= HOPEFUL * wanted

    def _finish(self, newton: Newton) -> int:
        self._judge(newton)
        return 0
