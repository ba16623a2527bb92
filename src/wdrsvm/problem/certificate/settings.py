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
    small_pull : float
        Winners of trusted labels are tilted to first order where the pulls of a row's
        classes differ by at most this much.
    moderate_pull : float
        Up to this much, the system of a tilt serves the small tilts after it.
    few_rows : int
        Up to this many rows, another reduction costs less than the system of a needless
        tilt.
    few_features : int
        Up to this many features, and where rows are not kept, the gradient is summed
        together with everything else.
    max_kept_entries : int
        Repaired multipliers of all rows are kept between tilts if they and the columns of
        the equalities have at most this many entries.  Otherwise each reduction repeats
        the repair.
    quick : float
        A tilt that leaves at most this share of the error lends its system to the next one.
    many_classes : int
        From so many classes on, the products of a system take most of the time.  They are
        computed in single precision.
    quick_of_many : float
        As ``quick``, from so many classes on: more tilts take less time than a new system.
    max_cg_steps : int
        Steps of conjugate gradients for one tilt.
    cg_tol : float
        Their relative tolerance.  Rough is enough, because tilts are repeated.
    first_ridge, ridge_factor, last_ridge : float
        Ridge of a tilt's system, relative to the diagonal: the first, the factor after
        each tilt that raised the error, and the value from which tilting is given up.
    max_steerings : int
        How often gradient and flips are shortened into the budget.
    max_steering_work : float
        Steer the gradient only if rows times squared unknowns are at most this many.
    max_steering_unknowns : int
        Steer the gradient only up to this many unknowns, whose dense system fits into
        memory.
    max_joint_entries : float
        Tilt jointly only if the dense curvatures of all rows have at most this many
        entries.
    negligible_share : float
        Features that can spend at most this share of the budget are not steered.
    tiny_radius : float
        Below this radius, relative to one plus the spending on flips, also try the bound
        without a budget.
    least_spread : float
        A row is left out of a tilt's system if less than this share of its mass is off one
        class.
    kept_share : float
        In a bounded ball, a plan that keeps less than this share of its value when it is
        balanced is balanced again, category by category.
    max_spreads : int
        How often the error of a bounded plan is spread over its movement and switches.
    loosening : float
        Share of a row's weight that is spread over all classes so that every row can be
        tilted.
    """

    max_tilts: int = 20
    small_pull: float = 0.1
    moderate_pull: float = 0.5
    few_rows: int = 4096
    few_features: int = 32
    max_kept_entries: int = 2_000_000
    quick: float = 1e-3
    many_classes: int = 64
    quick_of_many: float = 0.05
    max_cg_steps: int = 200
    cg_tol: float = 1e-6
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
    kept_share: float = 0.99
    max_spreads: int = 5
    loosening: float = 1e-9


CERTIFICATE = CertificateSettings()
