r"""The certified bound of the first-order method, without a dense (C P)-sized object.

The same mathematics as ``problem.certificate``, in the same order: rows, equalities,
budget.  The equalities sum_n g_n f_n' = 0 on the free columns f are restored by tilting,

    alpha_nj <- alpha_nj (1 + u_nj - mean of u_n under alpha_n),    u_n = S' f_n

(beta alike), where S (E, C) solves a linear system by conjugate gradients, matrix-free;
clipped where it would turn negative, and repeated.  sigma(G) is the norm's own affair.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...arrays import Codes, Floats
from ...problem import Multipliers, RobustProblem
from ...problem.certificate.bound import balanced_sums
from ...problem.certificate.equalities import EQUALITY_ROUNDING
from ...problem.certificate.settings import CERTIFICATE
from ...problem.certificate.smooth import Tangents
from .kernels import add_curvature, add_response, add_slopes, tilt
from .layout import Layout
from .rows import Design, Duals, Rows
from .settings import FIRST_ORDER


class Feasible(NamedTuple):
    """Row-feasible multipliers that meet the equalities, and their sums.

    Tangents of a smooth loss are those before they were tilted to meet them.
    """

    duals: Duals | Tangents
    gradient: Floats
    on_flips: float
    value: float

    def bound(self, problem: RobustProblem, polar: float) -> float:
        """The bound after scaling into the budget."""
        spent = polar + self.on_flips
        share = 1.0 if spent <= problem.radius else problem.radius / spent
        return share * self.value

    def multipliers(self, flow: Floats | None) -> Multipliers | Tangents:
        if isinstance(self.duals, Tangents):
            return replace(self.duals, flow=flow)
        alpha, phi, beta = self.duals
        if len(phi) == 0:
            phi = beta = np.broadcast_to(0.0, alpha.shape)
        return Multipliers(alpha, phi, beta, flow)


def feasible(
    problem: RobustProblem, rows: Rows, layout: Layout, duals: Duals
) -> Feasible | None:
    """Feasible multipliers near ``duals``; None if the equalities are out of reach."""
    if problem.loss.temperature > 0:
        return feasible_tangents(problem, layout, duals)
    return feasible_pieces(rows, layout, duals)


def feasible_tangents(
    problem: RobustProblem, layout: Layout, duals: Duals
) -> Feasible | None:
    """Tangents are tilted by the certificate itself, which is dense in the free columns."""
    tangents = Tangents(problem.loss, duals.alpha, duals.phi)
    sums = balanced_sums(problem, tangents)
    if sums is None:
        return None
    gradient = (sums.gradient[:, layout.touchable] * layout.touch_scale).T
    return Feasible(tangents, np.ascontiguousarray(gradient), sums.on_flips, sums.value)


def feasible_pieces(rows: Rows, layout: Layout, duals: Duals) -> Feasible | None:
    """Masses on Crammer-Singer pieces are tilted without a dense system."""
    bound_to_free = layout.free.shape[1] > 0
    trace = CERTIFICATE.loosening if bound_to_free else 0.0
    alpha, phi, beta = _restored(rows, duals, trace)
    if bound_to_free and not balance(rows.free, rows.y, alpha, phi, beta):
        return None
    slopes = _slopes(rows, alpha, phi, beta)
    zero_piece = alpha[np.arange(len(alpha)), rows.y]
    return Feasible(
        duals=Duals(alpha, phi, beta),
        gradient=np.asarray(layout.touch.T @ slopes),
        on_flips=spending(rows, phi),
        # Not w - alpha_y: mass that got lost belongs to the zero piece.
        value=float(alpha.sum() + phi.sum() - zero_piece.sum()),
    )


def spending(rows: Rows, phi: Floats) -> float:
    """sum k phi."""
    if len(rows.cost) == 0:
        return 0.0
    return float((np.where(np.isfinite(rows.cost), rows.cost, 0.0) * phi).sum())


def _slopes(rows: Rows, alpha: Floats, phi: Floats, beta: Floats) -> Floats:
    slopes = alpha.copy()
    slopes[np.arange(len(alpha)), rows.y] -= alpha.sum(axis=1)
    if len(phi):
        slopes += beta - phi
    return slopes


def _restored(rows: Rows, duals: Duals, trace: float) -> Duals:
    """Copies with row sums that rounding has not touched, and ``trace`` everywhere.

    Tilting cannot move what is zero.
    """
    loose = trace / duals.alpha.shape[1] * rows.weight[:, None]
    alpha, phi = duals.alpha + loose, duals.phi.copy()
    beta = duals.beta + loose if len(phi) else duals.beta
    total = alpha.sum(axis=1)
    if len(phi):
        total += phi.sum(axis=1)
    share = np.divide(rows.weight, total, out=np.zeros_like(total), where=total > 0)
    alpha *= share[:, None]
    if len(phi):
        phi *= share[:, None]
        winners, flipped = beta.sum(axis=1), phi.sum(axis=1)
        lost = winners <= 0
        beta[lost] = phi[lost]
        winners[lost] = flipped[lost]
        beta *= np.divide(flipped, winners, out=np.zeros_like(total), where=winners > 0)[
            :, None
        ]
    return Duals(alpha, phi, beta)


def balance(free: Design, y: Codes, alpha: Floats, phi: Floats, beta: Floats) -> bool:
    """Tilt alpha and beta in place until sum_n g_n f_n' = 0; whether that was reached."""
    n_columns = int(free.indices.max(initial=-1)) + 1
    shape, design = (n_columns, alpha.shape[1]), free.record
    for _ in range(CERTIFICATE.max_tilts):
        residual = np.zeros(shape)
        add_slopes(design, y, alpha, phi, beta, residual)
        if np.abs(residual).max(initial=0.0) <= EQUALITY_ROUNDING:
            return True
        potential = _solve(design, alpha, beta, residual)
        tilt(design, alpha, potential)
        tilt(design, beta, potential)
    return False


def _solve(free: Any, alpha: Floats, beta: Floats, residual: Floats) -> Floats:
    """S with  sum_n curvature_n (S' f_n) f_n' = -residual, by conjugate gradients."""
    scale = np.zeros_like(residual)
    add_curvature(free, alpha, scale)
    add_curvature(free, beta, scale)
    inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    potential = np.zeros_like(residual)
    rest = -residual
    search = conditioned = inverse * rest
    fall = float((rest * conditioned).sum())
    goal = FIRST_ORDER.cg_tol**2 * fall
    for _ in range(FIRST_ORDER.max_cg_steps):
        image = np.zeros_like(residual)
        add_response(free, alpha, search, image)
        add_response(free, beta, search, image)
        bend = float((search * image).sum())
        if not bend > 0 or not fall > goal:
            break
        potential += fall / bend * search
        rest -= fall / bend * image
        conditioned = inverse * rest
        fall, before = float((rest * conditioned).sum()), fall
        search = conditioned + fall / before * search
    return potential
