"""Checks of the user's arrays; every error names the argument."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn import get_config
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d

from ..arrays import Codes, Flags, Floats, Labels, Matrix
from ..problem import LOSSES, Loss, WassersteinBall
from ..problem.ball import check_cost_size
from ..problem.norms import HUGE, TINY

# Number types of a dense X that is not copied: each block becomes float64 when it is read.
READ_AS_THEY_ARE = [
    np.float64,
    np.float32,
    *(np.int8, np.int16, np.int32, np.int64),
    *(np.uint8, np.uint16, np.uint32, np.uint64),
]

# Kinds of NumPy types that are always labels: booleans, integers, text.
PLAIN_LABELS = "biuSU"


def checked_features(X: ArrayLike) -> Matrix:
    """X as finite float64, dense or CSR."""
    if type(X) is np.ndarray and X.dtype == np.float64 and X.ndim == 2 and X.size:
        # NaN is not below anything, so that all of scikit-learn's checks are in this one.
        if largest_entry(X) <= HUGE:
            return X
    checked = check_array(X, accept_sparse="csr", dtype=np.float64, input_name="X")
    matrix = as_matrix(checked)
    check_size(matrix)
    return matrix


def largest_entry(X: Matrix) -> float:
    """The largest absolute value, or NaN."""
    return max(float(X.max()), -float(X.min()))


def check_size(X: Matrix) -> None:
    """Refuse entries whose squares overflow; X comes from :func:`as_matrix`."""
    largest = largest_entry(X)
    if np.isnan(largest):
        # With ``assume_finite`` in scikit-learn's settings, its own check is skipped.
        raise ValueError("X must have finite entries only, got NaN.")
    if largest > HUGE:
        raise ValueError(
            f"X must have no entries larger than {HUGE:g}, got {largest:g}: rescale the "
            "features."
        )


def check_scores(scores: Floats) -> None:
    """Refuse scores that are NaN because scikit-learn's ``assume_finite`` was wrong."""
    if np.isnan(scores).any() and get_config()["assume_finite"]:
        raise ValueError("X must have finite entries only, got NaN or infinity.")


def as_matrix(X: Matrix) -> Matrix:
    """A sparse matrix as a CSR array of float64, sorted and without repeated entries.

    Many functions of SciPy and scikit-learn sort the entries and add up repeated ones in
    the given arrays.  Here this is done first, on a copy, if it is needed.  Therefore the
    user's arrays never change.
    """
    if not sparse.issparse(X):
        return X
    # scikit-learn's compiled code accepts 32-bit indices only, which mostly suffice.
    suffice = max(*X.shape, len(X.data)) <= np.iinfo(np.int32).max
    kind = np.int32 if suffice else np.int64
    indices, starts = (np.asarray(each, dtype=kind) for each in (X.indices, X.indptr))
    # Reading ``has_canonical_format`` of the user's object would change the object.
    given = sparse.csr_array((X.data, indices, starts), shape=X.shape)
    matrix = given.astype(np.float64, copy=False)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def need_no_conversion(X: Any, y: Any, dtypes: Sequence[type]) -> bool:
    """Whether X and y are arrays as a fit takes them: finite numbers of one of these types
    and plain labels, one a row.

    scikit-learn's validation would return the same arrays, and takes as long as a small
    fit.  What is not such a pair is its to convert or to refuse.
    """
    if type(X) is not np.ndarray or type(y) is not np.ndarray:
        return False
    fitting = X.ndim == 2 and X.size > 0 and y.shape == X.shape[:1]
    if not fitting or X.dtype not in dtypes or y.dtype.kind not in PLAIN_LABELS:
        return False
    return bool(np.isfinite(X.max()) and np.isfinite(X.min()))


def some_rows(X: Any, rows: Codes) -> Any:
    """Rows of what a user gave, in its own kind: a frame, an array or a list."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "shape"):
        return X.tocsr()[rows] if sparse.issparse(X) else X[rows]
    return [X[row] for row in rows] if isinstance(X, list) else np.asarray(X)[rows]


def check_labels_present(y: Any) -> None:
    """Refuse missing labels: None, NaN, NaT or pandas' NA."""
    try:
        labels = np.asarray(y)
    except ValueError:  # not an array; a later check raises the error
        return
    missing = are_missing(labels).ravel()
    if missing.any():
        raise ValueError(
            f"y must have a label in every row, got {np.count_nonzero(missing)} missing, "
            f"the first of them in row {np.argmax(missing)}."
        )


def are_missing(labels: NDArray[Any]) -> Flags:
    """Which labels are missing: None, NaN, NaT or pandas' NA."""
    if labels.dtype.kind == "M":
        return np.asarray(np.isnat(labels))
    if labels.dtype.kind == "f":
        return np.asarray(np.isnan(labels))
    if labels.dtype.kind != "O" or not labels.ndim:
        return np.zeros(labels.shape, dtype=bool)
    missing = [is_missing(label) for label in labels.ravel()]
    return np.array(missing, dtype=bool).reshape(labels.shape)


def is_missing(label: Any) -> bool:
    """Whether a value is None, NaN, or pandas' NA or NaT."""
    is_number = isinstance(label, float | np.floating)
    named = type(label).__name__ in ("NAType", "NaTType")
    return label is None or named or (is_number and bool(np.isnan(label)))


def observed_classes(y: ArrayLike) -> tuple[Labels, Codes]:
    """The sorted labels of a classification target, and each row's position in them."""
    check_labels_present(y)
    column = np.asarray(y) if _is_column(y) else column_or_1d(y, warn=True)
    # Only floats and objects may not be labels; the check is slow beside a small fit.
    if column.dtype.kind not in PLAIN_LABELS:
        check_classification_targets(column)
    classes, codes = np.unique(column, return_inverse=True)
    check_two_classes(classes)
    return classes, codes


def _is_column(y: Any) -> bool:
    """Whether y needs no conversion to an array with one axis, which is slow."""
    return type(y) is np.ndarray and y.ndim == 1


def check_two_classes(classes: Labels) -> None:
    if len(classes) < 2:
        raise ValueError(
            f"y must have at least 2 classes, got 1 class: {classes.tolist()}."
        )


def checked_flag(value: Any, name: str) -> bool:
    """True or False; 1 and 0 are allowed too."""
    if not isinstance(value, bool | np.bool_ | Integral) or value not in (0, 1):
        raise ValueError(f"{name} must be True or False, got {value!r}.")
    return bool(value)


def label_codes(y: ArrayLike, classes: Labels) -> Codes:
    """Position of each label in ``classes``."""
    check_labels_present(y)
    column = column_or_1d(y, warn=True)
    if _are_codes(column, classes):
        return np.asarray(column.astype(np.intp))
    if classes.dtype.kind in "biuf" and column.dtype.kind in "biuf":
        # This is much faster than sorting the labels, and correct if it finds all of them.
        found = np.searchsorted(classes, column).clip(max=len(classes) - 1)
        if (classes[found] == column).all():
            return np.asarray(found)
    labels, inverse = np.unique(column, return_inverse=True)
    position = {label: code for code, label in enumerate(classes.tolist())}
    unknown = [label for label in labels.tolist() if label not in position]
    if unknown:
        raise ValueError(
            f"y contains labels that the classifier does not know: {unknown}; "
            f"its classes are {classes.tolist()}."
        )
    codes = np.array([position[label] for label in labels.tolist()], dtype=np.intp)
    return np.asarray(codes[inverse])


def _are_codes(column: Labels, classes: Labels) -> bool:
    """Whether the classes are 0, 1, ... and all labels are among them."""
    if column.dtype.kind not in "iu" or classes.dtype.kind not in "iu" or not len(column):
        return False
    counted = np.array_equal(classes, np.arange(len(classes)))
    return counted and column.min() >= 0 and bool(column.max() < len(classes))


def checked_weight(sample_weight: ArrayLike | None, n_rows: int) -> Floats:
    """One weight >= 0 for each row, not all zero; 1 by default."""
    if sample_weight is None:
        return np.ones(n_rows)
    weight = nonnegative_weight(sample_weight, n_rows)
    check_some_weight(weight)
    return _of_moderate_size(weight)


def _of_moderate_size(weight: Floats) -> Floats:
    """The weights times a common power of two.

    The power is not 1 only where sums or products might overflow or lose digits.
    """
    largest = float(weight.max())
    if TINY <= largest <= HUGE:
        return weight
    return np.ldexp(weight, -int(np.frexp(largest)[1]))


def nonnegative_weight(sample_weight: ArrayLike, n_rows: int) -> Floats:
    """One weight >= 0 for each row."""
    weight = _checked_column(sample_weight, "sample_weight", n_rows, finite=True)
    if (weight < 0).any():
        raise ValueError(f"sample_weight must be >= 0, but its least is {weight.min()}.")
    return weight


def check_some_weight(weight: Floats) -> None:
    if not weight.any():
        raise ValueError("sample_weight must not be zero in every row.")


def class_factors(
    class_weight: dict[Any, float] | str | None,
    classes: Labels,
    codes: Codes,
    weight: Floats,
) -> Floats:
    """Factor on the weight of each class, shape (C,).

    ``"balanced"`` gives all classes with weight the same total weight.  Hence repeating a
    row has the same effect as doubling its weight.
    """
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str) and class_weight == "balanced":
        mass = np.bincount(codes, weight, len(classes))
        return np.divide(1.0, mass, out=np.zeros_like(mass), where=mass > 0)
    factors: Floats = compute_class_weight(class_weight, classes=classes, y=classes[codes])
    if not (np.isfinite(factors).all() and (factors >= 0).all()):
        raise ValueError(f"class_weight must be finite and >= 0, got {class_weight!r}.")
    return _of_moderate_size(factors)


def nominal_weight(
    sample_weight: ArrayLike | None,
    class_weight: dict[Any, float] | str | None,
    classes: Labels,
    codes: Codes,
) -> Floats:
    """sample_weight times class_weight; at least two classes must have weight."""
    weight = checked_weight(sample_weight, len(codes))
    weight = weight * class_factors(class_weight, classes, codes, weight)[codes]
    check_weighted_classes(np.bincount(codes, weight))
    return weight


def check_weighted_classes(mass: NDArray[Any]) -> None:
    """Refuse weights that are positive in fewer than two classes."""
    n_weighted = np.count_nonzero(mass)
    if n_weighted < 2:
        raise ValueError(
            "A classifier needs at least 2 classes, but sample_weight and class_weight "
            f"leave weight on {n_weighted} class."
        )


def checked_trust(label_trust: ArrayLike | None, n_rows: int) -> Floats | None:
    """One factor >= 0 for each row; infinity is allowed."""
    if label_trust is None:
        return None
    trust = _checked_column(label_trust, "label_trust", n_rows, finite=False)
    if np.isnan(trust).any() or (trust < 0).any():
        wrong = trust[np.isnan(trust) | (trust < 0)][0]
        raise ValueError(
            f"label_trust must be >= 0 in every row (inf is allowed), got {wrong:g}."
        )
    check_cost_size(trust, "label_trust")
    return trust


def _checked_column(values: ArrayLike, name: str, n_rows: int, finite: bool) -> Floats:
    column: Floats = check_array(
        values,
        dtype=np.float64,
        ensure_2d=False,
        allow_nd=True,
        ensure_all_finite=finite,
        ensure_min_samples=0,
        input_name=name,
    )
    if column.shape != (n_rows,):
        raise ValueError(f"{name} must have shape ({n_rows},), got {column.shape}.")
    if finite and not np.isfinite(column).all():
        raise ValueError(f"{name} must be finite in every row, got NaN or infinity.")
    return column


def checked_loss(loss: str | Loss) -> Loss:
    """A loss, given as an object or by its name."""
    if isinstance(loss, Loss):
        return loss
    if not isinstance(loss, str) or loss not in LOSSES:
        allowed = ", ".join(repr(name) for name in LOSSES)
        raise ValueError(f"loss must be one of {allowed}, got {loss!r}.")
    return LOSSES[loss]


def check_kernel_ball(ball: WassersteinBall) -> None:
    """Refuse balls that are not plain l2 balls in the feature space of a kernel."""
    shaped = (ball.feature_cost, ball.support, ball.categorical)
    if ball.norm != "l2" or any(part is not None for part in shaped):
        raise ValueError(
            "norm must be 'l2', and feature_cost, support and categorical None, for a "
            "kernel, whose ball is in the kernel's feature space."
        )
