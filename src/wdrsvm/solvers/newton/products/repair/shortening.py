r"""Coefficients close to the point of a descent whose longest differences are shorter.

Where the smoothed risk is least, a few differences are longer than the smoothed diameter.
To shorten them costs a little loss, and gains what the radius has to pay for their length.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .....arrays import Floats
from ..curvature.preconditioner import Preconditioner, into_basis
from ..settings import PRODUCTS
from .pair_forces import balanced

if TYPE_CHECKING:
    from ..steps import Descent


def repaired(descent: Descent, tol: float, enough: float) -> Floats:
    """The coefficients with the longest differences shortened.

    If forces are known that hold the classes together, they are balanced before, unless the
    risk is likely to be ``enough`` without that.
    """
    if not descent.knows_forces:
        return _shortened(descent, descent.coef, descent.lam, tol)
    if _is_nearly(enough, descent.risk, descent, PRODUCTS.most_excess):
        coef = _shortened(descent, descent.coef, descent.lam, tol)
        risk = _foreseen_risk(descent, coef)
        if _is_nearly(enough, risk, descent, PRODUCTS.safe_excess):
            return coef
    return _shortened(descent, *_balanced(descent, tol), tol)


def _is_nearly(enough: float, risk: float, descent: Descent, share: float) -> bool:
    """Whether a risk is above the smoothed one by at most this share of what it may be."""
    return risk - descent.smooth_risk <= share * (enough - descent.smooth_risk)


def _shortened(descent: Descent, coef: Floats, length: float, tol: float) -> Floats:
    """No two classes farther apart than about this length."""
    found, n = coef.copy(), descent.n_touchable
    rtol = PRODUCTS.repair_share * tol
    found[:, :n] = descent.diameter.repaired(coef[:, :n], length, rtol)
    return found


def _foreseen_risk(descent: Descent, coef: Floats) -> float:
    """About the true risk of other coefficients: the curvature tells their loss."""
    curvature, step = descent.curvature, coef - descent.coef
    turned = into_basis(step, curvature.basis)
    rise = float(np.vdot(descent.sums.gradient, step))
    rise += 0.5 * float(np.vdot(turned, curvature.times(turned)))
    return descent.sums.loss + rise + descent.radius * descent.smoothed_at(coef).largest


def _balanced(descent: Descent, tol: float) -> tuple[Floats, float]:
    """Where a model of the loss with the true norm is least, and the norm's length.

    Pairs that are too long are shortened where that costs the least loss.
    """
    assert isinstance(descent.precondition, Preconditioner)
    forces = descent.smoothed.slopes * descent.smoothed.lengths
    point = descent.coef, descent.sums.gradient, descent.n_touchable, descent.radius
    rtol = PRODUCTS.balance_share * tol
    return balanced(descent.precondition, *point, forces, rtol)
