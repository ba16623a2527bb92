r"""Newton steps on the smoothed risk of a bounded ball.

The variables are coef, lam, and the own variables u_k of each pair (``BoundedLayout``),
whose constraints keep a primal-dual cone.  The constraints of u_k are far stiffer than the
rows, more so from round to round.  Therefore a step moves u_k as the constraints alone ask
for,

    d u_k = Theta_k (d a, d lam) + t_k r_k,

where Theta_k keeps the constraints' Lagrangian stationary, r_k is the step that makes it
stationary, and t_k is a length.  The step is the best one of this form in the Newton model
of rows and constraints, hence a descent direction.  Its system has the size of the
unbounded ball's, plus the lengths t_k.

With a smooth loss and few rows near a tie of labels these steps become short.  Then, if
there are few variables, a step is the whole Newton step, in which the u_k are free.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ....arrays import Floats
from ...cones.kernels import native
from ...interior_point.bounded.gauges import hold_gauges
from ...interior_point.bounded.layout import BoundedLayout, add_local
from ...result import Start
from ..settings import NEWTON
from ..smooth_loss import SmoothSteps
from ..steps import NewtonSteps
from .pair_smoothing import PairFrames
from .smoothed_risk import BoundedSmoothedRisk


class PairStep(NamedTuple):
    """A direction in coef (C, Q), lam and own (K, A)."""

    coef: Floats
    lam: float
    own: Floats


class PairCone:
    """The constraints of all pairs, as one cone: linear sides, and cones with l2."""

    def __init__(self, layout: BoundedLayout, local: Floats, centre: float):
        self.layout = layout
        sides = -local @ layout.sides.T
        self.families: list[Any] = [native.LinearRows(sides, centre / sides)]
        if len(layout.cone):
            self.families.append(native.ConicRows(local @ layout.cone.T, centre))
        self.moves = [native.Moves(family) for family in self.families]
        self.degree = sum(family.degree for family in self.families)

    def mults(self) -> list[Floats]:
        """The multipliers of each family, one line per pair."""
        n_pairs = self.layout.n_pairs
        return [family.rows()[1].reshape(n_pairs, -1) for family in self.families]

    def aim(self, centre: float) -> Floats:
        """Aim at a centre; the pull (K, V) of the multipliers that reach it."""
        for moves in self.moves:
            moves.prepare()
            moves.aim(centre)
        sides, *cones = (
            moves.targets().reshape(self.layout.n_pairs, -1) for moves in self.moves
        )
        pull = sides @ self.layout.sides
        return np.asarray(pull - cones[0] @ self.layout.cone if cones else pull)

    def stiffness(self) -> Floats:
        """The curvature of the constraints, (K, V, V)."""
        lay = self.layout
        slack, mult = self.families[0].rows()
        spring = (mult / slack).reshape(lay.n_pairs, -1)
        stiff = lay.sides.T @ (spring[:, :, None] * lay.sides)
        if len(lay.cone):
            stiff = stiff + lay.cone.T @ self.families[1].stiffness() @ lay.cone
        return np.asarray(stiff)

    def find_step(self, local: Floats) -> None:
        """Find the steps of slacks and multipliers for a change of v (K, V)."""
        changes = [-local @ self.layout.sides.T, local @ self.layout.cone.T]
        for moves, change in zip(self.moves, changes, strict=False):
            moves.find_given_step(change)

    @property
    def lengths(self) -> tuple[float, float]:
        primal, dual = np.min([moves.lengths for moves in self.moves], axis=0)
        return float(primal), float(dual)

    def barrier_after(self, length: float) -> float:
        return float(sum(moves.barrier_after(length) for moves in self.moves))

    def advance(self, primal: float, dual: float) -> None:
        for moves in self.moves:
            moves.advance(primal, dual)


class BoundedNewton(NewtonSteps):
    """The state of the method and its steps."""

    smoothed: Any
    now: Any
    # Whether a step moves all own variables freely.
    is_whole = False

    def __init__(self, smoothed: BoundedSmoothedRisk, rng: np.random.Generator):
        lay, problem = smoothed.layout, smoothed.problem
        self.smoothed, self.rng, self.layout = smoothed, rng, lay
        self.radius, self.centre = problem.radius, NEWTON.first_centre
        self.coef = np.zeros((problem.n_classes, lay.n_shared))
        self.lam = float(lay.start[lay.columns["lam"]][0])
        self.own = np.tile(lay.start[lay.columns["lam"].stop :], (lay.n_pairs, 1))
        self.moves: Any = PairCone(lay, self._local(), self.centre)
        self.mu, self.n_iter = NEWTON.first_mu, 0
        self.max_curvature_rows = NEWTON.rows_per_coefficient * self.coef.size
        self._look()

    def begin_at(self, start: Start) -> None:
        """Move to a given point of the normalised problem, a little inside all sides."""
        lay, slack = self.layout, NEWTON.warm_slack
        if lay.n_shared > start.coef.shape[1]:
            self.coef = np.column_stack([start.coef, start.intercept])
        else:
            self.coef = start.coef
        lam = max(start.lam, self.smoothed.problem.moves.least_lam(start.coef))
        self.lam, self.mu = lam * (1 + slack) + slack, NEWTON.warm_mu
        self.own = lay.own_inside(self.coef, lam, slack)
        self._look()
        self.centre = self._share_of_gap()
        self.moves = PairCone(lay, self._local(), self.centre)

    @property
    def degree(self) -> int:
        return int(self.moves.degree)

    @property
    def is_sharp(self) -> bool:
        few = self.now.n_soft < NEWTON.bounded_soft_rows_per_coefficient * self.coef.size
        return few or self.mu < NEWTON.last_mu

    def _local(self) -> Floats:
        return self.layout.local(self.coef, self.lam, self.own)

    def _look(self) -> None:
        self.at = self.smoothed.point(self._local(), self.lam, self.mu)
        self.now = self.smoothed.evaluate(self.at)

    def _merit_after(self, length: float) -> float:
        """The barrier function, plus a small price of the own variables.

        Without the price, variables that no row uses would grow without limit.
        """
        return super()._merit_after(length) + self.centre * float(self.own.sum())

    def _position(self) -> Any:
        return self.coef, self.lam, self.own

    def _return_to(self, origin: Any) -> None:
        self.coef, self.lam, self.own = origin

    def _go(self, origin: Any, step: Any, length: float) -> None:
        self.coef, self.lam, self.own = (
            part + length * change for part, change in zip(origin, step, strict=True)
        )

    def _step(self) -> float:
        """A damped Newton step; returns the decrease that it promised, 0 if it failed."""
        with np.errstate(all="ignore"):
            return self._try_step()

    def _try_step(self) -> float:
        lay, first = self.layout, self.layout.columns["lam"].stop
        pull = self.moves.aim(self.centre) + self.now.moments @ lay.lift
        pull[:, first:] += self.centre
        stiff = self.moves.stiffness()
        basis = self._basis(stiff, pull)
        frames = self.smoothed.frames(basis)
        rhs, matrix = self._system(stiff, basis, frames, pull)
        solution = native.NormalSystem(matrix).solve(rhs)
        if not np.isfinite(solution).all():
            # Multipliers that have run away from the centre spoilt the system.
            self.moves = PairCone(lay, self._local(), self.centre)
            return 0.0
        step = self._unfolded(solution, basis, frames)
        self.moves.find_step(lay.local(*step))
        promise = float(rhs @ solution) / 2
        return promise if self._search(step, 2 * promise) else 0.0

    def _basis(self, stiff: Floats, pull: Floats) -> Floats:
        """The directions (K, V, W) of the local variables among which a step is chosen."""
        lay, first = self.layout, self.layout.columns["lam"].stop
        n_own = lay.n_own if self.is_whole else 1
        basis = np.zeros((lay.n_pairs, lay.lift.shape[1], first + n_own))
        basis[:, :first, :first] = np.eye(first)
        if self.is_whole:
            basis[:, first:, first:] = np.eye(n_own)
        else:
            stiff_own = stiff[:, first:, first:]
            basis[:, first:, :first] = -_solved(stiff_own, stiff[:, first:, :first])
            basis[:, first:, first:] = -_solved(stiff_own, pull[:, first:, None])
        return basis

    def _system(
        self, stiff: Floats, basis: Floats, frames: PairFrames, pull: Floats
    ) -> tuple[Floats, Floats]:
        """Right-hand side and matrix in coefficients, lam and the lengths."""
        lay, n = self.layout, self.layout.n_shared
        share = self._curvature_share()
        seed = int(self.rng.integers(2**32)) if share < 1 else 0
        matrix = self.smoothed.curvature(self.at, frames, self.now, share, seed)
        rhs = np.zeros(len(matrix))
        rhs[frames.place_of_lam] = self.now.on_flips - self.radius
        reduced = basis.transpose(0, 2, 1) @ stiff @ basis
        forces = (pull[:, None, :] @ basis)[:, 0]
        for k in range(lay.n_pairs):
            plus, minus, own = frames.places(int(lay.label[k]), int(lay.winner[k]))
            add_local(matrix, reduced[k], plus, minus, own)
            rhs[plus] -= forces[k, :n]
            rhs[minus] += forces[k, :n]
            rhs[own] -= forces[k, n:]
        hold_gauges(matrix, lay, len(self.coef))
        unused = np.diag(matrix) <= 0
        matrix[unused, unused] = 1.0
        return rhs, matrix

    def _curvature_share(self) -> float:
        return min(1.0, self.max_curvature_rows / self._n_soft)

    def _unfolded(self, solution: Floats, basis: Floats, frames: PairFrames) -> PairStep:
        """The step in all variables."""
        size, lay = self.coef.size, self.layout
        coef, lam = solution[:size].reshape(self.coef.shape), float(solution[size])
        n_classes = len(coef)
        lengths = solution[size + 1 :].reshape(n_classes, n_classes, frames.n_own)
        chosen = lay.local(coef, lam, lengths[lay.label, lay.winner])
        own = (basis @ chosen[:, :, None])[:, lay.columns["lam"].stop :, 0]
        return PairStep(coef, lam, own)


class SmoothBoundedNewton(SmoothSteps, BoundedNewton):
    """The same for a smooth loss; only the maximum over labels is smoothed."""

    @property
    def is_sharp(self) -> bool:
        return self.mu < NEWTON.last_bounded_mu

    def settle(self, max_iter: int, share: float = NEWTON.smooth_settled) -> None:
        """Step until the promised decrease is a share of the gap, or a step fails."""
        before = self.n_iter
        super().settle(max_iter, share)
        is_slow = self.n_iter - before > NEWTON.slow_round and self.mu < NEWTON.tied_mu
        n_unknowns = self.coef.size + 1 + len(self.coef) ** 2 * self.layout.n_own
        if is_slow and n_unknowns <= NEWTON.max_whole_unknowns:
            self.is_whole = True

    def sharpen(self, smoothed: Any) -> None:
        """Start the next round; without flips mu smoothes nothing, and may fall fast."""
        smoothing = smoothed.smoothing
        if self.mu <= smoothing.temperature and not smoothing.has_flips:
            self.mu *= NEWTON.barrier_factor / NEWTON.mu_factor
        super().sharpen(smoothed)

    def _curvature_share(self) -> float:
        few = self._n_soft <= 2 * self.max_curvature_rows
        return 1.0 if few or self.with_all_rows else super()._curvature_share()


def _solved(matrix: Floats, rhs: Floats) -> Floats:
    """Solutions of symmetric positive systems, scaled to unit diagonals."""
    scale = 1.0 / np.sqrt(np.einsum("kii->ki", matrix))
    square = matrix * scale[:, :, None] * scale[:, None, :]
    each = np.arange(square.shape[1])
    square[:, each, each] += 1e-14
    return np.asarray(scale[:, :, None] * np.linalg.solve(square, scale[:, :, None] * rhs))
