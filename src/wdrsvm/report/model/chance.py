r"""How much two classifiers may differ by chance on the same rows.

Their errors are compared row by row.  The worst-case error at the radius eps is

    lam eps + mean over rows of max(0, 1 - lam c_n)

at the lam that makes it least, with c_n the cost of making row n wrong.  For many rows its
chance is that of the mean at this lam.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...arrays import Flags, Floats
from ...robustness.promises.errors.curve_points import expected_losses, slope_at
from ...robustness.promises.errors.error_curve import ErrorCurve


class RowErrors(NamedTuple):
    """What each row counts: as it is, and in the worst case; both (N,)."""

    now: Floats
    moved: Floats

    @classmethod
    def of(cls, wrong: Flags, cost: Floats, curve: ErrorCurve) -> RowErrors:
        """``cost`` (N,) is what making each row wrong costs."""
        if curve.radius == 0:
            return cls(wrong.astype(float), (cost == 0).astype(float))
        lam = slope_at(curve.radii, curve.errors, curve.radius)
        return cls(wrong.astype(float), expected_losses(cost, lam))


def standard_errors(one: RowErrors, other: RowErrors) -> tuple[float, float]:
    """Standard errors of the differences of two classifiers; inf for a single row."""
    return _standard_error(one.now - other.now), _standard_error(one.moved - other.moved)


def _standard_error(differences: Any) -> float:
    n_rows = len(differences)
    return float(differences.std(ddof=1)) / n_rows**0.5 if n_rows > 1 else np.inf
