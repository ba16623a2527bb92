"""The page with two sliders: how radius and label cost change a classifier of two features.

All classifiers of a grid are computed before the page is written.  The page contains the
coefficients (M, b) of each classifier, and the rows that its worst case changes.  It needs
neither a server nor the network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_array, check_consistent_length

from ..inputs.arrays import observed_classes
from ..problem import WassersteinBall
from ..robustness import RobustPath, error_curve, robust_path, worst_case_distribution
from ..robustness.paths.grids import checked_label_costs
from ..robustness.promises.worst_case import LinearScores
from .model.baselines import Baselines
from .model.promise import DEVIATIONS, Movement, Promise, promise_of
from .page import Bullets, Facts, Page, Part, Section, Text, templates

LABEL_COSTS = (0.25, 0.5, 1.0, 2.0, 4.0, np.inf)
# Largest number of rows on the page; more markers hide each other and enlarge the page.
MAX_ROWS = 1000
# Mass that the last part of the budget moves.  It is so small that the risk is nearly the
# supremum, and so large that the move can be drawn.
TAIL_MASS = 0.01
MARGIN = 0.06
# If the scores vary by less than this over all rows, the classifier counts as constant.
CONSTANT = 1e-2
DIGITS = 9

LEAD = (
    "Move the sliders: a larger radius lets an adversary move the rows farther, a smaller "
    "label cost lets it change more labels, and every classifier shown is the one with the "
    "least worst-case risk. The text says how many rows it classifies wrongly, and how "
    "many at most if the rows move by the radius on average."
)
EXPLANATION = (
    "Wrong at most: the largest share of wrong predictions if the rows move by the radius "
    "on average and labels stay. Error rates compare across classifiers; a loss grows with "
    "the scale of the scores.",
    "Shaded: the class that the classifier predicts. Small markers: the rows, with the "
    "marker of their given label.",
    "Open markers around a row: the worst case gives it this label; the larger, the more "
    "of the row's weight.",
    "Arrow: the worst case moves weight of this row so far; the end of a long one is cut. "
    "Less weight that moves farther comes closer to the certified risk, which no "
    "distribution within the radius exceeds.",
    "Features are standardised: the radius is in standard deviations, the axes are in the "
    "units of the table.",
)


@dataclass(frozen=True, eq=False)
class Plane:
    """Standardised rows of two features, and the scales for axes in the original units."""

    X: Any
    y: Any
    classes: Any
    names: Sequence[str]
    centre: Any
    scale: Any

    @property
    def labels(self) -> Any:
        """The label of each row."""
        return self.classes[self.y]

    @property
    def window(self) -> tuple[Any, Any]:
        """The corners of the drawn region."""
        low, high = self.X.min(axis=0), self.X.max(axis=0)
        return low - MARGIN * (high - low), high + MARGIN * (high - low)


@dataclass(frozen=True)
class Explorer(Part):
    """The sliders and pictures, a part of a page; they need its script and style.

    ``promise`` is about the classifier that is shown first.
    """

    data: dict[str, Any]
    radius: int
    cost: int
    promise: Promise


def explore_page(
    X: ArrayLike,
    y: ArrayLike,
    *,
    radii: int | ArrayLike = 25,
    label_costs: Sequence[float] = LABEL_COSTS,
    norm: str = "l2",
    names: Sequence[str] | None = None,
    title: str = "Radius and label cost",
) -> Page:
    """A page with sliders for radius and label cost over two features.

    Parameters
    ----------
    X : array-like of shape (n_samples, 2)
        The two features; they are standardised.
    y : array-like of shape (n_samples,)
        Labels.
    radii : int or array-like of shape (n_radii,), default=25
        Radii > 0 in standard deviations, or the number of radii below
        :func:`~wdrsvm.radius_max`.
    label_costs : sequence of float, default=(0.25, 0.5, 1.0, 2.0, 4.0, inf)
        Label costs > 0.
    norm : {"l1", "l2", "linf"}, default="l2"
        Norm of the transport cost on features.
    names : sequence of str, default=None
        Names of the two features; None takes those of a data frame's columns.
    title : str, default="Radius and label cost"
        Title of the page.

    Returns
    -------
    Page
        The page; its method ``write`` makes the file.  If there are more than 1000 rows,
        it shows 1000, spread evenly over the classes; the classifiers are fitted to these.

    See Also
    --------
    wdrsvm.robust_path : The classifiers on the page.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from wdrsvm.report import explore_page
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> page = explore_page(X[["flavanoids", "hue"]], y, radii=3, label_costs=[1.0])
    >>> page.sections[0].heading
    'Sliders'
    """
    costs = _checked_costs(label_costs)
    plane, n_given = _plane(X, y, names)
    path = robust_path(plane.X, plane.y, _checked_radii(radii), costs, norm=norm)
    order = np.argsort(path.radii)
    rivals = Baselines.learned(plane.X, plane.labels)
    data = _told(plane, path, order, norm) | _told_of(rivals, plane, path, order, norm)
    r, k = len(order) // 2, len(costs) // 2
    start = Explorer(data, r, k, _promise(plane, path, (order[r], k), norm, rivals))
    facts = {
        "rows": len(plane.X) if len(plane.X) == n_given else f"{len(plane.X)} of {n_given}",
        "transport norm": norm,
        "classifiers": path.objective.size,
        "largest duality gap among them": float((path.objective - path.dual_bound).max()),
    }
    sections = [
        Section("Sliders", [start]),
        Section("What is shown", [Bullets(EXPLANATION), Facts(facts), Text(_SOURCE)]),
    ]
    script, style = (
        templates().get_template(f"explore.{kind}").render() for kind in ("js", "css")
    )
    return Page(title, LEAD, sections, script=script, style=style)


_SOURCE = (
    "Training risk and training error are computed in the page from the coefficients and "
    "the rows; worst-case error, certified risk and worst case are those that the library "
    "found."
)


def _checked_costs(label_costs: Any) -> list[float]:
    costs = checked_label_costs(label_costs)
    if any(np.ndim(cost) or not cost > 0 for cost in costs):
        raise ValueError(f"label_costs must be numbers > 0, got {label_costs!r}.")
    return sorted(costs)


def _checked_radii(radii: Any) -> Any:
    if np.ndim(radii) and not np.all(np.asarray(radii, dtype=float) > 0):
        raise ValueError(
            f"radii must be > 0, for their slider is logarithmic, got {radii}."
        )
    return radii


def _plane(X: Any, y: Any, names: Sequence[str] | None) -> tuple[Plane, int]:
    """The rows that are shown, and the number of given rows."""
    columns = getattr(X, "columns", ["first feature", "second feature"])
    names = [str(name) for name in (columns if names is None else names)]
    rows = check_array(X, dtype=np.float64, input_name="X")
    if rows.shape[1] != 2 or len(names) != 2:
        raise ValueError(f"X must have two features and two names, got {rows.shape[1]}.")
    classes, codes = observed_classes(y)
    check_consistent_length(rows, codes)
    n_given, chosen = len(codes), _spread(codes)
    rows, codes = rows[chosen], codes[chosen]
    centre, scale = rows.mean(axis=0), rows.std(axis=0)
    if not (scale > 0).all():
        raise ValueError(f"{names[int(scale.argmin())]} must have more than one value.")
    rows = (rows - centre) / scale
    return Plane(rows, codes, classes, names, centre, scale), n_given


def _spread(codes: Any) -> Any:
    """All rows, or MAX_ROWS of them, spread over the classes, at least two per class."""
    if len(codes) <= MAX_ROWS:
        return np.arange(len(codes))
    by_class = np.argsort(codes, kind="stable")
    even = by_class[np.linspace(0, len(codes) - 1, MAX_ROWS).round().astype(int)]
    first = [np.flatnonzero(codes == code)[:2] for code in np.unique(codes)]
    return np.unique(np.concatenate([even, *first]))


def _told(plane: Plane, path: RobustPath, order: Any, norm: str) -> dict[str, Any]:
    """All values that the script draws, as plain numbers and texts."""
    return {
        "X": _short(plane.X),
        "y": plane.y.tolist(),
        "classes": [str(name) for name in plane.classes],
        "names": list(plane.names),
        "centre": _short(plane.centre),
        "scale": _short(plane.scale),
        "window": [_short(corner) for corner in plane.window],
        "radii": _short(path.radii[order]),
        "labelCosts": [None if np.isinf(cost) else cost for cost in path.label_costs],
        "models": [
            [_model(plane, path, r, k, norm) for k in range(len(path.label_costs))]
            for r in order
        ],
    }


def _told_of(
    rivals: Baselines, plane: Plane, path: RobustPath, order: Any, norm: str
) -> dict[str, Any]:
    """The baselines on the same rows, at all radii."""
    calm = Movement(WassersteinBall(0.0, norm=norm), DEVIATIONS)
    found = promise_of(rivals.logistic, plane.X, plane.labels, rivals, calm)
    return {
        "largest": str(found.largest_class),
        "constantError": _short(found.constant_error),
        "logisticError": _short(found.rates.error),
        "logisticWorst": _short(found.curve.at(path.radii[order])),
    }


def _promise(
    plane: Plane, path: RobustPath, point: tuple[int, int], norm: str, rivals: Baselines
) -> Promise:
    """The promise of a point of the path, if rows move by the radius of the point."""
    scores = LinearScores(path.coef[point], path.intercept[point], plane.classes)
    ball = WassersteinBall(float(path.radii[point[0]]), norm=norm)
    movement = Movement(ball, DEVIATIONS)
    return promise_of(scores, plane.X, plane.labels, rivals, movement)


def _errors(plane: Plane, scores: LinearScores, ball: WassersteinBall) -> dict[str, Any]:
    """The worst-case error without label changes, and the class with the largest one."""
    moving = WassersteinBall(ball.radius, norm=ball.norm)
    curve = error_curve(scores, plane.X, plane.y, moving)
    by_class = {c: each.at(ball.radius) for c, each in curve.by_class.within.items()}
    suffers = max(by_class, key=lambda code: by_class[code])
    return {
        "worst": _short(curve.at(ball.radius)),
        "suffers": [int(suffers), _short(by_class[suffers])],
    }


def _model(plane: Plane, path: RobustPath, r: int, k: int, norm: str) -> dict[str, Any]:
    scores = LinearScores(path.coef[r, k], path.intercept[r, k], np.unique(plane.y))
    ball = WassersteinBall(float(path.radii[r]), path.label_costs[k], norm)
    worst = worst_case_distribution(scores, plane.X, plane.y, ball, tail_mass=TAIL_MASS)
    flipped, moved = worst.kind == "flipped", worst.kind == "moved"
    # The mass as a share of the row; all rows have the same weight.
    share = _short(worst.weight * len(plane.X))
    return {
        "M": _short(scores.coef),
        "b": _short(scores.intercept),
        "objective": _short(path.objective[r, k]),
        **_errors(plane, scores, ball),
        "attained": _short(worst.risk),
        "spent": _short(worst.transport_cost),
        "constant": bool(np.ptp(plane.X @ scores.coef.T, axis=0).max() < CONSTANT),
        "flips": [
            [int(worst.source[i]), int(worst.y[i]), share[i]]
            for i in np.flatnonzero(flipped)
        ],
        "moves": [
            [
                int(worst.source[i]),
                *_short(worst.X[i]),
                int(worst.y[i]),
                _short(worst.weight[i]),
            ]
            for i in np.flatnonzero(moved)
        ],
    }


def _short(values: Any) -> Any:
    """Plain numbers with as many digits as the page can show."""
    if np.ndim(values):
        return [_short(each) for each in values]
    return float(f"{float(values):.{DIGITS}g}")
