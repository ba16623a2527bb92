r"""Steps that need no pass over the rows: a quadratic model of the loss, the true norm.

Where the preconditioner is good, a few steps tell nearly all of the loss, and the rest of
the work is the norm's: which pairs of classes are the longest.  There the loss around a
point M is taken as

    loss + <G, S> + <S, B S> / 2,    S = M' - M,

with B the curvature of the classes, corrected by the last steps and by how the loss's
gradient changed along them (BFGS).  Its sum with the smoothed diameter is minimised in the
basis in which the curvature of each class is a diagonal plus rank one.  With many
coefficients, steps on the model are made in the numbers of the design: what they gain is
measured by a pass over the rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ....arrays import Floats
from ....problem.certificate.gap import allowed_gap
from ...scaling import Scaling
from .curvature.preconditioner import ClassCurvature, into_basis, out_of_basis
from .design import At, LossSums
from .diameter import PairDiameter
from .quasi_newton import add_multiple
from .settings import PRODUCTS
from .steps import Descent

Pair = tuple[Floats, Floats]


@dataclass(eq=False)
class LossModel:
    """The model at ``point`` (C, Q) with the ``sums`` of the loss there, in the basis."""

    scaling: Scaling
    class_curvature: ClassCurvature
    point: Floats
    sums: LossSums
    corrections: list[Pair] = field(default_factory=list)
    kind: Any = np.float64
    keeps_scores: ClassVar[bool] = False

    @classmethod
    def at(cls, descent: Descent, pairs: Iterable[Pair]) -> LossModel:
        """``pairs``: steps and changes of the loss's gradient, in the solver's columns."""
        basis, kind = descent.curvature.basis, descent.design.kind
        if descent.coef.size < PRODUCTS.least_single_coefficients:
            kind = np.float64

        def turned(rows: Floats) -> Floats:
            return into_basis(rows, basis).astype(kind, copy=False)

        sums = LossSums(descent.sums.loss, turned(descent.sums.gradient))
        curvature, point = descent.curvature.of_kind(kind), turned(descent.coef)
        model = cls(descent.design.scaling, curvature, point, sums, kind=kind)
        for step, change in pairs:
            model._correct(turned(step), turned(change))
        return model

    def _correct(self, step: Floats, change: Floats) -> None:
        """Let the curvature along the step be the one seen."""
        image, seen = self._times(step), float(np.vdot(step, change))
        expected = float(np.vdot(step, image))
        least = PRODUCTS.least_cosine * np.linalg.norm(step) * np.linalg.norm(change)
        if seen > least and expected > 0:
            roots = map(self.kind, (expected**0.5, seen**0.5))
            scaled = (
                line / root for line, root in zip((image, change), roots, strict=True)
            )
            self.corrections.append(tuple(scaled))

    def _times(self, step: Floats) -> Floats:
        image = self.class_curvature.times(step)
        for removed, added in self.corrections:
            add_multiple(added, image, float(np.vdot(added, step)))
            add_multiple(removed, image, -float(np.vdot(removed, step)))
        return image

    def evaluate(self, at: At) -> LossSums:
        """The model and its gradient at other coefficients."""
        step = at.coef - self.point
        image, gradient = self._times(step), self.sums.gradient
        loss = self.sums.loss + float(np.vdot(gradient, step))
        loss += 0.5 * float(np.vdot(image, step))
        image += gradient
        return LossSums(loss, image)


class ModelDescent(Descent):
    """Steps on the model with the smoothed diameter."""

    design: LossModel  # type: ignore[assignment]

    def rebuild(self) -> None:
        self.curvature = self.design.class_curvature
        stiffness = self.radius * self.smoothed.stiffness
        self.precondition = self.curvature.inverse(stiffness, self.design.kind)

    @property
    def has_settled(self) -> bool:
        return self.settles(PRODUCTS.patience, PRODUCTS.model_settled)

    def run(self) -> None:
        """Until what is left to gain is small beside what it was, or beside the gap asked
        for."""
        first = None
        while self.n_iter < PRODUCTS.model_steps and not self.is_stuck:
            is_moving = self.step()
            if self.has_settled or not is_moving:
                left = self.promise + self.radius * self.spread
                self.sharpen()
                first = left if first is None else first
                enough = PRODUCTS.model_gap_share * allowed_gap(self.tol, self.risk)
                if left < max(PRODUCTS.model_share * first, enough):
                    break


def model_step(descent: Descent) -> bool:
    """Move to where the model is least; False if the loss did not follow the model."""
    assert isinstance(descent.diameter, PairDiameter)
    model = LossModel.at(descent, descent.pairs)
    inner = ModelDescent(
        model,  # type: ignore[arg-type]
        descent.diameter,
        descent.radius,
        model.point,
        tol=descent.tol,
    )
    inner.run()
    # Only the difference from the point may have lost digits to single precision.
    step = out_of_basis(inner.coef - model.point, model.class_curvature.basis)
    return descent.jump(descent.coef + step, inner.diameter, inner.smooth_risk)
