"""Which starts bring multipliers that the first-order method can go on with.

A classifier without its multipliers does not help the method: the first epoch moves away
from it.  With them a path of radii needs fewer epochs.
"""

from __future__ import annotations

from typing import TypeAlias

from ...problem import Multipliers, RobustProblem
from ...problem.certificate.trusted_masses import TrustedMasses
from ...problem.norms import TRIANGLE
from ..result import Start

# Under the other norms a start has saved no epochs.
RESUMED_NORMS = ("l2", TRIANGLE)


KnownMasses: TypeAlias = Multipliers | TrustedMasses


def resumable(problem: RobustProblem, start: Start | None) -> KnownMasses | None:
    """The multipliers of a start, if they are masses on the pieces of these rows."""
    known = None if start is None else start.multipliers
    if not isinstance(known, KnownMasses) or problem.loss.temperature > 0:
        return None
    if isinstance(known, TrustedMasses) and not problem.trusts_labels:
        return None
    shape = problem.n_rows, problem.n_classes
    fits = known.alpha.shape == shape and problem.norm in RESUMED_NORMS
    return known if fits else None
