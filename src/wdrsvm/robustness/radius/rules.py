r"""Rules for the radius: one that holds in practice, two that hold for sure.

*Coverage.*  Train on a bootstrap sample and compare the certified worst-case risk with the
risk on the rows left out.  The smallest radius whose certificate covers that risk in the
wanted share of samples is a radius whose promise can be believed.

*Guarantee* for every classifier; ``linear_rule`` has the one for linear classifiers.  The
data are n independent rows of a distribution P whose features lie in a box.  With D_x the
diameter of the box, D = D_x + the largest label cost, C classes and d features that vary,
moving mass between labels and then between cells of ever finer grids gives for every
depth k

    E W(P, P_n)  <=  D sqrt(C / n)
                     + D_x (2^-k + sum_{j=1}^k 2^-(j-1) min(2, sqrt(C 2^dj / n)))

(a cell Q has E|P(Q) - P_n(Q)| <= sqrt(P(Q) / n)), and changing one row changes W by at
most D / n, so that by McDiarmid's inequality W exceeds its mean by more than
D sqrt(log(1 / (1 - confidence)) / 2n) with probability at most 1 - confidence.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_consistent_length

from ...arrays import Floats
from ...inputs.arrays import (
    checked_features,
    checked_flag,
    nominal_weight,
    observed_classes,
)
from ...problem import NORMS, RobustProblem, WassersteinBall
from ...solvers import SolverSettings, solve
from .linear_rule import linear_radius
from .radius_max import radius_max_of

# The grid of radii spans this factor below radius_max.
SPAN = 1e-3
SETTINGS = SolverSettings(tol=1e-4)


class RadiusChoice(NamedTuple):
    """A radius, and the coverage of every radius tried on the way up.

    Attributes
    ----------
    radius : float
        The smallest radius tried whose coverage suffices, or the largest if none does.
    radii : ndarray of shape (n_tried,)
        The radii tried, in ascending order.
    coverage : ndarray of shape (n_tried,)
        Share of the bootstrap samples whose certificate holds at each radius.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import scale
    >>> from wdrsvm import bootstrap_radius
    >>> X, y = load_iris(return_X_y=True)
    >>> choice = bootstrap_radius(scale(X), y, n_resamples=5, n_radii=4)
    >>> bool(choice.coverage[-1] >= 0.9)
    True
    """

    radius: float
    radii: Floats
    coverage: Floats

    def __repr__(self) -> str:
        reached = f"{100 * self.coverage[-1]:.3g} %" if len(self.coverage) else "none"
        return (
            f"RadiusChoice(radius={self.radius:.4g}, coverage {reached}, "
            f"{len(self.radii)} radii tried)"
        )


def bootstrap_radius(
    X: ArrayLike,
    y: ArrayLike,
    *,
    coverage: float = 0.9,
    label_cost: float | ArrayLike = 2.0,
    norm: str = "l2",
    feature_cost: ArrayLike | None = None,
    fit_intercept: bool = True,
    n_radii: int = 10,
    n_resamples: int = 20,
    random_state: int = 0,
) -> RadiusChoice:
    """Smallest radius whose certified risk covers the risk on rows not trained on.

    Needs no rows to spare: each bootstrap sample leaves out a third of them.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Features.
    y : array-like of shape (n_samples,)
        Labels.
    coverage : float, default=0.9
        Share of the samples in which the certificate must hold.
    label_cost, norm, feature_cost
        Shape of the ball, as for :class:`wdrsvm.WassersteinBall`.
    fit_intercept : bool, default=True
        Whether classifiers have an intercept.
    n_radii : int, default=10
        Radii to try, evenly spread on a logarithmic scale up to
        :func:`wdrsvm.radius_max`.
    n_resamples : int, default=20
        Bootstrap samples.
    random_state : int, default=0
        Seed of the samples.

    Returns
    -------
    RadiusChoice
        The radius, the radii tried and the coverage of each.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import scale
    >>> from wdrsvm import bootstrap_radius, radius_max
    >>> X, y = load_iris(return_X_y=True)
    >>> choice = bootstrap_radius(scale(X), y, n_resamples=5, n_radii=4)
    >>> 0 < choice.radius <= radius_max(scale(X), y)
    True
    """
    if not 0 < coverage <= 1:
        raise ValueError(f"coverage must be a number in (0, 1], got {coverage!r}.")
    features = checked_features(X)
    classes, codes = observed_classes(y)
    check_consistent_length(features, codes)
    weight = nominal_weight(None, None, classes, codes) / len(codes)
    ball = WassersteinBall(0.0, label_cost, norm, feature_cost)
    problem = RobustProblem.of(features, codes, weight, ball, len(classes), fit_intercept)
    top = radius_max_of(problem)
    counts = _bootstrap_counts(len(codes), n_resamples, random_state)
    tried: list[float] = []
    held: list[float] = []
    for radius in np.geomspace(SPAN * top, top, n_radii) if top > 0 else [0.0]:
        tried.append(float(radius))
        covers = [_covers(problem.with_radius(radius), drawn) for drawn in counts]
        held.append(float(np.mean(covers)))
        if held[-1] >= coverage:
            break
    return RadiusChoice(tried[-1], np.array(tried), np.array(held))


def _bootstrap_counts(n_rows: int, n_resamples: int, random_state: int) -> list[Floats]:
    """How often each row is drawn; samples that leave no row out are drawn again."""
    if n_rows < 2:
        raise ValueError(f"X must have at least 2 rows, got {n_rows}.")
    rng = np.random.default_rng(random_state)
    counts: list[Floats] = []
    while len(counts) < n_resamples:
        drawn = np.bincount(rng.integers(0, n_rows, n_rows), minlength=n_rows)
        if (drawn == 0).any():
            counts.append(drawn.astype(np.float64))
    return counts


def _covers(problem: RobustProblem, counts: Floats) -> bool:
    """Whether the certificate on the rows drawn is above the risk on those left out."""
    drawn, left_out = np.flatnonzero(counts), np.flatnonzero(counts == 0)
    weight = counts[drawn] / counts.sum()
    found = solve(_on_rows(problem, drawn, weight, problem.ball), settings=SETTINGS)
    level = np.full(len(left_out), 1 / len(left_out))
    calm = _on_rows(problem, left_out, level, WassersteinBall(0.0))
    risk = calm.risk(found.coef, found.intercept).value
    return risk <= found.certificate.objective * (1 + 1e-9)


def _on_rows(
    problem: RobustProblem, rows: Any, weight: Floats, ball: WassersteinBall
) -> RobustProblem:
    return RobustProblem.of(
        problem.X[rows],
        problem.y[rows],
        weight,
        ball,
        problem.n_classes,
        problem.fit_intercept,
    )


def guaranteed_radius(
    n_samples: int,
    support: tuple[ArrayLike, ArrayLike],
    *,
    n_classes: int,
    label_cost: float = 2.0,
    norm: str = "l2",
    feature_cost: ArrayLike | None = None,
    confidence: float = 0.95,
    rule: str = "distribution",
    fit_intercept: bool = True,
) -> float:
    """Radius at which worst-case risks are at least true risks, with given confidence.

    Both rules assume that rows are drawn independently and that features lie in the box.

    ``rule="distribution"``: the ball contains the true distribution.  The worst-case risk
    of *every* classifier, however it was chosen and whatever its loss, is at least its
    risk on new rows.  The radius shrinks only like ``n_samples ** (-1 / n_features)``.
    With more than a few features it is far larger than needed, as a rule larger than
    :func:`wdrsvm.radius_max`.

    ``rule="linear"``: the worst-case Crammer-Singer risk of every *linear* classifier,
    however it was chosen, is at least its risk on new rows.  The radius shrinks like
    ``1 / sqrt(n_samples)`` in any number of features, and needs no label cost.  It assumes
    that every two classes have equal scores somewhere within the box's reach of its
    centre (without an intercept, nothing), and that all classes are among the rows.

    Parameters
    ----------
    n_samples : int
        Number of rows.
    support : pair of array-likes of shape (n_features,)
        Lower and upper ends of the features, finite and known beforehand.
    n_classes : int
        Number of classes.
    label_cost : float, default=2.0
        Largest cost of changing a label, finite; ``rule="linear"`` holds for any.
    norm : {"l1", "l2", "linf"}, default="l2"
        Norm of the transport cost on features.
    feature_cost : array-like of shape (n_features,), default=None
        Price of moving each feature by one unit, finite.
    confidence : float, default=0.95
        Probability of the guarantee.
    rule : {"distribution", "linear"}, default="distribution"
        What is guaranteed, see above.
    fit_intercept : bool, default=True
        Whether the classifiers of ``rule="linear"`` have an intercept.

    Returns
    -------
    float
        The radius.

    Examples
    --------
    >>> from wdrsvm import guaranteed_radius
    >>> box = ([0.0] * 10, [1.0] * 10)
    >>> for rule in ("distribution", "linear"):
    ...     for n in (100, 10_000):
    ...         radius = guaranteed_radius(n, box, n_classes=2, rule=rule)
    ...         print(f"{rule}, {n} rows: {radius:.2f}")
    distribution, 100 rows: 4.52
    distribution, 10000 rows: 3.15
    linear, 100 rows: 1.72
    linear, 10000 rows: 0.17
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be a number in (0, 1), got {confidence!r}.")
    if n_samples < 1:
        raise ValueError(f"n_samples must be at least 1, got {n_samples!r}.")
    if not isinstance(rule, str) or rule not in ("distribution", "linear"):
        raise ValueError(f"rule must be 'distribution' or 'linear', got {rule!r}.")
    width = _priced_widths(support, norm, feature_cost)
    if rule == "distribution":
        return _containing_radius(width, n_samples, n_classes, label_cost, norm, confidence)
    with_intercept = checked_flag(fit_intercept, "fit_intercept")
    reach = width / 2 if with_intercept else _priced_reach(support, feature_cost)
    return linear_radius(reach, n_samples, n_classes, norm, confidence, with_intercept)


def _containing_radius(
    width: Floats,
    n_samples: int,
    n_classes: int,
    label_cost: float,
    norm: str,
    confidence: float,
) -> float:
    """The radius of the module's text."""
    if not 0 <= label_cost < np.inf:
        raise ValueError(
            f"label_cost must be finite and >= 0, got {label_cost!r}: no ball with trusted "
            "labels contains the true distribution."
        )
    diameter = float(NORMS[norm].of_rows(width))
    whole = diameter + label_cost
    between_labels = whole * np.sqrt(n_classes / n_samples)
    n_varying = int(np.count_nonzero(width))
    deviation = whole * np.sqrt(-np.log1p(-confidence) / (2 * n_samples))
    grids = diameter * _grid_bound(n_varying, n_classes, n_samples)
    return float(between_labels + grids + deviation)


def _priced_reach(support: Any, feature_cost: ArrayLike | None) -> Floats:
    """Largest sizes of the features in the box times their costs."""
    low, high = (np.atleast_1d(np.asarray(end, dtype=np.float64)) for end in support)
    cost = WassersteinBall(0.0, feature_cost=feature_cost).feature_costs(len(low))
    reach: Floats = np.maximum(np.abs(low), np.abs(high)) * cost
    return reach


def _priced_widths(support: Any, norm: str, feature_cost: ArrayLike | None) -> Floats:
    """Side lengths of the box times the features' costs."""
    low, high = (np.atleast_1d(np.asarray(end, dtype=np.float64)) for end in support)
    if low.shape != high.shape or low.ndim != 1 or not (low <= high).all():
        raise ValueError("support must be two arrays of one length, the lower end first.")
    ball = WassersteinBall(0.0, norm=norm, feature_cost=feature_cost)
    width: Floats = (high - low) * ball.feature_costs(len(low))
    if not np.isfinite(width).all():
        raise ValueError("support and feature_cost must be finite for every feature.")
    return width


def _grid_bound(n_features: int, n_classes: int, n_samples: int) -> float:
    """min over k of 2^-k + sum_{j=1}^k 2^-(j-1) min(2, sqrt(C 2^dj / n))."""
    depth = np.arange(1, 64)
    level = np.sqrt(n_classes / n_samples) * 2.0 ** np.minimum(n_features * depth / 2, 500)
    fine = np.cumsum(2.0 ** (1 - depth) * np.minimum(2.0, level))
    return float(np.concatenate([[1.0], 2.0**-depth + fine]).min())
