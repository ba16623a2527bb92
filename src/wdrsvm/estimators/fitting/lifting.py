"""Map rows to features of a kernel; a kernel machine is linear in these features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

from ...kernels import Factor, Kernel, factorise, kernel_of, nystroem
from ...rows.blocks import dense_rows
from ...rows.canonical import NominalRows
from .steps import TrainingData, seed_of


@dataclass(frozen=True, eq=False)
class LiftedData(TrainingData):
    """Training data in the kernel's feature space, and the landmarks that define it.

    ``support_rows`` are the landmarks' inputs, None for a precomputed kernel.
    """

    kernel: Kernel
    factor: Factor
    support_rows: Any


def lifted(estimator: Any, data: TrainingData, n_samples: int) -> LiftedData:
    """The data in the feature space of the estimator's kernel."""
    kernel = kernel_of(
        estimator.kernel,
        gamma=estimator.gamma,
        degree=estimator.degree,
        coef0=estimator.coef0,
        kernel_params=estimator.kernel_params,
        X=data.rows.X,
        weight=data.rows.weight,
    )
    n_components = _checked_components(estimator.n_components)
    if kernel.is_precomputed:
        factor = _factor_of_values(kernel, data.rows, n_components, n_samples)
    elif n_components is not None and n_components < data.rows.X.shape[0]:
        seed = seed_of(estimator.random_state)
        factor = nystroem(kernel, data.rows.X, n_components, seed)
    else:
        gram = kernel(data.rows.X, data.rows.X)
        factor = factorise(gram, known_positive=kernel.is_known_positive)
    support = None if kernel.is_precomputed else data.rows.X[factor.landmarks]
    rows = replace(data.rows, X=factor.features)
    return LiftedData(rows, data.classes, data.codes, kernel, factor, support)


def _factor_of_values(
    kernel: Kernel, rows: NominalRows, n_components: int | None, n_samples: int
) -> Factor:
    """The factor of a precomputed kernel; ``rows`` hold the values of all pairs."""
    if n_components is not None:
        raise ValueError(
            "n_components must be None for kernel='precomputed', whose values "
            f"are all there already, got {n_components}."
        )
    if rows.X.shape[1] != n_samples:
        raise ValueError(
            "X must be square for kernel='precomputed', the kernel values of all "
            f"pairs of training rows, got shape {(n_samples, rows.X.shape[1])}."
        )
    gram = dense_rows(rows.X[:, rows.source])
    return factorise(gram, known_positive=kernel.is_known_positive)


def _checked_components(n_components: Any) -> int | None:
    if n_components is None:
        return None
    is_integer = isinstance(n_components, Integral) and not isinstance(n_components, bool)
    if not is_integer or n_components < 1:
        raise ValueError(
            f"n_components must be None or an integer >= 1, got {n_components!r}."
        )
    return int(n_components)
