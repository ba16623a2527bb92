"""Models as files: arrays and names of known types, never pickled code.

A model file is a file of skops with one more member.  This member has the version that
wrote the file, and a checksum of the other members.  A file is read only if all its types
are on the lists below, and if all its parts are built by the loaders listed below.  These
loaders call no function that the file names.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import get_scorer, get_scorer_names

from . import estimators
from .estimators.tables.category_values import CategoryValues
from .files import check_swelling, check_texts, reason, write_bytes
from .saved_names import PUBLIC, full_name, with_present_names, with_public_names
from .version import __version__

ABOUT = "wdrsvm.json"
CLASSIFIERS = (
    estimators.RobustConformalClassifier,
    estimators.RobustLinearSVC,
    estimators.RobustLinearSVCCV,
    estimators.RobustLogisticRegression,
    estimators.RobustLogisticRegressionCV,
    estimators.RobustOneVsRestSVC,
    estimators.RobustSVC,
    estimators.RobustSVCCV,
)
OURS = (*CLASSIFIERS, CategoryValues)
# Full names of our classes in this version, and their public names in files.
PLACES = {f"{kind.__module__}.{kind.__qualname__}": kind.__name__ for kind in OURS}
# Allowed parts of scikit-learn, from the list of skops: those that prepare features,
# combine estimators or score.  Other parts have compiled code that uses indices from a file
# without a check.
PARTS_OF_SKLEARN = tuple(
    f"sklearn.{part}."
    for part in (
        *("compose", "decomposition", "feature_extraction", "feature_selection", "impute"),
        *("kernel_approximation", "linear_model", "metrics", "model_selection"),
        *("multiclass", "pipeline", "preprocessing", "random_projection"),
    )
)
SCHEMA = "schema.json"
SPARSE = "SparseMatrixNode"
# Allowed loaders of skops, which build the parts of a model.
LOADERS = frozenset(
    {
        *("CachedNode", "DTypeNode", "DefaultDictNode", "DictNode", "FunctionNode"),
        *("JsonNode", "ListNode", "MaskedArrayNode", "NdArrayNode", "ObjectNode"),
        *("RandomStateNode", "SetNode", "SliceNode", SPARSE, "TupleNode", "TypeNode"),
    }
)
# Further allowed types, besides the list of skops and the functions of scorers.
TRUSTED = (
    *(f"{PUBLIC}.{kind.__name__}" for kind in OURS),
    "numpy.dtype",
    "scipy.sparse._csr.csr_array",
    # The encoder of a mixed table.
    "sklearn.frozen._frozen.FrozenEstimator",
    "sklearn.metrics._scorer._PassthroughScorer",
    "sklearn.metrics._scorer._Scorer",
    # Scorers of scikit-learn 1.6 contain these: names of arguments, and their requests.
    "sklearn.utils._metadata_requests.MetadataRequest",
    "sklearn.utils._metadata_requests.MethodMetadataRequest",
)


def save_model(model: Any, path: str | Path) -> Path:
    """Write a fitted classifier, or a pipeline, to a file.

    The file contains no code.  It is written completely or not at all.

    Parameters
    ----------
    model : estimator
        The model to save.  Your own functions, such as a callable kernel, are refused.
    path : str or Path
        The file to write; missing folders are made.

    Returns
    -------
    Path
        The file.

    See Also
    --------
    load_model : Reads the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> from wdrsvm import RobustLinearSVC, load_model, save_model
    >>> X, y = load_iris(return_X_y=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = save_model(RobustLinearSVC().fit(X, y), Path(folder) / "iris.wdrsvm")
    ...     print(load_model(path).predict(X[:3]))
    [0 0 0]
    """
    skops = _imported_skops()
    content = _renamed(skops.dumps(model), lambda each: with_public_names(each, PLACES))
    strange = _strangers(skops, content)
    if strange:
        raise ValueError(
            f"model must hold known types only to be saved, got {', '.join(strange)}."
        )
    return write_bytes(Path(path), _with_about(content))


def load_model(path: str | Path) -> Any:
    """Read a model that :func:`save_model` wrote.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    estimator
        The model.  A ``ValueError`` refuses a file that is incomplete, changed, from a
        newer version, or contains a type that is not trusted.

    See Also
    --------
    save_model : Writes the file.

    Examples
    --------
    >>> from wdrsvm import load_model
    >>> load_model("no-such-file")
    Traceback (most recent call last):
    ...
    FileNotFoundError: There is no model file no-such-file.
    """
    skops = _imported_skops()
    content = _content(Path(path))
    _check_version(_checked_about(content, path), path)
    try:
        content = _renamed(content, with_present_names)
        strange = _strangers(skops, content)
        if not strange:
            _check_arrays(content)
            return skops.loads(content, trusted=_trusted())
    except Exception as error:
        # Damaged contents can raise any error; the user sees the same sentence for all.
        raise ValueError(f"{path} is a damaged model file: {reason(error)}.") from error
    raise ValueError(f"{path} holds types that are not trusted: {', '.join(strange)}.")


def _imported_skops() -> Any:
    try:
        return importlib.import_module("skops.io")
    except ImportError:
        raise ImportError(
            'Model files need skops: pip install "wdrsvm[cli]" brings it.'
        ) from None


@lru_cache
def _judges() -> tuple[str, ...]:
    """Names of the functions of scikit-learn's scorers, which a search may contain."""
    scorers = (get_scorer(name) for name in get_scorer_names())
    functions = (each._score_func for each in scorers if hasattr(each, "_score_func"))
    return tuple({f"{each.__module__}.{each.__qualname__}" for each in functions})


def _trusted() -> list[str]:
    return [*TRUSTED, *_judges()]


def _renamed(content: bytes, change: Callable[[Any], Any]) -> bytes:
    """The same archive with a changed schema, in which classes have other names."""
    file = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as archive,
        zipfile.ZipFile(file, "w") as renamed,
    ):
        for name in archive.namelist():
            part = archive.read(name)
            if name == SCHEMA:
                part = json.dumps(change(json.loads(part))).encode()
            renamed.writestr(name, part)
    return file.getvalue()


def _strangers(skops: Any, content: bytes) -> list[str]:
    """Types and loaders in a file that are not on the lists."""
    trusted = set(_trusted())
    strange = set(skops.get_untrusted_types(data=content)) - trusted
    for node in _nodes(content):
        name = full_name(node)
        if node["__loader__"] not in LOADERS:
            strange.add(f"{name} by {node['__loader__']}")
        elif name.startswith("sklearn.") and not name.startswith(PARTS_OF_SKLEARN):
            strange |= {name} - trusted
    return sorted(strange)


def _nodes(content: bytes) -> Iterator[dict[str, Any]]:
    """All nodes of the file's schema, one per part of the model."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        waiting = [json.loads(archive.read(SCHEMA))]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            waiting += part.values()
            if "__loader__" in part:
                yield part
        elif isinstance(part, list):
            waiting += part


def _check_arrays(content: bytes) -> None:
    """Check indices of sparse matrices and characters, because compiled code does not."""
    files = {node["file"]: node["__loader__"] for node in _nodes(content) if "file" in node}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for file, loader in files.items():
            stored = io.BytesIO(archive.read(file))
            if loader == SPARSE:
                _check_sparse(stored)
            else:
                check_texts(np.load(stored, allow_pickle=False))


def _check_sparse(stored: io.BytesIO) -> None:
    check_swelling(stored)
    matrix = sparse.load_npz(stored)
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)


def _content(path: Path) -> bytes:
    if not path.is_file():
        raise FileNotFoundError(f"There is no model file {path}.")
    return path.read_bytes()


def _with_about(content: bytes) -> bytes:
    """The file of skops, with our own member added."""
    file = io.BytesIO(content)
    with zipfile.ZipFile(file, "a") as archive:
        about = {"version": __version__, "sha256": _digest(archive)}
        archive.writestr(ABOUT, json.dumps(about))
    return file.getvalue()


def _digest(archive: zipfile.ZipFile) -> str:
    """A checksum of the names and contents of all members except our own."""
    total = hashlib.sha256()
    for name in sorted(set(archive.namelist()) - {ABOUT}):
        total.update(hashlib.sha256(name.encode()).digest())
        total.update(hashlib.sha256(archive.read(name)).digest())
    return total.hexdigest()


def _checked_about(content: bytes, path: str | Path) -> dict[str, Any]:
    """The content of our own member, if the checksum in it is right."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            # Our members are not compressed, so together they are smaller than the file.
            is_whole = sum(info.file_size for info in archive.infolist()) <= len(content)
            about = json.loads(archive.read(ABOUT)) if is_whole else {}
            if is_whole and about["sha256"] == _digest(archive):
                return {"version": str(about["version"])}
    except Exception as error:
        # A damaged archive can raise many kinds of errors.
        raise ValueError(_not_ours(path)) from error
    raise ValueError(_not_ours(path))


def _not_ours(path: str | Path) -> str:
    return f"{path} is not a model file, or it was cut short or changed."


def _check_version(about: dict[str, Any], path: str | Path) -> None:
    if _order(about["version"]) > _order(__version__):
        raise ValueError(
            f"{path} was written by wdrsvm {about['version']}, this is {__version__}: "
            "install the newer version to read it."
        )


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])
