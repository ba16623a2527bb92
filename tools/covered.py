"""``python -m tools.covered 95``: the share of lines and branches run, by folder.

Reads ``coverage.json`` of the run with the kernels uncompiled, in which their functions
are counted like others.  Every folder must reach the share, in lines and branches
together and in branches alone.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from pathlib import Path

REPORT = Path("coverage.json")


def folders(report: Path) -> dict[str, Counter[str]]:
    """Sums over the files of each folder."""
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    for name, file in json.loads(report.read_text())["files"].items():
        counts = {key: n for key, n in file["summary"].items() if isinstance(n, int)}
        sums[Path(name).parent.name].update(counts)
    return dict(sums)


def shares(counts: Counter[str]) -> tuple[float, float]:
    """Per cent of lines and branches together, and of branches alone."""
    branches = counts["covered_branches"], counts["num_branches"]
    both = counts["covered_lines"] + branches[0], counts["num_statements"] + branches[1]
    return 100 * both[0] / both[1], 100 * branches[0] / branches[1]


def main() -> int:
    """Print the shares; 1 if one of them is less than asked."""
    asked = float(sys.argv[1])
    found = {folder: shares(counts) for folder, counts in sorted(folders(REPORT).items())}
    for folder, (both, branches) in found.items():
        print(f"{folder:12} {both:6.1f} % covered, {branches:6.1f} % of the branches")
    return int(min(map(min, found.values())) < asked)


if __name__ == "__main__":
    raise SystemExit(main())
