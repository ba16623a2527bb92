"""Training in matrix products with the envelope of the modulus."""

from __future__ import annotations

from functools import partial

from ....result import Start
from ..held.descent import knows_entries
from ..loop import ProductRounds, product_newton
from ..start import first_point
from .descent import EnvelopeDescent
from .entries import EntryEnvelope
from .settings import ENVELOPES


class EnvelopeRounds(ProductRounds):
    """The rounds of ``products.loop``; each ends with new multipliers."""

    most_steps = ENVELOPES.max_iter

    def first_descent(self, start: Start | None) -> EnvelopeDescent:
        problem, design, n = self.problem, self.design, self.design.scaling.n_touchable
        coef = first_point(
            problem, design, start, lambda coef: EntryEnvelope.modulus(coef[:, :n])
        )
        first = EntryEnvelope.of(coef[:, :n], self.radius)
        return EnvelopeDescent(
            design,
            first,
            self.radius,
            coef,
            tol=self.settings.tol,
            knows_entries=knows_entries(problem, design.scaling.n_columns),
        )


envelope_newton = partial(product_newton, rounds=EnvelopeRounds)
