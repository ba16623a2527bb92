"""matplotlib, imported only when a plot is made."""

from __future__ import annotations

import importlib
from typing import Any


def pyplot() -> Any:
    """matplotlib.pyplot, or an error that says how to get it."""
    try:
        return importlib.import_module("matplotlib.pyplot")
    except ImportError:
        raise ImportError(
            'Pictures need matplotlib: pip install "wdrsvm[plot]" brings it.'
        ) from None
