"""Rows as features of a kernel, and classifiers on them as sums over training rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...kernels import Factor, factorise, kernel_of
from ...rows.blocks import dense_rows
from ...rows.canonical import NominalRows
from .parts import RobustPath


class Lifted(NamedTuple):
    """Rows whose features are those of a kernel, and the factor they come from."""

    rows: NominalRows
    factor: Factor

    def on_samples(self, path: RobustPath, n_samples: int) -> RobustPath:
        """The path with coefficients of the training rows."""
        shape, rank = path.coef.shape[:-1], path.coef.shape[-1]
        dual = self.factor.whitened(path.coef.reshape(-1, rank).T).T
        coef = np.zeros((len(dual), n_samples))
        coef[:, self.rows.source[self.factor.landmarks]] = dual
        return replace(path, coef=coef.reshape(*shape, n_samples))


def lift(kernel: Any, rows: NominalRows, n_samples: int, **parameters: Any) -> Lifted:
    """The rows in the feature space of a kernel."""
    found = kernel_of(kernel, X=rows.X, weight=rows.weight, **parameters)
    if found.is_precomputed:
        if rows.X.shape[1] != n_samples:
            raise ValueError(
                "X must be square for kernel='precomputed', the kernel values of all "
                f"pairs of training rows, got shape {(n_samples, rows.X.shape[1])}."
            )
        gram = dense_rows(rows.X[:, rows.source])
    else:
        gram = found(rows.X, rows.X)
    factor = factorise(gram, known_positive=found.is_known_positive)
    return Lifted(replace(rows, X=factor.features), factor)
