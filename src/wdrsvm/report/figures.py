"""Figures as files, PNG and SVG, and as parts of a page."""

from __future__ import annotations

import importlib
import io
from pathlib import Path
from typing import Any

from ..files import write_bytes
from ..plotting._style import COLOURS as PALETTE
from .page import Figure

# The colours of the displays, and more colours for long lists, because pages are light.
COLOURS = (*PALETTE[:6], "#000000", "#B8A800", "#888888", "#661100")
# Text is drawn as outlines and ids are fixed, so that a figure is the same on all machines.
STYLE = {"svg.fonttype": "path", "svg.hashsalt": "wdrsvm", "font.size": 9.0}


def new_figure(width: float = 8.0, height: float = 3.2, **grid: Any) -> tuple[Any, Any]:
    """A figure and its axes, made without pyplot, so that nothing global changes.

    Parameters
    ----------
    width, height : float
        Size in inches.
    **grid
        Given to ``Figure.subplots``.

    Returns
    -------
    tuple
        The figure, and its axes.
    """
    try:
        figure_class = importlib.import_module("matplotlib.figure").Figure
    except ImportError:
        raise ImportError(
            'Pages with figures need matplotlib: pip install "wdrsvm[plot]" brings it.'
        ) from None
    figure = figure_class(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(**grid)


def saved_figure(figure: Any, path: Path, caption: str, alt: str) -> Figure:
    """Save a figure as ``path`` with .png and .svg, and return it for a page.

    Parameters
    ----------
    figure : matplotlib Figure
        The figure to save.
    path : Path
        Name of the file without its ending.
    caption, alt : str
        Text below the figure, and text for readers who do not see it.

    Returns
    -------
    Figure
        The part of a page.
    """
    svg = drawn(figure, "svg")
    write_bytes(path.with_suffix(".svg"), svg)
    write_bytes(path.with_suffix(".png"), drawn(figure, "png"))
    return Figure(svg, caption, alt)


def drawn(figure: Any, kind: str) -> bytes:
    """The bytes of a figure as ``"svg"`` or ``"png"``."""
    matplotlib = importlib.import_module("matplotlib")
    content = io.BytesIO()
    metadata = {"Date": None} if kind == "svg" else {}
    with matplotlib.rc_context(STYLE):
        figure.savefig(content, format=kind, dpi=150, metadata=metadata)
    return content.getvalue()
