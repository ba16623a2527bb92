"""The tuning numbers of the certificates, on one page."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CertificateSettings:
    """How much work is spent on making multipliers feasible.

    None of these numbers can make a bound wrong: they only decide how good it becomes.

    Parameters
    ----------
    max_tilts : int
        Tilts of the rows until the equalities hold, or the multipliers are given up.
    few_rows : int
        A sweep over so few rows costs less than the system of a tilt that is not needed.
    first_ridge, ridge_factor, last_ridge : float
        Ridge of a tilt's system, relative to the diagonal: the first, the factor after
        each tilt that led away, and the value from which tilting is given up.
    max_steerings : int
        How often gradient and flips are shortened into the budget.
    max_steering_work : float
        Rows times squared unknowns up to which steering is worth its time.
    max_steering_unknowns : int
        Unknowns up to which their dense system fits into any memory.
    max_joint_entries : float
        Entries of a dense curvature of all rows that are no burden.
    negligible_share : float
        A share of the budget that is not worth steering for.
    tiny_radius : float
        Below this radius, relative to one plus the spending on flips, the bound without a
        budget may be the better one.
    least_spread : float
        Rows with all but this share of their mass on one class cannot be tilted to any
        effect.
    loosening : float
        Share of a row's weight that is spread over all classes so that every row can be
        tilted.
    """

    max_tilts: int = 20
    few_rows: int = 4096
    first_ridge: float = 1e-12
    ridge_factor: float = 1e3
    last_ridge: float = 1e-2
    max_steerings: int = 3
    max_steering_work: float = 1e11
    max_steering_unknowns: int = 6000
    max_joint_entries: float = 1e5
    negligible_share: float = 1e-9
    tiny_radius: float = 1e-7
    least_spread: float = 1e-9
    loosening: float = 1e-9


CERTIFICATE = CertificateSettings()
