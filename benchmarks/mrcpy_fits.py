"""MRCpy's linear 0-1 classifiers on exported splits, in an environment of its own.

``python mrcpy_fits.py FOLDER``: needs ``MRCpy==3.0.0`` and ``scikit-learn<1.6``, not this
package and no Gurobi: the programs are solved by Clarabel.  The width of its moment set is
the one of a few with the least bound of its own.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from MRCpy import MRC  # type: ignore[import-not-found]

WIDTHS = (0.3, 0.1, 0.03)


def fitted(X: Any, y: Any, width: float) -> Any:
    model = MRC(loss="0-1", phi="linear", solver="cvx", s=width, fit_intercept=True)
    model.cvx_solvers = ["CLARABEL"]
    return model.fit(X, y)


def main(folder: Path) -> None:
    warnings.simplefilter("ignore")
    for file in sorted(folder.glob("*.npz"), key=lambda each: each.stem.split("-")[::-1]):
        target = file.with_name(f"{file.stem}-fitted.npz")
        if file.stem.endswith("-fitted") or target.exists():
            continue
        data, began = np.load(file), time.process_time()
        models = [fitted(data["X"], data["y"], width) for width in WIDTHS]
        best = min(models, key=lambda model: model.upper_)
        intercept, coef = best.mu_[:, 0], best.mu_[:, 1:]
        scores = data["X"] @ coef.T + intercept
        agreement = np.mean(best.classes_[scores.argmax(axis=1)] == best.predict(data["X"]))
        np.savez(
            target,
            coef=coef,
            intercept=intercept,
            bound=best.upper_,
            agreement=agreement,
            seconds=time.process_time() - began,
        )
        print(file.stem, best.s, round(float(best.upper_), 3), agreement, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
