r"""How far each row is from losing its label to another class.

    dist_n = min over j != y_n of (z_y - z_j) / || (M_y - M_j) / cost ||_*

Arrays of scores have the classes first, (C, N): what follows runs along the rows.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Codes, Floats
from .norms import pairwise_moduli


def rival_rates(coef: Floats, norm: str, feature_cost: Floats) -> Floats:
    """How fast moving makes a lead shrink, (C, C); 1 for a class and itself."""
    moduli = pairwise_moduli(coef, norm, feature_cost)
    np.fill_diagonal(moduli, 1.0)
    return moduli


def leads_in(scores: Floats, y: Codes, out: Floats | None = None) -> Floats:
    """How far the score of the label leads each class's, (C, N); inf for the label.

    ``out`` may be the scores themselves.
    """
    rows = np.arange(len(y))
    leads: Floats = np.subtract(scores[y, rows], scores, out=out)
    leads[y, rows] = np.inf
    return leads


def nearest_rival(leads: Floats, rates: Floats, y: Codes) -> Floats:
    """Least lead in units of the rate at which moving makes it shrink, (N,)."""
    rate = rates.take(y, axis=1)
    if rates.all():
        return np.asarray(np.divide(leads, rate, out=rate).min(axis=0))
    # A rival that no movement brings closer has caught up already, or never does.
    fixed = np.where(leads > 0, np.inf, 0.0)
    return np.asarray(np.divide(leads, rate, out=fixed, where=rate > 0).min(axis=0))
