"""Training in matrix products with the envelope of the modulus."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .....arrays import Floats
from ....result import Start
from ..held.descent import knows_entries
from ..loop import Fit, ProductRounds, product_newton
from ..start import first_point
from .descent import EnvelopeDescent
from .entries import EntryEnvelope
from .settings import ENVELOPES


class EnvelopeRounds(ProductRounds):
    """The rounds of ``products.loop``; each ends with new multipliers."""

    most_steps = ENVELOPES.max_iter
    descent: EnvelopeDescent
    # The step at which the last classifier was offered.
    offered_at = 0

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

    def _offer(self, coef: Floats, enough: float = np.inf) -> None:
        super()._offer(coef, enough)
        self.offered_at = self.descent.n_iter

    def _ask(self, flow: Any, fit: Fit) -> None:
        """With the classifier of the point: an earlier one may just not be good enough."""
        descent = self.descent
        if self.offered_at < descent.n_iter:
            self._offer(descent.repaired(self.settings.tol), self.best.objective)
        super()._ask(flow, fit)
        descent.n_misled += not self._is_over()


envelope_newton = partial(product_newton, rounds=EnvelopeRounds)
