"""Files of data on which no setting of a solver was chosen: they judge the speed.

They are read from the folder that ``WDRSVM_DATA`` names.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer

from .data import Floats, Rows

N_COMPONENTS = 256


def unseen() -> list[str]:
    """The names of the sets whose files are there."""
    return [name for name, (file, _) in SETS.items() if _path(file).is_file()]


def unseen_rows(name: str) -> Rows:
    """All rows of a set."""
    file, read = SETS[name]
    X, labels = read(_path(file))
    codes = np.unique(labels, return_inverse=True)[1]
    return Rows(X, codes.astype(np.intp))


def _path(file: str) -> Path:
    return Path(os.environ.get("WDRSVM_DATA", ".")) / "benchmark" / file


def _arrays(path: Path) -> tuple[Floats, Floats]:
    with np.load(path) as file:
        labels = file["y"].astype(np.float64)
        return file["X"].reshape(len(labels), -1).astype(np.float64), labels


def _table(path: Path) -> tuple[Floats, Floats]:
    """A table whose last column has the labels."""
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    return table[:, :-1], table[:, -1]


def _components(path: Path, n_components: int = N_COMPONENTS) -> tuple[Floats, Floats]:
    """The first components of the texts' tf-idf, which are dense like embeddings."""
    with np.load(path) as file:
        parts = file["data"], file["indices"], file["indptr"]
        counts, labels = sparse.csr_array(parts, shape=tuple(file["shape"])), file["y"]
    weights = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    return TruncatedSVD(n_components, random_state=0).fit_transform(weights), labels


Reader = Callable[[Path], tuple[Floats, Floats]]
SETS: dict[str, tuple[str, Reader]] = {
    "news20, 256 components": ("news20_counts.npz", _components),
    "digits": ("mnist_5k.npz", _arrays),
    "shuttle": ("shuttle.npz", _arrays),
    "leaves": ("osuleaf.npz", _arrays),
    "appliances": ("acsf1.npz", _arrays),
    "hand movements": ("movement_libras.csv", _table),
}
