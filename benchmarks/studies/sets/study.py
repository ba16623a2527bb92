"""Do sets keep their coverage?  Fresh rows as they are, and after the worst shift.

``python -m benchmarks.studies.sets.study [--calibrations 100] [--csv FILE]``

Each calibration draws its own training, calibration and fresh rows.  The worst shift is
exact: the least coverage over the ball around the fresh rows.  ``mapie_sizes.py`` gives the
sizes of MAPIE's sets for the same rows.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from wdrsvm import RobustConformalClassifier, WassersteinBall

from ..frame import print_lines, write_lines
from .data import COVERAGES, SOURCES, drawn

RADII = (0.0, 0.02, 0.05)


def line(source: str, coverage: float, radius: float, n: int) -> list[str]:
    """Coverage without shift and under the worst shift, and sizes, with standard errors."""
    found = []
    for seed in range(n):
        data = drawn(source, seed)
        sets = RobustConformalClassifier(
            data.model,
            coverage,
            ball=WassersteinBall(radius),
            cv="prefit",
            random_state=seed,
        ).fit(data.X, data.y)
        held = sets.predict_set(data.X_new)
        plain = held[np.arange(len(held)), data.y_new].mean()
        worst = sets.worst_case_coverage(data.X_new, data.y_new)
        found.append([100 * plain, 100 * worst, held.sum(axis=1).mean()])
    mean, error = np.mean(found, axis=0), np.std(found, axis=0, ddof=1) / np.sqrt(n)
    is_kept = (mean[:2] >= 100 * coverage - 2 * error[:2]).all()
    cells = [f"{m:.1f} ({e:.1f})" for m, e in zip(mean[:2], error[:2], strict=True)]
    size = f"{mean[2]:.2f} ({error[2]:.2f})"
    promise = f"{100 * coverage:g}"
    return [source, f"{radius:g}", promise, *cells, "yes" if is_kept else "failed", size]


def main(arguments: Sequence[str] | None = None) -> list[list[str]]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calibrations", type=int, default=100)
    parser.add_argument("--csv", type=Path)
    given = parser.parse_args(arguments)
    names = ["no shift, %", "worst shift, %", "kept", "labels per set"]
    lines = [["source", "radius", "promised, %", *names]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for source in SOURCES:
            for coverage in COVERAGES:
                lines += [line(source, coverage, r, given.calibrations) for r in RADII]
    print_lines(lines, 18)
    if given.csv is not None:
        write_lines(lines, given.csv)
    return lines


if __name__ == "__main__":
    main()
