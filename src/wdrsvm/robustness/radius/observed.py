"""How far data have drifted, in the units of a ball."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from ...arrays import Codes, Floats
from ...inputs.arrays import as_matrix, check_size, label_codes
from ...problem import WassersteinBall
from ...rows.moments import column_deviations
from ..notebook import html_facts, html_result
from .noise import Noise, bounds, noise_of, projected
from .transport import Sample, TransportCost


@dataclass(frozen=True)
class ObservedRadius:
    """How far new rows are from old ones, what is known of it, and what is noise.

    Attributes
    ----------
    radius : float
        The Wasserstein distance of the two samples where that is exact, else ``upper``:
        a ball of this radius around the old rows contains the new ones.
    lower, upper : float
        Bounds of the distance, both equal to it where it is exact.
    noise_floor : float
        The radius that two samples of the old source would have on average.
    drift : float
        What of the radius is more than noise: an estimate from below of how far the
        source has moved.  The radius is one from above, on average over samples.
    n_old, n_new : int
        Numbers of rows.

    Examples
    --------
    >>> from wdrsvm import ObservedRadius
    >>> drift = ObservedRadius(0.3, 0.3, 0.3, 0.1, 0.2, n_old=200, n_new=50)
    >>> print(drift.sentence())
    The 50 new rows are at a distance of 0.3 from the 200 old ones; two samples of the \
old source would be 0.1 apart, so that at least 0.2 is drift.
    """

    radius: float
    lower: float
    upper: float
    noise_floor: float
    drift: float
    n_old: int
    n_new: int

    def __repr__(self) -> str:
        return (
            f"ObservedRadius({self.radius:.3g} of {self.n_new} new from {self.n_old} old "
            f"rows; noise floor {self.noise_floor:.3g}, drift {self.drift:.3g})"
        )

    def sentence(self) -> str:
        """The result in one sentence.

        Returns
        -------
        str
            The sentence.
        """
        rows = f"The {self.n_new} new rows are"
        if not np.isfinite(self.radius):
            return (
                f"{rows} in no ball around the {self.n_old} old ones: a label or a "
                "feature that cannot change has changed."
            )
        distance = f"{self.radius:.3g}"
        if self.lower < self.upper:
            distance = f"between {self.lower:.3g} and {self.upper:.3g}"
        shown = f"at least {self.drift:.3g} is drift" if self.drift else "no drift shows"
        return (
            f"{rows} at a distance of {distance} from the {self.n_old} old ones; two "
            f"samples of the old source would be {self.noise_floor:.3g} apart, so that "
            f"{shown}."
        )

    def _repr_html_(self) -> str:
        facts = {
            "radius": self.radius,
            "noise floor": self.noise_floor,
            "drift": self.drift,
        }
        return html_result(self.sentence(), html_facts("Observed radius", facts))


def observed_radius(
    X_old: ArrayLike,
    X_new: ArrayLike,
    y_old: ArrayLike | None = None,
    y_new: ArrayLike | None = None,
    *,
    label_cost: float | ArrayLike = 2.0,
    norm: str = "l2",
    feature_cost: ArrayLike | str | None = None,
    n_splits: int = 10,
    random_state: int = 0,
) -> ObservedRadius:
    """Smallest radius of a ball around old rows that contains new ones.

    The type-1 Wasserstein distance of the two samples, in the cost of the ball: compare
    it with the radius that a classifier was trained for.

    Exact up to 2 000 rows where both samples have one size, else up to 100 000 pairs of
    rows (4 million where POT is installed).  Larger samples have bounds: the cost of a
    plan from above, distances of projections from below.  Labels count where both
    samples have them.

    Finite samples of one source are apart too, the more, the more features there are:
    ``noise_floor`` says how much.  It is measured between random parts of the old rows,
    and carried over to the sizes of the samples by the rate at which it falls from parts
    of half the size.  More new rows than old ones are not credited with less noise.
    ``drift`` is what is left of the radius, or of the distances of projections, without
    the largest noise of all divisions.

    Parameters
    ----------
    X_old : {array-like, sparse matrix} of shape (n_old, n_features)
        Features of the rows that the ball is around.
    X_new : {array-like, sparse matrix} of shape (n_new, n_features)
        Features of the rows that came later.
    y_old : array-like of shape (n_old,), default=None
        Labels of the old rows.
    y_new : array-like of shape (n_new,), default=None
        Labels of the new rows; all must be among the old ones.
    label_cost : float or array of shape (n_classes, n_classes), default=2.0
        Cost of changing a label, in the sorted order of the labels of ``y_old``.  With
        ``inf`` the distance is infinite as soon as the shares of the labels differ.
    norm : {"l1", "l2", "linf"}, default="l2"
        Norm of the transport cost on features.
    feature_cost : array-like of shape (n_features,), "std" or None, default=None
        Price of moving each feature by one unit; ``"std"`` measures movement in standard
        deviations of the old rows.  Pass ``feature_cost_`` of a fitted classifier to
        measure in its units.
    n_splits : int, default=10
        Random divisions of the old rows for the noise floor.
    random_state : int, default=0
        Seed of divisions, pieces and projections.

    Returns
    -------
    ObservedRadius
        The radius, its bounds and the noise floor.

    See Also
    --------
    wdrsvm.worst_case_risk : What a classifier promises within a radius.

    Examples
    --------
    >>> import numpy as np
    >>> from wdrsvm import observed_radius
    >>> rng = np.random.default_rng(0)
    >>> old, new = rng.normal(size=(300, 2)), rng.normal(size=(100, 2)) + [1.0, 0.0]
    >>> drift = observed_radius(old, new)
    >>> print(f"{drift.radius:.2f} {drift.noise_floor:.2f} {drift.drift:.2f}")
    1.07 0.36 0.76
    """
    features = _checked_pair(X_old, X_new)
    if not isinstance(n_splits, int | np.integer) or n_splits < 1:
        raise ValueError(f"n_splits must be an integer >= 1, got {n_splits!r}.")
    ball = WassersteinBall(0.0, label_cost, norm, _price(feature_cost, features[0]))
    labels, n_classes = _checked_labels(features, y_old, y_new)
    cost = TransportCost(ball.norm, ball.label_cost_matrix(n_classes))
    price = ball.feature_costs(features[0].shape[1])
    old, new = (_sample(X, y, price) for X, y in zip(features, labels, strict=True))
    rng = np.random.default_rng(random_state)
    lower, upper = bounds(cost, old, new, rng)
    noise = noise_of(cost, old, new, n_splits, rng)
    drift = _drift(upper, projected(cost, old, new, rng), noise)
    floor = float(np.mean(noise.radius))
    return ObservedRadius(upper, lower, upper, floor, drift, old.n_rows, new.n_rows)


def _drift(radius: float, on_lines: float, noise: Noise) -> float:
    if not np.isfinite(radius):
        return radius
    above = radius - max(noise.radius), on_lines - max(noise.on_lines)
    return float(max(0.0, *above))


def _checked_pair(X_old: Any, X_new: Any) -> list[Any]:
    pair = []
    for X, name in ((X_old, "X_old"), (X_new, "X_new")):
        features = check_array(X, accept_sparse="csr", dtype=np.float64, input_name=name)
        features = as_matrix(features)
        check_size(features)
        pair.append(features.toarray() if sparse.issparse(features) else features)
    if pair[0].shape[1] != pair[1].shape[1]:
        raise ValueError(
            f"X_new must have the {pair[0].shape[1]} features of X_old, got "
            f"{pair[1].shape[1]}."
        )
    if len(pair[0]) < 2:
        raise ValueError(f"X_old must have at least 2 rows, got {len(pair[0])}.")
    return pair


def _price(feature_cost: Any, old: Floats) -> Any:
    if not isinstance(feature_cost, str):
        return feature_cost
    if feature_cost != "std":
        raise ValueError(
            "feature_cost must be 'std', None or an array with one entry for each feature, "
            f"got {feature_cost!r}."
        )
    return 1 / column_deviations(old, np.ones(len(old)))


def _checked_labels(
    features: list[Any], y_old: Any, y_new: Any
) -> tuple[list[Codes | None], int]:
    """Codes of both samples, or of neither, and the number of labels."""
    if y_old is None or y_new is None:
        if y_new is not None:
            raise ValueError("y_old must be given where y_new is, got None.")
        return [None, None], 1
    classes = np.unique(column_or_1d(y_old))
    codes: list[Codes | None] = []
    unknown = np.setdiff1d(column_or_1d(y_new), classes)
    if len(unknown):
        raise ValueError(
            f"y_new must have labels of y_old only, {classes.tolist()}, got "
            f"{unknown.tolist()}."
        )
    for X, y in zip(features, (y_old, y_new), strict=True):
        check_consistent_length(X, y)
        codes.append(label_codes(y, classes))
    return codes, len(classes)


def _sample(X: Floats, y: Codes | None, price: Floats) -> Sample:
    moves = np.isfinite(price)
    return Sample(X[:, moves] * price[moves], X[:, ~moves], y)
