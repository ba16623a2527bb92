"""Curves over a common axis, as a part of a page."""

from __future__ import annotations

from .figures import COLOURS, drawn, new_figure
from .page import Figure, Part, Text

# Inches: small, so that the letters can be read on the width of a phone.
WIDTH, HEIGHT = 5.6, 2.8


def line_chart(
    curves: dict[str, list[tuple[float, float]]],
    xlabel: str,
    ylabel: str,
    caption: str,
    alt: str,
    log: bool = False,
    mark: float | None = None,
) -> Part:
    """A figure of curves; if matplotlib is not installed, a sentence instead.

    ``mark`` is where a vertical line stands.
    """
    try:
        figure, ax = new_figure(WIDTH, HEIGHT)
    except ImportError as error:
        return Text(str(error))
    for k, (name, points) in enumerate(curves.items()):
        style = {"marker": "o", "markersize": 3} if log else {}
        dashes = "-" if k % 2 == 0 else "--"
        colour = COLOURS[k % len(COLOURS)]
        ax.plot(*zip(*points, strict=True), dashes, color=colour, label=name, **style)
    if mark is not None:
        ax.axvline(mark, color="#888888", linewidth=1, zorder=0)
    if log:
        ax.set_xscale("log")
    if len(curves) > 1:
        ax.legend(frameon=False)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.spines[["top", "right"]].set_visible(False)
    return Figure(drawn(figure, "svg"), caption, alt, is_narrow=True)
