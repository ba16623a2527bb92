"""Names that a user may have meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

# Names that share this much are typing errors of each other; with less, others match too.
SIMILAR = 0.75


def perhaps(given: str, known: Iterable[str]) -> str:
    """The most similar name as a part of a sentence; empty if no name is similar.

    Examples
    --------
    >>> from wdrsvm.cli.nearest import perhaps
    >>> perhaps("spezies", ["island", "species"])
    "; perhaps 'species' is meant"
    """
    names = {name.casefold(): name for name in known}
    found = get_close_matches(given.casefold(), names, n=1, cutoff=SIMILAR)
    return f"; perhaps {names[found[0]]!r} is meant" if found else ""


def perhaps_file(path: Path) -> str:
    """The most similar file in the folder of a file that is not there."""
    if not path.parent.is_dir():
        return f"; there is no folder {path.parent}"
    files = [each.name for each in path.parent.iterdir() if each.is_file()]
    return perhaps(path.name, files)
