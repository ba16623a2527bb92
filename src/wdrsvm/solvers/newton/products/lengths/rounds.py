"""Training in matrix products with smoothed lengths."""

from __future__ import annotations

from functools import partial
from typing import Any

from ....result import Start
from ..choice import single_flip_cost
from ..loop import ProductRounds, product_newton
from ..settings import PRODUCTS
from ..start import first_point
from .descent import LengthDescent
from .diameter import LengthDiameter
from .settings import LENGTHS


class LengthRounds(ProductRounds):
    """The rounds of ``products.loop``; each ends with new shares and multipliers."""

    most_steps = LENGTHS.max_iter
    descent: LengthDescent

    def first_descent(self, start: Start | None) -> LengthDescent:
        problem, design, n = self.problem, self.design, self.design.scaling.n_touchable
        coef = first_point(
            problem, design, start, lambda coef: LengthDiameter.modulus(coef[:, :n])
        )
        diameter = LengthDiameter.of(coef[:, :n])
        if start is not None:
            # The differences at the start show which lengths are long, and their signs.
            diameter = diameter.adapted(diameter.at(coef[:, :n]), PRODUCTS.warm_power)
        return LengthDescent(
            design,
            diameter,  # type: ignore[arg-type]
            self.radius,
            coef,
            flip_cost=single_flip_cost(problem) / design.scaling.unit,
            tol=self.settings.tol,
        )

    def _consider(self) -> None:
        """Only if little of the gradient is left: a flow takes longer than many steps."""
        descent, wanted = self.descent, self._wanted
        if descent.is_paid_directly:
            self._consider_zero()
            return
        lost = LENGTHS.flow_hope * descent.unbalanced / self.radius * descent.robust_part
        if descent.smooth_risk - descent.dual + lost <= wanted:
            super()._consider()

    def _consider_zero(self) -> None:
        """Compute the certificate of coefficients that are zero."""
        descent, tol = self.descent, self.settings.tol
        enough = descent.dual + self._wanted
        self._offer(descent.repaired(tol), enough)
        if self.best.objective <= enough:
            flow = descent.flow(tol)
            self._ask(flow, self._fit(flow))

    def drawn_flow(self, flow: Any, share: float) -> Any:
        return self.design.scaling.on_features(share * flow)

    def _forget_rows(self) -> None:
        """A result keeps a flow only if it is not large."""
        super()._forget_rows()
        flow = getattr(self.best.multipliers, "flow", None)
        if flow is not None and flow.size > LENGTHS.max_kept_flow:
            self.best.multipliers = None


length_newton = partial(product_newton, rounds=LengthRounds)
