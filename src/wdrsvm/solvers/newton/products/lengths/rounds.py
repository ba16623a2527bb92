"""Training in matrix products with smoothed lengths."""

from __future__ import annotations

from functools import partial
from typing import Any

from ....result import Start
from ..choice import single_flip_cost
from ..held.descent import knows_entries
from ..loop import ProductRounds, product_newton
from ..settings import PRODUCTS
from ..start import first_point
from .descent import LengthDescent
from .diameter import LengthDiameter
from .model import balanced, model_step
from .settings import LENGTHS


class LengthRounds(ProductRounds):
    """The rounds of ``products.loop``; each ends with new shares and multipliers."""

    most_steps = LENGTHS.max_iter
    descent: LengthDescent
    reach = LENGTHS.model_reach
    rest_share = LENGTHS.rest_share
    is_balanced = False
    # Whether minima of the model bring the gradient into balance sooner than steps.
    models_balance = True

    def first_descent(self, start: Start | None) -> LengthDescent:
        problem, design, n = self.problem, self.design, self.design.scaling.n_touchable
        coef = first_point(
            problem, design, start, lambda coef: LengthDiameter.modulus(coef[:, :n])
        )
        diameter = LengthDiameter.of(coef[:, :n], design.kind)
        if start is not None:
            # The differences at the start show which lengths are long, and their signs.
            diameter = diameter.adapted(diameter.at(coef[:, :n]), PRODUCTS.warm_power)
        return LengthDescent(
            design,
            diameter,
            self.radius,
            coef,
            flip_cost=single_flip_cost(problem) / design.scaling.unit,
            tol=self.settings.tol,
            knows_entries=knows_entries(problem, design.scaling.n_columns),
        )

    def _sharpen(self) -> None:
        """By a model of the loss where that leads on; not at all if little is left to
        learn, because new multipliers would bring the gradient out of balance."""
        descent = self.descent
        if not descent.knows_entries or self._is_over():
            super()._sharpen()
            return
        descent.is_resting = self._may_rest
        if descent.is_resting and not self.models_balance:
            descent.n_since = 0
            return
        if descent.to_learn > self.reach * descent.risk:
            descent.sharpen()
            descent.hold()
            return
        was_resting, before = descent.is_resting, descent.unbalanced
        for _ in range(LENGTHS.model_rounds):
            followed = model_step(descent, descent.is_resting)
            self._consider()
            if not followed:
                self.reach /= 2
            if not followed or self._is_over():
                break
            descent.is_resting = self._may_rest
        if was_resting and descent.unbalanced > LENGTHS.model_pays * before:
            self.models_balance = False

    @property
    def _may_rest(self) -> bool:
        """A rest goes on until steps fail, or until it is found to have come too early.

        It does not begin while the smoothed risk still falls: at its minimum there would be
        far more to learn.
        """
        descent, wanted = self.descent, self._wanted
        if descent.is_resting:
            may = descent.to_learn <= LENGTHS.most_missed * wanted
        else:
            may = descent.to_learn <= self.rest_share * wanted
            may = may and descent.promise <= LENGTHS.rest_promise * wanted
        return may and descent.n_failed == 0

    def _consider(self) -> None:
        """Only if little of the gradient is left: a flow takes longer than many steps."""
        descent, wanted = self.descent, self._wanted
        if descent.is_paid_directly:
            self._consider_zero()
            return
        lost = LENGTHS.flow_hope * descent.unbalanced / self.radius * descent.robust_part
        missing = descent.smooth_risk - descent.dual + lost
        if descent.is_resting:
            if missing <= LENGTHS.bound_share * wanted:
                self._consider_balance()
        elif missing <= wanted:
            super()._consider()

    def _consider_balance(self) -> None:
        """Look for a classifier if the bound is close enough to the smoothed risk."""
        descent, tol, wanted = self.descent, self.settings.tol, self._wanted
        flow = descent.flow(tol)
        fit = self._fit(flow)
        bound = self._foreseen_bound(fit)
        if descent.smooth_risk - bound > LENGTHS.bound_share * wanted:
            return
        if not self.is_balanced:
            self.is_balanced = True
            self._offer(balanced(descent, tol, bound + wanted))
        if self.best.objective - bound <= wanted:
            self._ask(flow, fit)
        if self.best.objective - descent.smooth_risk > wanted:
            # It was too early: learn more first.
            descent.is_resting, self.is_balanced = False, False
            self.rest_share /= 4

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
