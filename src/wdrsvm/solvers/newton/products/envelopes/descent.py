"""Quasi-Newton steps on the risk with an envelope in the place of the modulus."""

from __future__ import annotations

from typing import Any

import numpy as np

from .....arrays import Floats
from ..held.descent import HeldDescent
from .entries import EntryEnvelope, Enveloped
from .settings import ENVELOPES


class EnvelopeDescent(HeldDescent):
    """Steps whose settling adapts the multipliers of the envelope."""

    diameter: EntryEnvelope  # type: ignore[assignment]
    smoothed: Enveloped  # type: ignore[assignment]

    has_multipliers = False
    # Certificates that promised to succeed and failed.
    n_misled = 0

    @property
    def held(self) -> Floats:
        return self.diameter.held(self.smoothed)

    @property
    def spread(self) -> float:
        return self.smoothed.lag

    @property
    def has_settled(self) -> bool:
        is_late = self.n_since >= ENVELOPES.patience
        return is_late or self.promise < ENVELOPES.settled * self.to_learn

    @property
    def is_sharp(self) -> bool:
        """With multipliers, every step may lead to a certificate: the polar has a closed
        form.  After some failures only those may at which the steps have settled."""
        return self.has_multipliers and self.n_misled < ENVELOPES.most_misled

    @property
    def _touchable(self) -> Floats:
        return self.coef[:, : self.n_touchable]

    def _sharpen_diameter(self) -> None:
        self.diameter = self.diameter.adapted(self._touchable)
        self.has_multipliers = True

    def flow(self, tol: float) -> Any:
        return self.diameter.flow(self._touchable, self.flow_gradient)

    def repaired(self, tol: float, enough: float = -np.inf) -> Floats:
        coef = self.coef.copy()
        coef[:, : self.n_touchable] = self.diameter.nearest(self._touchable)
        return coef
