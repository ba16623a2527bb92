"""Finds missing data files before an experiment needs them."""

from __future__ import annotations

from collections.abc import Iterable

from . import judging
from .tables import AI4I, MUSIC, NEWS20, PENGUINS, SEEDS, STEEL, WINE_QUALITY, load

_FILES = {
    "penguins": PENGUINS,
    "seeds": SEEDS,
    "ai4i": AI4I,
    "ai4i_single_fault": AI4I,
    "steel_plates": STEEL,
    "winequality_red": WINE_QUALITY,
    "music_genre": MUSIC,
    "news20": NEWS20,
    **judging.SOURCES,
}


def missing_files(names: Iterable[str]) -> list[str]:
    """The missing files of these tables, after an attempt to download each of them."""
    missing = []
    for name in names:
        try:
            load(name)
        except (FileNotFoundError, ConnectionError):
            missing.append(_FILES[name].file)
    return missing
