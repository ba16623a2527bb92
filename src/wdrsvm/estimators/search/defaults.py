"""The meaning of "auto" in a search: radii, label costs, norm and folds.

With ``label_noise="adversarial"`` these are the usual defaults.  With ``"random"`` they are
the recipe for doubtful labels.  The units of that recipe need no knowledge of the data:
radii are shares of the largest useful radius, and label costs are shares of the loss of
equal scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ...arrays import Codes
from ...inputs.arrays import observed_classes
from ...problem import RobustProblem
from ...robustness.radius.radius_max import radius_max_of
from ..fitting.steps import seed_of
from .parameters import AUTO


@dataclass(frozen=True)
class DoubtSettings:
    """The recipe for doubtful labels.

    Parameters
    ----------
    radius_shares : tuple of float
        Radii, as shares of the largest radius at which labels that are all believed teach
        something.
    cost_shares : tuple of float
        Label costs, as shares of the loss of a classifier with equal scores.  ``inf``
        believes all labels.
    n_folds : int
        Number of folds, unless a class has fewer rows.
    row_visits : int
        The rows are divided into folds as often as this number of rows allows.
    max_repeats : int
        Largest number of such divisions.
    """

    radius_shares: tuple[float, ...] = (0.45, 0.16, 0.055, 0.02, 0.006)
    cost_shares: tuple[float, ...] = (np.inf, 1.0, 0.75, 0.5)
    n_folds: int = 5
    row_visits: int = 200
    max_repeats: int = 2


DOUBT = DoubtSettings()
# The finite label cost of the usual grid, and the columns of a table that is not wide.
FINITE_COST, MOST_COLUMNS = 2.0, 64


# What a parameter may be besides "auto".
_ALLOWED = {
    "radii": "radii or an integer >= 1",
    "label_costs": "numbers or matrices",
    "cv": "a number of folds, a splitter or pairs of row numbers",
}


def is_auto(value: Any) -> bool:
    """Whether a parameter is left to the search."""
    return isinstance(value, str) and value == AUTO


def _given(search: Any, name: str) -> Any:
    """The user's value; words other than "auto" are refused."""
    value = getattr(search, name)
    if isinstance(value, str):
        raise ValueError(f"{name} must be 'auto', {_ALLOWED[name]}, got {value!r}.")
    return value


def doubts(search: Any) -> bool:
    """Whether the search assumes random label noise; other words are refused later."""
    return isinstance(search.label_noise, str) and search.label_noise == "random"


def resolved_norm(search: Any) -> Any:
    """The norm of the ball, unless the user names one.

    On the tables of the pilot "l2" gained as much from doubt as "linf" did, in a fraction
    of the time.
    """
    return "l2" if is_auto(search.norm) else search.norm


def resolved_costs(search: Any, problem: RobustProblem) -> Any:
    """The label costs, unless the user names some."""
    if not is_auto(search.label_costs):
        return _given(search, "label_costs")
    if not doubts(search):
        is_linear = not hasattr(search, "kernel")
        return (_finite_cost(problem) if is_linear else FINITE_COST, np.inf)
    equal = np.zeros((1, problem.n_classes))
    unit = float(problem.loss.of_labels(equal)[0, 0])
    return [share * unit for share in DOUBT.cost_shares]


def _finite_cost(problem: RobustProblem) -> float:
    """The usual cost; on wide tables at least the typical length of a row.

    A label is compared with distances.  Rows of hundreds of standardised columns are so far
    apart that the usual cost would make all labels nearly free to flip.
    """
    if problem.n_features <= MOST_COLUMNS:
        return FINITE_COST
    entries = problem.X.data[:, None] if issparse(problem.X) else problem.X
    square = float(np.einsum("np,np->", entries, entries, dtype=np.float64))
    return max(FINITE_COST, (square / problem.n_rows) ** 0.5)


def resolved_radii(
    search: Any, problem: RobustProblem, unweighted: Callable[[], RobustProblem]
) -> Any:
    """The radii, unless the user names some.

    Extreme class weights make the largest useful radius nearly 0.  Then the right
    classifier is nearly constant, and only larger radii find it.  Therefore the largest
    radius is at least that of the ``unweighted`` problem, without class weights.
    """
    if not is_auto(search.radii):
        return _given(search, "radii")
    if not doubts(search):
        return 10
    largest = _largest_radius(problem)
    if search.class_weight is not None:
        largest = max(largest, _largest_radius(unweighted()))
    # If nothing can be learned, any radii will do.
    return (largest or 1.0) * np.array(DOUBT.radius_shares)


def _largest_radius(problem: RobustProblem) -> float:
    """The largest radius at which labels that are all believed teach something."""
    trusted = replace(problem, ball=replace(problem.ball, label_cost=np.inf))
    return radius_max_of(trusted.with_rows(label_trust=None))


def resolved_cv(search: Any, y: Any) -> Any:
    """The folds, unless the user names some."""
    if not is_auto(search.cv):
        return _given(search, "cv")
    if not doubts(search):
        return 5
    codes = observed_classes(y)[1]
    if np.bincount(codes).max() < 2:
        raise ValueError(
            "y must have a class of at least 2 rows: a label that occurs once cannot be "
            "judged by other rows."
        )
    return list(repeated_folds(codes, seed_of(search.random_state)))


def repeated_folds(codes: Codes, seed: int) -> Iterator[tuple[Codes, Codes]]:
    """Stratified folds of all rows, divided anew several times if rows are few.

    A class of one row is in every training part, because no other row could teach it.
    """
    generator = np.random.default_rng(seed)
    n_repeats = min(max(DOUBT.row_visits // len(codes), 1), DOUBT.max_repeats)
    sizes = np.bincount(codes)
    n_folds = int(sizes[sizes > 1].min(initial=DOUBT.n_folds))
    for _ in range(n_repeats):
        fold = _dealt(codes, n_folds, generator)
        for k in range(n_folds):
            if (fold == k).any():
                yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)


def _dealt(codes: Codes, n_folds: int, generator: np.random.Generator) -> Codes:
    """The fold of each row; -1 for the only row of a class."""
    fold = np.full(len(codes), -1, dtype=np.intp)
    first = 0
    for code in np.unique(codes):
        rows = generator.permutation(np.flatnonzero(codes == code))
        if len(rows) > 1:
            # Classes begin at different folds, so that all folds have the same size.
            fold[rows] = (first + np.arange(len(rows))) % n_folds
            first += len(rows)
    return fold
