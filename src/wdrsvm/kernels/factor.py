r"""Features of a kernel: a factor Phi of the Gram matrix, Phi Phi' = K.

Both methods give a factor of one form.  The landmarks I are rows whose kernel functions
span the features.  With K[I, I] = R R', R lower triangular,

    Phi(x) = R^{-1} K(I, x).

Then Phi Phi' equals K on the landmarks and is at most K elsewhere.  The scores Phi M' + b
are K(., I) A' + b with the dual coefficients A = M R^{-1}.  Pivoted Cholesky adds landmarks
until K is explained.  Nystroem stops at a given number of landmarks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from ..arrays import Codes, Floats
from .functions import Kernel

# Share of K's mean diagonal that may stay unexplained in each row.
TOLERANCE = 1e-13
# Largest relative asymmetry and negative eigenvalue that are treated as rounding.
GRAM_TOLERANCE = 1e-6
# Pivots below this multiple of the largest negative eigenvalue are noise.
ABOVE_NOISE = 30.0
# Landmarks per draw.
LANDMARK_BLOCK = 64


@dataclass(frozen=True, eq=False)
class Factor:
    """Features (N, r) of the rows, their landmarks (r,), and the root R (r, r).

    ``dropped`` is the share of the trace of K that the features do not explain.
    """

    features: Floats
    landmarks: Codes
    root: Floats
    dropped: float

    def whitened(self, combination: Floats) -> Floats:
        """W with K(., I) W = Phi @ combination, for combinations (r, k) of features."""
        return np.asarray(
            linalg.solve_triangular(self.root, combination, trans="T", lower=True)
        )


def factorise(gram: Floats, *, known_positive: bool = True) -> Factor:
    """A factor of the whole Gram matrix by pivoted Cholesky; any rank is allowed.

    Raises ``ValueError`` for a matrix that is not symmetric positive semidefinite, up to
    rounding in single precision.
    """
    noise = 0.0
    if not known_positive:
        gram = _symmetric(gram)
        noise = _negative_part(gram)
    diagonal = np.diag(gram).copy()
    rounding = len(gram) * np.finfo(float).eps * float(diagonal.max())
    tol = max(TOLERANCE * float(diagonal.mean()), rounding, ABOVE_NOISE * noise)
    # LAPACK replaces a tolerance below zero by its default.
    packed, pivots, rank, _ = linalg.lapack.dpstrf(gram.T, tol=max(tol, 0.0), lower=1)
    features = np.zeros((len(gram), max(rank, 1)))
    order = pivots - 1
    features[order, :rank] = np.tril(packed[:, :rank])
    landmarks = order[: features.shape[1]].astype(np.intp)
    if rank == 0:
        return Factor(features, landmarks, np.ones((1, 1)), 0.0)
    left = np.maximum(diagonal - (features**2).sum(axis=1), 0.0)
    return Factor(features, landmarks, features[landmarks], left.sum() / diagonal.sum())


def _symmetric(gram: Floats) -> Floats:
    largest = float(np.abs(gram).max())
    asymmetry = float(np.abs(gram - gram.T).max())
    if asymmetry > GRAM_TOLERANCE * largest:
        raise ValueError(
            f"The kernel matrix of the training rows must be symmetric, but it differs "
            f"from its transpose by {asymmetry:.2g}."
        )
    return np.asarray((gram + gram.T) / 2)


def _negative_part(gram: Floats) -> float:
    """Size of the least eigenvalue if it is negative, else 0; refused beyond rounding."""
    values = linalg.eigvalsh(gram)
    if values[0] < -GRAM_TOLERANCE * np.abs(values).max():
        raise ValueError(
            f"The kernel matrix of the training rows must be positive semidefinite, but "
            f"its least eigenvalue is {values[0]:.2g}."
        )
    return max(0.0, -float(values[0]))


def nystroem(kernel: Kernel, rows: Any, n_components: int, seed: int) -> Factor:
    """A factor with at most ``n_components`` landmarks, by randomly pivoted Cholesky.

    Landmarks are drawn in blocks.  The probability of a row is proportional to the part of
    its diagonal entry that the features do not explain yet (Chen, Epperly, Tropp and
    Webber, 2025).  Only the kernel values of landmarks are computed.
    """
    rng = np.random.default_rng(seed)
    diagonal = kernel.diagonal(rows)
    left = diagonal.copy()
    features = np.zeros((len(left), n_components))
    landmarks: list[int] = []
    tol = TOLERANCE * float(diagonal.mean())
    while len(landmarks) < n_components and left.max() > tol:
        wanted = min(LANDMARK_BLOCK, n_components - len(landmarks))
        size = min(wanted, int(np.count_nonzero(left)))
        drawn = rng.choice(len(left), size, replace=False, p=left / left.sum())
        known = features[:, : len(landmarks)]
        lacking = kernel(rows, rows[drawn]) - known @ known[drawn].T
        kept, block = _block_features(lacking, drawn, tol)
        features[:, len(landmarks) : len(landmarks) + len(kept)] = block
        landmarks.extend(kept.tolist())
        left = np.maximum(left - (block**2).sum(axis=1), 0.0)
        left[landmarks] = 0.0
    found = np.array(landmarks, dtype=np.intp)
    features = np.ascontiguousarray(features[:, : len(found)])
    return Factor(
        features, found, np.tril(features[found]), float(left.sum() / diagonal.sum())
    )


def _block_features(lacking: Floats, drawn: Codes, tol: float) -> tuple[Codes, Floats]:
    """Features (N, b) from the columns of some landmarks; redundant ones are left out."""
    packed, pivots, rank, _ = linalg.lapack.dpstrf(lacking[drawn], tol=tol, lower=1)
    order = pivots[:rank] - 1
    root = np.tril(packed[:rank, :rank])
    block = linalg.solve_triangular(root, lacking[:, order].T, lower=True).T
    return drawn[order], np.asarray(block)
