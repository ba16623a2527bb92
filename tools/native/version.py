#!/usr/bin/env python3
"""Print the version of the package, which stands in one file only."""

from pathlib import Path

VERSION_FILE = Path(__file__).parents[2] / "src" / "wdrsvm" / "version.py"

if __name__ == "__main__":
    names: dict[str, str] = {}
    exec(VERSION_FILE.read_text(encoding="utf-8"), names)
    print(names["__version__"])
