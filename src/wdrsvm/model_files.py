"""Models as files: arrays and names of known types, never pickled code.

A model file is one of skops with a member more, which says which version wrote it and what
the others add up to.  A file is read only if all its types are on the list here.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

from . import estimators
from .files import write_bytes
from .kernels import Kernel
from .version import __version__

ABOUT = "wdrsvm.json"
CLASSIFIERS = (
    estimators.RobustLinearSVC,
    estimators.RobustLinearSVCCV,
    estimators.RobustLogisticRegression,
    estimators.RobustOneVsRestSVC,
    estimators.RobustSVC,
    estimators.RobustSVCCV,
)
# Judges of a cross-validated search.
SCORES = ("accuracy_score", "balanced_accuracy_score", "f1_score", "log_loss")
# What a file may hold beside skops's own list, which has scikit-learn's estimators.
TRUSTED = (
    *(f"{kind.__module__}.{kind.__qualname__}" for kind in (*CLASSIFIERS, Kernel)),
    "numpy.dtype",
    "sklearn.metrics._scorer._PassthroughScorer",
    "sklearn.metrics._scorer._Scorer",
    # What scorers of scikit-learn 1.6 hold: names, and whether they are asked for.
    "sklearn.utils._metadata_requests.MetadataRequest",
    "sklearn.utils._metadata_requests.MethodMetadataRequest",
    *(f"sklearn.metrics._classification.{name}" for name in SCORES),
)


def save_model(model: Any, path: str | Path) -> Path:
    """Write a fitted classifier, or a pipeline, to a file.

    The file holds no code and appears whole or not at all.

    Parameters
    ----------
    model : estimator
        What to save.  Functions of your own, such as a callable kernel, are refused.
    path : str or Path
        Where to; folders are made.

    Returns
    -------
    Path
        The file.

    See Also
    --------
    load_model : The way back.

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
    content = skops.dumps(model)
    strange = _strangers(skops, content, path)
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
        The model.  A file that is cut short, changed, from a newer version, or holds a
        type that is not on the list of trusted ones is refused with a ``ValueError``.

    See Also
    --------
    save_model : The way there.

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
    strange = _strangers(skops, content, path)
    if strange:
        raise ValueError(f"{path} holds types that are not trusted: {', '.join(strange)}.")
    try:
        return skops.loads(content, trusted=list(TRUSTED))
    except Exception as error:
        # Whatever the contents do to their reader, the reason is the same.
        raise ValueError(f"{path} is a damaged model file: {error}.") from error


def _imported_skops() -> Any:
    try:
        return importlib.import_module("skops.io")
    except ImportError:
        raise ImportError(
            'Model files need skops: pip install "wdrsvm[cli]" brings it.'
        ) from None


def _strangers(skops: Any, content: bytes, path: str | Path) -> list[str]:
    try:
        return sorted(set(skops.get_untrusted_types(data=content)) - set(TRUSTED))
    except Exception as error:
        raise ValueError(f"{path} is a damaged model file: {error}.") from error


def _content(path: Path) -> bytes:
    if not path.is_file():
        raise FileNotFoundError(f"There is no model file {path}.")
    return path.read_bytes()


def _with_about(content: bytes) -> bytes:
    """The file of skops with the member that is ours."""
    file = io.BytesIO(content)
    with zipfile.ZipFile(file, "a") as archive:
        about = {"version": __version__, "sha256": _digest(archive)}
        archive.writestr(ABOUT, json.dumps(about))
    return file.getvalue()


def _digest(archive: zipfile.ZipFile) -> str:
    """A sum over the names and contents of all members but ours."""
    total = hashlib.sha256()
    for name in sorted(set(archive.namelist()) - {ABOUT}):
        total.update(hashlib.sha256(name.encode()).digest())
        total.update(hashlib.sha256(archive.read(name)).digest())
    return total.hexdigest()


def _checked_about(content: bytes, path: str | Path) -> dict[str, Any]:
    """What our member says, if it is true."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            # Members are stored as they are: larger ones than the file are not ours.
            is_whole = sum(info.file_size for info in archive.infolist()) <= len(content)
            about = json.loads(archive.read(ABOUT)) if is_whole else {}
            if is_whole and about["sha256"] == _digest(archive):
                return {"version": str(about["version"])}
    except (zipfile.BadZipFile, KeyError, TypeError, ValueError, OSError, EOFError):
        pass
    raise ValueError(f"{path} is not a model file, or it was cut short or changed.")


def _check_version(about: dict[str, Any], path: str | Path) -> None:
    if _order(about["version"]) > _order(__version__):
        raise ValueError(
            f"{path} was written by wdrsvm {about['version']}, this is {__version__}: "
            "install the newer version to read it."
        )


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])
