"""What all interior points share: the centre of a step, its length, and when to give up."""

from __future__ import annotations

import cython

from wdrsvm.solvers.cones.settings import CONES

from ...runtime.kernel_names import Count, Flag, Real, kernel

LONGER = cython.declare(Real, CONES.longer)
STEP_SHARE = cython.declare(Real, CONES.step_share)
LAST_SHARE = cython.declare(Real, CONES.last_share)
STEEP = cython.declare(Real, CONES.steep)
SHORT_STEP = cython.declare(Real, CONES.short_step)
# The reach of a step that is whole in primal and dual variables.
WHOLE = cython.declare(Real, 2.0)
MAX_SHORT_STEPS = cython.declare(Count, CONES.max_short_steps)
# Complementarity below this is rounding, for an objective of order one.
NOTHING = cython.declare(Real, 1e-17)


@cython.cclass
class StepRules:
    """The rules of Mehrotra's method; counts the short steps in sequence.

    ``step_share`` is the share of the way to the boundary that the next step goes.
    """

    n_short_steps: Count
    step_share: Real

    @kernel
    def central(self, now: Real, after: Real, degree: Real) -> Real:
        """The centre to aim at, where a step to zero complementarity leads to ``after``.

        Mehrotra takes the third power of the share.  The fourth needs fewer iterations
        here, because the correctors centre as well.
        """
        share: Real = min(after / now, 1.0)
        self.step_share = LAST_SHARE if share < STEEP else STEP_SHARE
        return share * share * share * share * now / degree

    @kernel
    def longer(self, longest: Real) -> Real:
        """The length that the corrector towards the centre tries to reach (Gondzio)."""
        return min(1.0, (1 + LONGER) * (longest + LONGER))

    @kernel
    def reach(self, primal: Real, dual: Real) -> Real:
        """How far a step with these largest lengths goes; at most ``WHOLE``."""
        return min(1.0, primal) + min(1.0, dual)

    @kernel
    def is_whole(self, reach: Real) -> Flag:
        """Whether a step goes all the way, so that no correction lengthens it."""
        return reach >= WHOLE

    @kernel
    def is_worth(self, reach: Real, before: Real) -> Flag:
        """Whether a corrected step goes so much farther that it is taken."""
        return reach >= before + LONGER / 8

    @kernel
    def length(self, longest: Real) -> Real:
        """The length of a step whose largest length is ``longest``: the whole, if the
        boundary is not very near."""
        return 1.0 if LAST_SHARE * longest >= 1.0 else self.step_share * longest

    @kernel
    def count(self, primal: Real, dual: Real) -> None:
        """Take note of a step of these lengths."""
        short: Flag = min(primal, dual) < SHORT_STEP
        self.n_short_steps = self.n_short_steps + 1 if short else 0

    @kernel
    def give_up(self) -> None:
        self.n_short_steps = MAX_SHORT_STEPS

    @kernel
    def stuck(self, gap: Real) -> Flag:
        """Whether rounding prevents progress: short steps in sequence, or a gap that is
        only rounding."""
        return self.n_short_steps >= MAX_SHORT_STEPS or gap <= NOTHING
