"""Tables by name, as scikit-learn Bunches."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import datasets as sklearn_datasets
from sklearn.utils import Bunch

from ..arrays import Codes, Flags
from . import judging
from ._bunch import bunch, column, csv_columns, labelled, numbers
from ._sources import Source, checked, content, is_on_this_machine

UCI = "https://archive.ics.uci.edu/static/public"


def _seeds_csv(raw: bytes) -> bytes:
    """The CSV file; the UCI file has single and double tabs, and no header."""
    lines = [",".join(line.split()) for line in raw.decode().splitlines() if line.strip()]
    return ("\n".join([",".join(SEEDS_COLUMNS), *lines]) + "\n").encode()


def _without_mark(raw: bytes) -> bytes:
    """The same text with Unix line ends and without a byte-order mark."""
    return raw.decode("utf-8-sig").replace("\r\n", "\n").encode()


def _wine_quality_csv(raw: bytes) -> bytes:
    """The CSV file; the UCI file has semicolons, quoted names, and the label "quality"."""
    header, *lines = raw.decode().replace("\r\n", "\n").strip().split("\n")
    names = header.replace('"', "").replace(" ", "_").removesuffix("quality") + "class"
    return ("\n".join([names, *lines]) + "\n").replace(";", ",").encode()


SEEDS_COLUMNS = (
    *("area", "perimeter", "compactness", "length_of_kernel", "width_of_kernel"),
    *("asymmetry_coefficient", "length_of_kernel_groove", "class"),
)
SEEDS = Source(
    "seeds.csv",
    "79b074005926f2e109a59f45507051992f0914b2b120187917fea16a75f62df4",
    f"{UCI}/236/seeds.zip",
    "seeds_dataset.txt",
    _seeds_csv,
)
AI4I = Source(
    "ai4i2020.csv",
    "53d0e7b71f760829a91ec3a9df54c0f044836074a227fe5be5a06bedd0cb1125",
    f"{UCI}/601/ai4i+2020+predictive+maintenance+dataset.zip",
    "ai4i2020.csv",
    _without_mark,
)
PENGUINS = Source(
    "penguins.csv", "f204db2c753b0937caac3cb35258562c14f073e4bbc76be24b4c51ce22767a93"
)
STEEL = Source(
    "benchmark/steel_plates_faults.csv",
    "f6e5a2496e40356726bc2847cd7c016fb5611dffdb8033a13f7fec4c933fd191",
)
WINE_QUALITY = Source(
    "benchmark/winequality_red.csv",
    "ce5ad92739f610e94acde5af76397033e61c050cac5f529866d2c08e93865cd8",
    f"{UCI}/186/wine+quality.zip",
    "winequality-red.csv",
    _wine_quality_csv,
)
MUSIC = Source(
    "benchmark/music_genre_crowd.npz",
    "b6badf71e148cba573ab8cb1c70a4f7cf4faf90d9009249ea79e507b8103488f",
    origin="It holds the features, labels and votes of Rodrigues, Pereira and Ribeiro's "
    "music genres (Pattern Recognition Letters, 2013), which cannot be passed on.",
)
NEWS20 = Source(
    "benchmark/news20_counts.npz",
    "8e56da91a8353bbb7dc4fd7a91e2931eca542d66446489df50c1a7193f411657",
)

AI4I_FEATURES = (
    "Air temperature [K]",
    "Process temperature [K]",
    "Rotational speed [rpm]",
    "Torque [Nm]",
    "Tool wear [min]",
)
# From the rarest to the most frequent; a row with several faults gets the rarest of them.
AI4I_FAULTS = ("TWF", "PWF", "OSF", "HDF")
PENGUIN_FEATURES = (
    "bill_length_mm",
    "bill_depth_mm",
    "flipper_length_mm",
    "body_mass_g",
)


def fetch_seeds(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Seven measurements of the grains of three varieties of wheat, 210 rows (UCI 236).

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return features and labels only.
    as_frame : bool, default=False
        Whether features and labels are pandas objects.

    Returns
    -------
    Bunch or pair
        ``data``, ``target``, ``feature_names``, ``target_names``, ``DESCR``, ``frame``; or
        data and target.

    Examples
    --------
    >>> from wdrsvm.datasets import fetch_seeds
    >>> seeds = fetch_seeds()  # doctest: +SKIP
    >>> seeds.data.shape  # doctest: +SKIP
    (210, 7)
    """
    table = csv_columns(content(SEEDS), SEEDS.file)
    X = numbers(table, SEEDS_COLUMNS[:-1], SEEDS.file)
    target = column(table, "class", SEEDS.file).astype(int) - 1
    names = np.array(["Kama", "Rosa", "Canadian"])
    text = "Seeds, UCI Machine Learning Repository 236, doi:10.24432/C5H30K, CC BY 4.0."
    return bunch(X, target, SEEDS_COLUMNS[:-1], names, text, return_X_y, as_frame)


def fetch_ai4i(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Five measurements of a milling machine and its faults, very imbalanced (UCI 601).

    The classes are healthy (no fault and no machine failure), TWF, HDF, PWF and OSF.  A row
    with several faults gets the rarest of them, in the order TWF, PWF, OSF, HDF.  Two kinds
    of rows are left out: those whose only fault is random (RNF), and those that failed
    without a stated reason.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return features and labels only.
    as_frame : bool, default=False
        Whether features and labels are pandas objects.

    Returns
    -------
    Bunch or pair
        ``data``, ``target``, ``feature_names``, ``target_names``, ``DESCR``, ``frame``; or
        data and target.

    Examples
    --------
    >>> from wdrsvm.datasets import fetch_ai4i
    >>> fetch_ai4i().target_names  # doctest: +SKIP
    array(['healthy', 'TWF', 'HDF', 'PWF', 'OSF'], dtype='<U7')
    """
    table = csv_columns(content(AI4I), AI4I.file)
    X = numbers(table, AI4I_FEATURES, AI4I.file)
    names = np.array(["healthy", "TWF", "HDF", "PWF", "OSF"])
    target = _ai4i_target(table, list(names))
    known = target >= 0
    text = "AI4I 2020, UCI Machine Learning Repository 601, doi:10.24432/C5HS5C, CC BY 4.0."
    return bunch(X[known], target[known], AI4I_FEATURES, names, text, return_X_y, as_frame)


def _load_ai4i_single(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """The same measurements; rows with several faults are left out.

    Every row without a machine failure is healthy, also if its random fault is set.
    """
    table = csv_columns(content(AI4I), AI4I.file)
    X = numbers(table, AI4I_FEATURES, AI4I.file)
    names = np.array(["healthy", "TWF", "HDF", "PWF", "OSF"])
    faults = np.column_stack([column(table, name, AI4I.file) == "1" for name in names[1:]])
    failed = column(table, "Machine failure", AI4I.file) == "1"
    n_faults = faults.sum(axis=1) + (failed & (column(table, "RNF", AI4I.file) == "1"))
    known = np.where(failed, n_faults == 1, True) & (faults.any(axis=1) | ~failed)
    target = np.where(failed, 1 + faults.argmax(axis=1), 0)
    text = "AI4I 2020, UCI Machine Learning Repository 601, single faults only."
    return bunch(X[known], target[known], AI4I_FEATURES, names, text, return_X_y, as_frame)


def _ai4i_target(table: dict[str, NDArray[Any]], names: list[str]) -> Codes:
    """Codes of the classes; -1 for rows that belong to no class."""

    def flag(name: str) -> Flags:
        return np.asarray(column(table, name, AI4I.file) == "1")

    target = np.where(flag("Machine failure") | flag("RNF"), -1, 0)
    # The rarest fault is the first one, and therefore set last.
    for fault in reversed(AI4I_FAULTS):
        target[flag(fault)] = names.index(fault)
    return target.astype(np.intp)


def load_penguins(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Four measurements of three species of penguins, 342 complete rows.

    The table comes with the package ``palmerpenguins`` (``pip install "wdrsvm[data]"``),
    or from the folder that ``WDRSVM_DATA`` names.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return features and labels only.
    as_frame : bool, default=False
        Whether features and labels are pandas objects.

    Returns
    -------
    Bunch or pair
        ``data``, ``target``, ``feature_names``, ``target_names``, ``DESCR``, ``frame``; or
        data and target.

    Examples
    --------
    >>> from wdrsvm.datasets import load_penguins
    >>> load_penguins().data.shape  # doctest: +SKIP
    (342, 4)
    """
    table = csv_columns(_penguins_content(), PENGUINS.file)
    cells = np.column_stack([column(table, c, PENGUINS.file) for c in PENGUIN_FEATURES])
    complete = (cells != "NA").all(axis=1)
    species = column(table, "species", PENGUINS.file)[complete]
    names, target = np.unique(species, return_inverse=True)
    text = "Palmer penguins 0.1.1, doi:10.5281/zenodo.3960218, CC0 1.0."
    X = cells[complete].astype(float)
    return bunch(X, target, PENGUIN_FEATURES, names, text, return_X_y, as_frame)


def _penguins_content() -> bytes:
    """The table from ``WDRSVM_DATA`` or the cache, else from the installed package."""
    try:
        return content(PENGUINS)
    except FileNotFoundError as error:
        found = importlib.util.find_spec("palmerpenguins")
        if found is None or found.origin is None:
            raise FileNotFoundError(
                f'{error} Or: pip install "wdrsvm[data]", which brings the table.'
            ) from None
        path = Path(found.origin).parent / "data" / "penguins.csv"
        return checked(path.read_bytes(), PENGUINS, f"The file {path}", str(error))


def _load_music(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Music genres: gold labels, and labels of a crowd for the training rows."""
    with np.load(io.BytesIO(content(MUSIC))) as stored:
        parts = {name: stored[name] for name in stored}
    X, names = parts["X"], parts["classes"]
    features = tuple(f"x{d}" for d in range(X.shape[1]))
    text = "Music genres with crowd labels; research use only."
    target = parts["y"].astype(np.intp)
    found = bunch(X, target, features, names, text, return_X_y, as_frame)
    if not return_X_y:
        found.update(
            is_test=parts["is_test"],
            crowd_random=parts["noisy_random"].astype(np.intp),
            crowd_majority=parts["noisy_majority"].astype(np.intp),
        )
    return found


def _load_news20(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Counts of words in news groups; ``is_test`` is the official split by date."""
    if as_frame:
        raise ValueError("as_frame must be False for news20, whose features are sparse.")
    with np.load(io.BytesIO(content(NEWS20))) as stored:
        shape = tuple(stored["shape"])
        parts = (stored["data"].astype(float), stored["indices"], stored["indptr"])
        X = sparse.csr_array(parts, shape=shape)
        target, names = stored["y"].astype(np.intp), stored["classes"]
        is_test, words = stored["is_test"], stored["vocabulary"]
    if return_X_y:
        return X, target
    text = "20 newsgroups, UCI Machine Learning Repository 113, counts of words."
    return Bunch(
        data=X,
        target=target,
        frame=None,
        feature_names=words,
        target_names=names,
        is_test=is_test,
        DESCR=text,
    )


_LOADERS: dict[str, Callable[..., Any]] = {
    "wine": sklearn_datasets.load_wine,
    "iris": sklearn_datasets.load_iris,
    "breast_cancer": sklearn_datasets.load_breast_cancer,
    "digits": sklearn_datasets.load_digits,
    "penguins": load_penguins,
    "seeds": fetch_seeds,
    "ai4i": fetch_ai4i,
    "ai4i_single_fault": _load_ai4i_single,
    "steel_plates": labelled(STEEL),
    "winequality_red": labelled(WINE_QUALITY),
    "music_genre": _load_music,
    "news20": _load_news20,
    **judging.LOADERS,
}
NAMES = tuple(_LOADERS)
_NOT_FOR_DOWNLOAD = {
    "steel_plates": STEEL,
    "music_genre": MUSIC,
    "news20": NEWS20,
    **judging.SOURCES,
}


def can_be_had(name: str) -> bool:
    """Whether a table is part of a package, can be downloaded, or is on this machine."""
    source = _NOT_FOR_DOWNLOAD.get(name)
    return source is None or is_on_this_machine(source)


def load(name: str, *, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """A table by its name.

    Parameters
    ----------
    name : str
        One of :data:`wdrsvm.datasets.NAMES`.
    return_X_y : bool, default=False
        Whether to return features and labels only.
    as_frame : bool, default=False
        Whether features and labels are pandas objects.

    Returns
    -------
    Bunch or pair
        In the form of scikit-learn's loaders.

    Examples
    --------
    >>> from wdrsvm.datasets import load
    >>> X, y = load("wine", return_X_y=True)
    >>> X.shape
    (178, 13)
    """
    if name not in _LOADERS:
        raise ValueError(f"name must be one of {', '.join(NAMES)}, got {name!r}.")
    return _LOADERS[name](return_X_y=return_X_y, as_frame=as_frame)
