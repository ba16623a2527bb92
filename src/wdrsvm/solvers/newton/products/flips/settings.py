"""The tuning numbers of levels, on one page."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LevelSettings:
    """Numbers of the levels of spans and lengths.

    Parameters
    ----------
    band : float
        Flips count as close if they lack so many mu of their price, or less.
    length_band : float
        Pairs of classes count as long if they lack this share of the diameter, or less.
    most_holds, work : int
        At most so many close flips and long pairs are looked at, and no more than a system
        of them can be solved in the time of so many passes over the rows.
    pairs_share : float
        At most this share of them are pairs.
    least_holds : int
        With fewer, no level is computed.
    least_kept : float
        A row of whose label at least this share is kept has close flips.
    most_flipped : float
        The largest share of all other labels of a row around which it is smoothed.
    jumps : int
        At most so many settlings take shares from levels.
    rounds : int
        Systems that are solved for a level, at most.
    added_stiffness : float
        Share of its own stiffness that is added to each hold: equal rows have equal holds.
    few_wrong : float
        No other system is solved when so small a share of the holds was guessed wrongly.
    least_power : float
        The power of the diameter after a jump to a level is at least this.
    """

    band: float = 0.6
    length_band: float = 0.01
    most_holds: int = 900
    work: int = 8
    pairs_share: float = 0.33
    least_holds: int = 400
    least_kept: float = 0.01
    most_flipped: float = 1 - 1e-6
    jumps: int = 10
    rounds: int = 8
    added_stiffness: float = 1e-4
    few_wrong: float = 0.01
    least_power: float = 20.0


LEVELS = LevelSettings()
