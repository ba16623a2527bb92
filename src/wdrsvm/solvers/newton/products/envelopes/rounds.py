"""Training in matrix products with the envelope of the modulus."""

from __future__ import annotations

from functools import partial

from ....result import Start
from ..loop import ProductRounds, product_newton
from ..start import first_point
from .choice import ENVELOPE_OF_NORM
from .descent import EnvelopeDescent


class EnvelopeRounds(ProductRounds):
    """The rounds of ``products.loop``; each ends with new multipliers."""

    def first_descent(self, start: Start | None) -> EnvelopeDescent:
        problem, design, n = self.problem, self.design, self.design.scaling.n_touchable
        envelope = ENVELOPE_OF_NORM[problem.norm]
        coef = first_point(
            problem, design, start, lambda coef: envelope.modulus(coef[:, :n])
        )
        first = envelope.of(coef[:, :n], self.radius)
        return EnvelopeDescent(design, first, self.radius, coef)  # type: ignore[arg-type]


envelope_newton = partial(product_newton, rounds=EnvelopeRounds)
