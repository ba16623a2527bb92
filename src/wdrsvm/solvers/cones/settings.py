"""The tuning numbers of cones, of their linear systems and of Mehrotra's step."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ConeSettings:
    """Numbers that the interior points and the Newton methods share.

    Parameters
    ----------
    step_share : float
        Share of the way to the boundary that a step of an interior point goes.
    last_share, steep : float
        The same share once a step to zero complementarity leaves less than ``steep`` of it.
        Longer steps earlier would leave the centre so far that later steps are short.
        A whole step is taken where it is within ``last_share`` of the way, because it
        leaves no equality to repair.
    short_step : float
        A step below this share of the whole direction counts as short.
    max_short_steps : int
        After this many short steps in sequence the point is stuck.
    longer : float
        The extra length that the corrector towards the centre tries to reach (Gondzio).
    central : float
        This corrector leaves products within this factor of the centre as they are.
    max_start_lam : float
        Largest start of lam, in the solver's units.
    max_products : int
        The products of all pairs of columns are kept if they have at most so many entries.
    max_refinements : int
        Corrections of a solution of the normal system, at most.
    wide_ratio : int
        A wide system is used if the unknowns are more than this many times as many as the
        rows' directions.
    max_wide_steps : int
        Steps of conjugate gradients that correct a solution of a wide system, at most.
    max_call_work : float
        Operations of one call of compiled code, at most; Ctrl-C works between calls.
    max_product_work : int
        The same for one matrix product inside of a call.
    sent_share : float
        Rows are sent as they are if their size is at most this share of their Gram matrix.
    """

    step_share: float = 0.95
    last_share: float = 0.995
    steep: float = 0.3
    short_step: float = 1e-3
    max_short_steps: int = 5
    longer: float = 0.2
    central: float = 10.0
    max_start_lam: float = 30.0
    max_products: int = 1 << 19
    max_refinements: int = 5
    wide_ratio: int = 2
    max_wide_steps: int = 12
    max_call_work: float = 5e9
    max_product_work: int = 2_000_000_000
    sent_share: float = 0.25


CONES = ConeSettings()
