"""The tuning numbers of the envelope, on one page."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class EnvelopeSettings:
    """Numbers of the envelope and of the steps on it.

    Parameters
    ----------
    entry_stiffness : float
        Stiffness of the envelope of the l1 norm, relative to the mean size of a multiplier
        divided by the mean size of a coefficient.
    held_share : float
        The preconditioner takes this share of the stiffness for every coefficient, if it
        does not know which of them are at the bound.
    free_share : float
        If it does, it takes this share for the others: they may reach the bound.
    patience : int
        Steps after which the multipliers are adapted in any case.
    max_iter : int
        Steps of a solve where the caller gives no limit.
    settled : float
        Steps have settled when the next one promises less than this share of what new
        multipliers would add to the envelope.
    most_misled : int
        After so many failed certificates, only settled steps may lead to another one.
    """

    entry_stiffness: float = 5.0
    held_share: float = 1.0
    free_share: float = 0.3
    patience: int = 20
    max_iter: int = 1500
    settled: float = 0.1
    most_misled: int = 3


ENVELOPES = EnvelopeSettings()
