"""The tuning numbers of the envelopes, on one page."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class EnvelopeSettings:
    """Numbers of the envelopes and of the steps on them.

    Parameters
    ----------
    entry_stiffness : float
        Stiffness of the envelope of the l1 norm, relative to the mean size of a multiplier
        divided by the mean size of a coefficient.
    pair_stiffness : float
        The same for the linf norm, with the sizes of flows and of differences of classes.
    tied_share : float
        The preconditioner takes this share of all pairs as tied in every column.
    softening, least_softness : float
        With each set of new multipliers the pairs' stiffness is multiplied by the first
        number, down to the second share of what it was.
    max_length_steps : int
        Steps of the search for the common length of the pairs, at most.
    length_rtol : float
        They end when the heights have the right sum up to this relative error.
    flow_rounds : int
        Rounds that fit the flow of a certificate to the gradient.
    flow_damping : float
        Share of what is missing that each of them takes away.
    repair_rounds : int
        Rounds that shorten the longest differences.
    least_pair_unknowns : int
        With fewer unknowns and the linf norm, Newton's method with a matrix of curvature
        is as fast, and reaches smaller gaps.
    max_pair_entries : int
        Differences of pairs of classes have at most so many entries: three arrays of this
        size are kept.
    max_kept_flow : int
        A result keeps a flow of at most so many entries.
    held_share : float
        The preconditioner takes this share of the stiffness for every coefficient: it does
        not know which of them are at the bound.
    patience : int
        Steps after which the multipliers are adapted in any case.
    max_iter : int
        Steps of a solve where the caller gives no limit.
    settled : float
        Steps have settled when the next one promises less than this share of what new
        multipliers would add to the envelope.
    """

    entry_stiffness: float = 5.0
    pair_stiffness: float = 20.0
    tied_share: float = 0.2
    softening: float = 0.85
    least_softness: float = 0.1
    max_length_steps: int = 60
    length_rtol: float = 1e-9
    flow_rounds: int = 10
    flow_damping: float = 0.9
    repair_rounds: int = 30
    least_pair_unknowns: int = 400
    max_pair_entries: int = 3 << 23
    max_kept_flow: int = 1 << 22
    held_share: float = 0.7
    patience: int = 20
    max_iter: int = 1500
    settled: float = 0.1


ENVELOPES = EnvelopeSettings()
