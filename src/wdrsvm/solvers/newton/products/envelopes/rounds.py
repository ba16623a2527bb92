"""Training in matrix products with the envelope of the modulus."""

from __future__ import annotations

from functools import partial
from typing import Any

from ....result import Start
from ..loop import ProductRounds, product_newton
from ..start import first_point
from .choice import ENVELOPE_OF_NORM
from .descent import EnvelopeDescent
from .settings import ENVELOPES


class EnvelopeRounds(ProductRounds):
    """The rounds of ``products.loop``; each ends with new multipliers."""

    most_steps = ENVELOPES.max_iter

    def first_descent(self, start: Start | None) -> EnvelopeDescent:
        problem, design, n = self.problem, self.design, self.design.scaling.n_touchable
        envelope = ENVELOPE_OF_NORM[problem.norm]
        coef = first_point(
            problem, design, start, lambda coef: envelope.modulus(coef[:, :n])
        )
        first = envelope.of(coef[:, :n], self.radius)
        return EnvelopeDescent(
            design,
            first,  # type: ignore[arg-type]
            self.radius,
            coef,
            tol=self.settings.tol,
        )

    def drawn_flow(self, flow: Any, share: float) -> Any:
        return None if flow is None else self.design.scaling.on_features(share * flow)

    def _forget_rows(self) -> None:
        """A result keeps a flow only if it is not large."""
        super()._forget_rows()
        flow = getattr(self.best.multipliers, "flow", None)
        if flow is not None and flow.size > ENVELOPES.max_kept_flow:
            self.best.multipliers = None


envelope_newton = partial(product_newton, rounds=EnvelopeRounds)
