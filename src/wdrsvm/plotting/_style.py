"""The style of all plots: colours, markers and line styles, on light and dark axes.

No global setting changes.  Elements in the colour of text use the text colour of the axes.
"""

from __future__ import annotations

import importlib
from typing import Any, Self

from ._matplotlib import pyplot

# Colours that people with any kind of colour vision can distinguish (Okabe and Ito).  Black
# and yellow are left out, because they are hard to see on dark and on light axes.
COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7"),
    *("#E69F00", "#56B4E9", "#888888"),
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
# Five styles for seven colours: the same pair repeats only after thirty-five lines.
LINE_STYLES = ("-", "--", "-.", ":", (0, (3, 1, 1, 1, 1, 1)))


class Display:
    """What all displays share: the axes of the last plot, and their figure."""

    ax_: Any
    figure_: Any

    def _drawn_on(self, ax: Any) -> Self:
        self.ax_, self.figure_ = ax, ax.figure
        return self


def axes_for(ax: Any, **subplot: Any) -> Any:
    """The given axes, or the axes of a new figure."""
    if ax is not None:
        return ax
    return pyplot().subplots(layout="constrained", subplot_kw=subplot)[1]


def colour(k: int) -> str:
    """The colour of the class or line ``k``."""
    return COLOURS[k % len(COLOURS)]


def marker(k: int) -> str:
    """The marker of the class or line ``k``."""
    return MARKERS[k % len(MARKERS)]


def line_style(k: int, kwargs: Any, **own: Any) -> dict[str, Any]:
    """Arguments for the line ``k``: its colour and style, then ``own``, then ``kwargs``.

    Later arguments replace earlier ones.
    """
    told_apart = {"color": colour(k), "linestyle": LINE_STYLES[k % len(LINE_STYLES)]}
    lines = importlib.import_module("matplotlib.lines")
    cbook = importlib.import_module("matplotlib.cbook")
    given = cbook.normalize_kwargs(kwargs, lines.Line2D)
    return {**told_apart, **own, **given}


def ink(ax: Any) -> Any:
    """The colour of text on these axes."""
    return ax.xaxis.label.get_color()
