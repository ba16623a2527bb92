"""The tuning numbers of the interior points, on one page."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class InteriorPointSettings:
    """Numbers of the loop, of warm starts, of chains of problems and of bounded balls.

    Parameters
    ----------
    max_iter : int
        Iterations of a solve where the caller gives no limit.
    negligible_share : float
        The term of the radius does not matter below this share of the objective.
    farther_lams : tuple of float
        With a tiny radius or tiny label costs, lam ends far from its default start.  Then
        the solve is repeated from these values of lam.
    share_of_flips : float
        The first of these repetitions starts from this share of the lam at which label
        flips do not pay.
    patience : int
        Number of certificates that may fail before the multipliers are steered.
    early_look : float
        In a system of few rows, rounding matters earlier.  Each point is certified once the
        gap is below this multiple of the requested gap.
    inside : float
        How far inside the constraints a classifier of another problem is placed, relative
        to its objective.
    narrowest, widest : float
        Points of a path are stored if their relative gap is between these numbers.
    kept_slack : float
        Slacks keep at least this share of their value in a neighbour's point.
    least_distance : float
        A solve starts from the neighbour's point whose gap is nearest to the distance of
        the two problems.  A smaller distance than this number is replaced by it.
    constant_tol : float
        Relative gap of the best constant classifier.  The problem has one row per class,
        so that accuracy is cheap.
    bounded_look : float
        Below this relative gap each point of a bounded problem is certified, because
        rounding may spoil later points.
    bounded_patience : int
        After so many certificates without a gain, the next ones are ever further apart.
    bounded_lams : tuple of float
        If a bounded problem stalls, the solve is repeated from these values of lam.
    bending : float
        With a smooth loss in a bounded ball, a step is halved if the losses exceed their
        linear forms by more than this share of all products of slacks and multipliers.
    max_halvings : int
        So many lengths of a step are tried.
    """

    max_iter: int = 200
    negligible_share: float = 1e-6
    farther_lams: tuple[float, ...] = (1e7, 1e11)
    share_of_flips: float = 0.1
    patience: int = 3
    early_look: float = 30.0
    inside: float = 0.3
    narrowest: float = 0.02
    widest: float = 0.6
    kept_slack: float = 0.3
    least_distance: float = 0.03
    constant_tol: float = 1e-9
    bounded_look: float = 1e-8
    bounded_patience: int = 10
    bounded_lams: tuple[float, ...] = (10.0, 0.1, 100.0)
    bending: float = 0.3
    max_halvings: int = 30


INTERIOR_POINT = InteriorPointSettings()
