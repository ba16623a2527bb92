"""Tables on which no rule of this package was fixed.

Studies judge on these tables.  None of them is downloaded: put the files in the folder that
``WDRSVM_DATA`` names.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._bunch import bunch, column, csv_columns, labelled, numbers
from ._sources import Source, content

_UCI = "It is table {} of the UCI Machine Learning Repository."
_UCR = "It is from the UCR time series archive."
_EMBEDDED = "It holds sentence embeddings (all-MiniLM-L6-v2) of the questions of {}."

ABALONE = Source(
    "benchmark/abalone.csv",
    "0daec39b47c60ca786f5c9a60574ec71b1c616f5c1e63b447080c70b06d1e43f",
    origin=_UCI.format(1),
)
CONTRACEPTIVE = Source(
    "benchmark/contraceptive.csv",
    "ebb0452c32546b42132264eae97b3e52ae6ddf6e2b1ce69dc0fe513207f67585",
    origin=_UCI.format(30),
)
LIBRAS = Source(
    "benchmark/movement_libras.csv",
    "20c224117d7d8175eca40bcde80052649560003cde9af2a96a51a92dbc92cf8c",
    origin=_UCI.format(181),
)
SHUTTLE = Source(
    "benchmark/shuttle.npz",
    "3f39949812ba7fdb39ed1e4368acf1964177400a7ff4f23b19efb616196e1e37",
    origin=_UCI.format(148),
)
MNIST = Source(
    "benchmark/mnist_5k.npz",
    "f3e6d292bf7c57144cfd98aa5b338adafdce7ef77e70a9896dac0bb5f821a0ad",
    origin="It holds 500 images per digit of MNIST.",
)
FASHION = Source(
    "benchmark/fashion_mnist_train15k.npz",
    "ae4e6ef40d056b585d3eb602d2b088aefeb2fa54d27392cff45789dacbdb409f",
    origin="It holds the first 15 000 training images of Fashion-MNIST.",
)
ACSF1 = Source(
    "benchmark/acsf1.npz",
    "c7ae982ea3f18f46b8f039de1e812f390f27929c4091edd94b95b64afff483c7",
    origin=_UCR,
)
OSULEAF = Source(
    "benchmark/osuleaf.npz",
    "fff7c21d043da3e2f235144ffa6ff57780e98dce799ca82c66870e452207054b",
    origin=_UCR,
)
BANKING = Source(
    "benchmark/banking77_minilm.npz",
    "b11b9b658fa220c9724cc245568230e231e790390668066ff669d3f69f7a1eaa",
    origin=_EMBEDDED.format("Banking77"),
)
CLINC = Source(
    "benchmark/clinc150_minilm.npz",
    "4dae5989e256d66b19ddba8ebd698d35651c0cd27cf4110b3d4218b715ede5ec",
    origin=_EMBEDDED.format("CLINC150"),
)


def _load_abalone(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Measurements of shellfish; the label is the number of rings.

    The text column becomes two columns of zeros and ones.
    """
    table = csv_columns(content(ABALONE), ABALONE.file)
    measured = tuple(name for name in table if name not in ("sex", "class"))
    sex = column(table, "sex", ABALONE.file)
    X = np.column_stack(
        [numbers(table, measured, ABALONE.file), *((sex == kind) for kind in "IM")]
    )
    rings = column(table, "class", ABALONE.file).astype(int)
    names, target = np.unique(rings, return_inverse=True)
    features = (*measured, "sex_I", "sex_M")
    return bunch(X, target, features, names, ABALONE.origin, return_X_y, as_frame)


def _load_arrays(source: Source) -> Callable[..., Any]:
    """A loader of rows and labels; test rows of embeddings are entries of the Bunch."""

    def loader(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
        with np.load(io.BytesIO(content(source))) as stored:
            parts = {name: stored[name] for name in stored}
        X = parts["X"].astype(float)
        names = parts["names" if "names" in parts else "classes"]
        features = tuple(f"x{d}" for d in range(X.shape[1]))
        target = parts["y"].astype(np.intp)
        found = bunch(X, target, features, names, source.origin, return_X_y, as_frame)
        if not return_X_y and "X_test" in parts:
            found.update(_test_rows(parts))
        return found

    return loader


def _test_rows(parts: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {
        "data_test": parts["X_test"].astype(float),
        "target_test": parts["y_test"].astype(np.intp),
    }


SOURCES = {
    "abalone": ABALONE,
    "contraceptive": CONTRACEPTIVE,
    "movement_libras": LIBRAS,
    "shuttle": SHUTTLE,
    "mnist_5k": MNIST,
    "fashion_mnist": FASHION,
    "acsf1": ACSF1,
    "osuleaf": OSULEAF,
    "banking77": BANKING,
    "clinc150": CLINC,
}
LOADERS: dict[str, Callable[..., Any]] = {
    name: _load_arrays(source)
    for name, source in SOURCES.items()
    if source.file.endswith(".npz")
} | {
    "abalone": _load_abalone,
    "contraceptive": labelled(CONTRACEPTIVE),
    "movement_libras": labelled(LIBRAS),
}
