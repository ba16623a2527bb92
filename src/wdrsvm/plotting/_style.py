"""How pictures look: colours, markers and line styles, on light and dark axes.

Nothing global is touched.  What is drawn in the colour of text follows the style that the
axes were made in.
"""

from __future__ import annotations

import importlib
from typing import Any

from ._matplotlib import pyplot

# Colours that people with any kind of colour vision tell apart (Okabe and Ito), without
# black and yellow, which vanish on dark and on light axes.
COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7"),
    *("#E69F00", "#56B4E9", "#888888"),
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
# Five, not seven: colours and styles repeat together only after thirty-five lines.
LINE_STYLES = ("-", "--", "-.", ":", (0, (3, 1, 1, 1, 1, 1)))


def axes_for(ax: Any, **subplot: Any) -> Any:
    """The axes that were given, or those of a new figure."""
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
    """Arguments of the line ``k``: what tells it from others, ``own``, then ``kwargs``."""
    told_apart = {"color": colour(k), "linestyle": LINE_STYLES[k % len(LINE_STYLES)]}
    lines = importlib.import_module("matplotlib.lines")
    cbook = importlib.import_module("matplotlib.cbook")
    given = cbook.normalize_kwargs(kwargs, lines.Line2D)
    return {**told_apart, **own, **given}


def ink(ax: Any) -> Any:
    """The colour of text on these axes."""
    return ax.xaxis.label.get_color()
