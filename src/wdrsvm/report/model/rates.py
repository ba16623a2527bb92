"""Error rates on a page: by class, next to the baselines, and against the movement."""

from __future__ import annotations

import numpy as np

from ...robustness.promises.errors.error_curve import ErrorCurve, percent
from ..line_chart import line_chart
from ..page import Part, Table, Text
from ..words import share
from .baselines import LOGISTIC
from .promise import Promise, Rates

N_POINTS = 100
# Curves are drawn up to this multiple of the page's movement.
TIMES = 4.0
# Of more classes than this, tables have the worst ones.
MANY_CLASSES = 20
HEADER = ("wrong as they stand", "wrong at most")


def rate_parts(promise: Promise) -> list[Part]:
    """The parts below the heading of error rates."""
    moved = promise.movement.told()
    return [
        _chart(promise),
        Text(
            f"Wrong at most: the largest share of wrong predictions if the rows move by "
            f"{moved} on average. Error rates compare across classifiers, whatever the "
            "scale of their scores."
        ),
        *rate_tables(promise),
        Text("Within a class: the rows of that class move so far on average."),
    ]


def rate_tables(promise: Promise) -> list[Table]:
    """Error rates beside the baselines, and within each class."""
    return [
        Table(
            f"Error rates if rows move by {promise.movement.told()}",
            ["classifier", *HEADER],
            _compared(promise),
        ),
        _by_class(promise),
    ]


def _by_class(promise: Promise) -> Table:
    """All classes in their order; of many classes, those that suffer most."""
    rates = list(promise.by_class.items())
    caption = "Error rates within each class"
    if len(rates) > MANY_CLASSES:
        rates = sorted(rates, key=lambda each: -each[1].worst_case_error)[:MANY_CLASSES]
        caption = f"Error rates within the {MANY_CLASSES} classes that suffer most"
    lines = [_line(str(name), each) for name, each in rates]
    return Table(caption, ["class", *HEADER], lines)


def _compared(promise: Promise) -> list[list[str]]:
    # The constant answer's error is measured, not bounded: moves do not change it.
    constant = share(promise.constant_error)
    lines = [
        _line("this model", promise.rates),
        [f"always {promise.largest_class}, the largest class", constant, constant],
    ]
    if promise.logistic is not None:
        lines.append(_line(promise.about_logistic, promise.logistic))
    return lines


def _line(name: str, rates: Rates) -> list[str]:
    return [name, share(rates.error), percent(rates.worst_case_error)]


def _chart(promise: Promise) -> Part:
    radii = np.linspace(0.0, TIMES * promise.movement.ball.radius, N_POINTS)
    curves = {"this model": _points(promise.curve, radii)}
    if promise.logistic_curve is not None:
        curves[LOGISTIC] = _points(promise.logistic_curve, radii)
    curves["largest class"] = [(radius, promise.constant_error) for radius in radii]
    movement = promise.movement
    caption = (
        "Largest share of wrong predictions against the movement of the rows; the vertical "
        f"line is at {movement.told()}."
    )
    first, last = (percent(promise.curve.at(radius)) for radius in radii[[0, -1]])
    alt = f"The model's curve rises from {first} at 0 to {last} at {radii[-1]:g}."
    xlabel, mark = f"movement, {movement.unit}", movement.ball.radius
    return line_chart(curves, xlabel, "wrong at most", caption, alt, mark=mark)


def _points(curve: ErrorCurve, radii: np.ndarray) -> list[tuple[float, float]]:
    return list(zip(radii.tolist(), curve.at(radii).tolist(), strict=True))
