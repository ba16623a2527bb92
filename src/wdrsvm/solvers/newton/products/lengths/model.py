r"""Steps on the smoothed lengths that need no pass over the rows: a model of the loss.

The model is that of ``..model`` in the solver's own columns, because the linf norm is
another one in a turned basis.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .....arrays import Floats
from ..curvature.preconditioner import Preconditioner
from ..design import At
from ..model import LossModel, Pair
from .descent import LengthDescent
from .settings import LENGTHS


@dataclass(eq=False)
class LengthModel(LossModel):
    """The model in the solver's own columns, and the ``pairs`` by which it is corrected:
    steps and changes of the loss's gradient."""

    pairs: list[Pair] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        descent: LengthDescent,
        pairs: Iterable[Pair],
        known: LengthModel | None = None,
    ) -> LengthModel:
        """What an earlier model has of the same curvature is ``known``: only new pairs take
        a product."""
        told = descent.design.scaling, descent.matrix, descent.coef, descent.sums
        model = cls(*told, kind=descent.design.kind)  # type: ignore[arg-type]
        if known is not None and known.class_curvature is model.class_curvature:
            model.corrections, model.pairs = [*known.corrections], [*known.pairs]
        for pair in pairs:
            if not any(pair is seen for seen in model.pairs):
                model._correct(*pair)
                model.pairs.append(pair)
        return model


class LengthModelDescent(LengthDescent):
    """Steps on the model with the smoothed lengths."""

    design: LengthModel  # type: ignore[assignment]

    def __init__(self, *told: Any, known: Preconditioner | None = None):
        """``known``: the preconditioner at the first point, if it was built just now."""
        self.known = known
        super().__init__(*told, knows_entries=True)

    @classmethod
    def of(
        cls,
        descent: LengthDescent,
        pairs: Iterable[Pair] = (),
        known: Preconditioner | None = None,
        model: LengthModel | None = None,
    ) -> LengthModelDescent:
        """On the model at the point of a descent, which stays where it is; an earlier
        ``model`` may tell some of it."""
        model, diameter = LengthModel.of(descent, pairs, model), descent.diameter
        return cls(model, diameter, descent.radius, model.point, known=known)

    def rebuild(self) -> None:
        self.matrix = self.design.class_curvature  # type: ignore[assignment]
        if self.known is None:
            self.hold()
        else:
            self.precondition = self.known

    def _needs_rebuild(self) -> bool:
        return False

    @property
    def has_settled(self) -> bool:
        return self.settles(LENGTHS.model_patience, LENGTHS.model_settled)

    def run(self, n_steps: int, enough: float, balance: float = np.inf) -> None:
        """Until new shares and multipliers would add no more than ``enough``; then on
        without new ones, until no more than ``balance`` is out of balance."""
        last = self.n_iter + n_steps
        while self.n_iter < last and not self.is_stuck:
            is_moving = self.step()
            if self.is_resting:
                if self.unbalanced <= balance or not is_moving:
                    break
            elif self.has_settled or not is_moving:
                self.is_resting = self.to_learn <= enough
                if not self.is_resting:
                    self.sharpen()
                elif self.unbalanced <= balance:
                    break

    def become_sharp(self) -> None:
        """From now on smooth less: shares and multipliers are learnt sooner, and balance,
        which would take longer, is not asked for."""
        self.last_power = LENGTHS.sharp_power
        self.diameter = replace(self.diameter, relative_width=LENGTHS.sharp_width)

    def risk_of(self, coef: Floats) -> float:
        """The model's risk of any coefficients, with the true norm."""
        length = self.diameter.modulus(coef[:, : self.n_touchable])
        return self.design.evaluate(At(coef)).loss + self.radius * length


def model_step(descent: LengthDescent, rest: bool = False) -> bool:
    """Move to where the model is least, with new shares and multipliers unless they
    ``rest``; False if the loss did not follow the model."""
    if descent.n_iter - descent.built_at >= LENGTHS.model_age:
        descent.rebuild()
    else:
        descent.hold()
    told = descent.pairs, descent.precondition, descent.model
    inner = LengthModelDescent.of(descent, *told)  # type: ignore[arg-type]
    descent.model, inner.is_resting = inner.design, rest
    balance = LENGTHS.model_balance * descent.unbalanced
    inner.run(LENGTHS.model_steps, LENGTHS.model_share * descent.to_learn, balance)
    followed = descent.jump(inner.coef, inner.diameter, inner.smooth_risk)  # type: ignore[arg-type]
    descent.n_since = 0
    return followed


def balanced(descent: LengthDescent, tol: float, enough: float) -> Floats:
    """Coefficients close to the point, their longest differences shortened where that
    costs the least loss: more steps on the model until its risk is ``enough``."""
    inner, best, least = LengthModelDescent.of(descent), descent.coef, np.inf
    inner.become_sharp()
    for _ in range(LENGTHS.balance_rounds):
        coef = inner.repaired(tol)
        risk = inner.risk_of(coef)
        if risk < least:
            best, least = coef, risk
        if least <= enough or inner.is_stuck:
            break
        inner.run(LENGTHS.balance_steps, 0.0)
    return best
