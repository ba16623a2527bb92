"""Print what lies in the package's folder but does not belong into an installation.

``leftovers.py FOLDER directories`` lists caches, ``leftovers.py FOLDER files`` the files
that only the build reads.  Everything else is installed, so no list can grow stale.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

CACHES = ("__pycache__", ".ruff_cache", ".mypy_cache")
BUILD_FILES = ("meson.build", "*.pyc", "*.so", "*.pyd", "*.nbi", "*.nbc", ".DS_Store")


def leftovers(folder: Path, kind: str) -> Iterator[Path]:
    """Paths below ``folder`` that stay out, relative to it."""
    patterns = CACHES if kind == "directories" else BUILD_FILES
    for pattern in patterns:
        yield from (path.relative_to(folder) for path in folder.rglob(pattern))


if __name__ == "__main__":
    for path in leftovers(Path(sys.argv[1]), sys.argv[2]):
        print(path.as_posix())
