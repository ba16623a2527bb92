"""The steps of every fit before and after the solver.

Before: check the arguments, encode the labels, bring the data to one form.
After: ``concluded`` warns if the user should act, and breaks ties of constant classifiers.

======================  ====================================  ==========================
warning                 reason                                where
======================  ====================================  ==========================
``ConvergenceWarning``  the duality gap is above ``tol``      ``warn_about_gap``
``ConvergenceWarning``  the same in folds of a search         ``search/folds.py``
``ConvergenceWarning``  rounding in scores of a kernel model  ``kernel.py``
``ConvergenceWarning``  beliefs in labels still change        ``fitting/label_noise.py``
``RadiusWarning``       no classifier beats a constant one    here, ``fitting/ramp.py``
``DisbeliefWarning``    more doubtful labels than allowed     ``fitting/label_noise.py``
``UserWarning``         sets that contain all labels          ``sets/words.py``
======================  ====================================  ==========================
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral, Real
from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from ...arrays import Codes, Floats, Labels, Matrix
from ...inputs.arrays import (
    as_matrix,
    check_labels_present,
    check_size,
    checked_trust,
    checked_weight,
    need_no_conversion,
    nominal_weight,
    observed_classes,
)
from ...inputs.frames import texts_named
from ...problem import RobustProblem, canonical_rows
from ...problem.ball import as_float
from ...problem.class_means import class_means
from ...robustness.radius.break_ties import (
    break_ties,
    is_constant,
    nominal_classifier,
    sampled,
)
from ...robustness.radius.radius_max import limit_classifier, radius_max_of
from ...rows.moments import column_deviations
from ...solvers import Progress, SolverResult, SolverSettings, SolverStatus, Start, solve
from .feature_cost import in_deviations

# Largest number of entries times classes for which radius_max is found in a moment.
MAX_ENTRIES_FOR_RADIUS = 20_000
# Relative tolerance of the radius_max that a warning names.
ADVICE_TOL = 1e-4

# With a nominal risk above this share of the constant classifier's, no radius helps.
NOISE_SHARE = 0.9


class RadiusWarning(UserWarning):
    """The radius is so large that no classifier promises more than a constant one.

    There is no such warning if the data are noise for a linear classifier, because then
    no radius helps.

    Examples
    --------
    >>> import warnings
    >>> from sklearn.datasets import load_iris
    >>> from wdrsvm import RadiusWarning, RobustLinearSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", RadiusWarning)
    ...     _ = RobustLinearSVC(radius=100.0).fit(X, y)
    >>> caught[0].category.__name__
    'RadiusWarning'
    """


@dataclass(frozen=True, eq=False)
class TrainingData:
    """The nominal distribution, the classes, and the label codes of all given rows.

    The standard deviations of the features are there if the feature cost needs them.
    """

    rows: Any  # NominalRows, or ChunkedRows of a dask collection
    classes: Labels
    codes: Codes
    deviations: Floats | None = field(default=None, kw_only=True)


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Leave the estimator as it was if its fit fails or is interrupted."""
    before = vars(estimator).copy()
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


class Inputs(Protocol):
    """The checked arguments of ``fit``, with labels as codes."""

    def in_canonical_form(self) -> TrainingData:
        """The nominal distribution: no zero weights, no repeated rows."""
        ...


@dataclass(frozen=True, eq=False)
class CheckedInputs:
    """Checked arrays, in memory or in a memory map."""

    X: Matrix
    codes: Codes
    weight: Floats
    label_trust: Floats | None
    classes: Labels
    deviations: Floats | None

    def in_canonical_form(self) -> TrainingData:
        rows = canonical_rows(self.X, self.codes, self.weight, self.label_trust)
        return TrainingData(rows, self.classes, self.codes, deviations=self.deviations)


def checked_inputs(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    label_trust: Any,
    dtype: Any = np.float64,
) -> CheckedInputs:
    """Check the arguments of ``fit``, and encode the labels."""
    check_labels_present(y)
    X, y = _validated(estimator, X, y, dtype)
    check_size(X)
    classes, codes = observed_classes(y)
    weight = nominal_weight(sample_weight, estimator.class_weight, classes, codes)
    trust = checked_trust(label_trust, len(codes))
    deviations = _deviations(estimator, X, sample_weight)
    return CheckedInputs(X, codes, weight, trust, classes, deviations)


def _validated(estimator: Any, X: Any, y: Any, dtype: Any) -> tuple[Matrix, Any]:
    """X and y after scikit-learn's validation, which also records the feature names."""
    dtypes = dtype if isinstance(dtype, list) else [dtype]
    if not need_no_conversion(X, y, dtypes):
        with texts_named(X):
            X, y = validate_data(estimator, X, y, accept_sparse="csr", dtype=dtype)
        return as_matrix(X), y
    estimator.n_features_in_ = X.shape[1]
    vars(estimator).pop("feature_names_in_", None)
    return X, y


def _deviations(estimator: Any, X: Any, sample_weight: Any) -> Floats | None:
    """Standard deviations under ``sample_weight`` alone, without class weights."""
    if not in_deviations(estimator):
        return None
    return column_deviations(X, checked_weight(sample_weight, X.shape[0]))


def solver_settings(estimator: Any) -> SolverSettings:
    """The solver's settings, from the estimator's parameters."""
    return SolverSettings(
        tol=_checked_tol(estimator.tol),
        max_iter=_checked_max_iter(estimator.max_iter),
        seed=seed_of(estimator.random_state),
        callback=print_progress if estimator.verbose else None,
    )


def seed_of(random_state: Any) -> int:
    """A seed for the solver; None gives a fixed seed, so that fits are repeatable."""
    if random_state is None:
        return 0
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def _checked_tol(tol: Any) -> float:
    is_number = isinstance(tol, Real) and not isinstance(tol, bool)
    if not is_number or not 0 < as_float(tol) < np.inf:
        raise ValueError(f"tol must be a finite number > 0, got {tol!r}.")
    return float(tol)


def checked_nonnegative(value: Any, name: str) -> float:
    """Refuse a value that is not a finite number >= 0."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not 0 <= as_float(value) < np.inf:
        raise ValueError(f"{name} must be a finite number >= 0, got {value!r}.")
    return float(value)


def check_choice(estimator: Any, name: str, allowed: tuple[str, str]) -> None:
    """Refuse a parameter whose value is not one of two allowed words."""
    given = getattr(estimator, name)
    if not isinstance(given, str) or given not in allowed:
        raise ValueError(f"{name} must be {allowed[0]!r} or {allowed[1]!r}, got {given!r}.")


def _checked_max_iter(max_iter: Any) -> int | None:
    if max_iter is None:
        return None
    if not isinstance(max_iter, Integral) or isinstance(max_iter, bool) or max_iter < 1:
        raise ValueError(f"max_iter must be None or an integer >= 1, got {max_iter!r}.")
    return int(max_iter)


def print_progress(record: Progress) -> None:
    """Print one line per round, for ``verbose``."""
    print(
        f"iteration {record.n_iter:5d}  objective {record.objective:.8f}  "
        f"bound {record.dual_bound:.8f}  gap {record.gap:.1e}  {record.seconds:.2f} s"
    )


class Training(NamedTuple):
    """A way to train: two functions.

    ``solve`` takes the estimator, its problem, the settings and a start.  ``conclude``
    takes the estimator, the problem, the data and the value of ``solve``.  It warns the
    user if needed, and returns the result whose classifier is kept.
    """

    solve: Callable[[Any, RobustProblem, SolverSettings, Start | None], Any]
    conclude: Callable[[Any, RobustProblem, TrainingData, Any], SolverResult]


def solver_of(
    estimator: Any,
) -> Callable[[RobustProblem, SolverSettings, Start | None], SolverResult]:
    """A function that solves a problem with the estimator's solver."""
    return partial(_solved, estimator.solver, estimator._of_kernel)


def _solved(
    name: str,
    of_kernel: bool,
    problem: RobustProblem,
    settings: SolverSettings,
    start: Start | None,
) -> SolverResult:
    return solve(problem, name, settings, start, of_kernel)


def _solve_once(
    estimator: Any, problem: RobustProblem, settings: SolverSettings, start: Start | None
) -> SolverResult:
    return solver_of(estimator)(problem, settings, start)


def _conclude_once(
    estimator: Any, problem: RobustProblem, data: TrainingData, found: SolverResult
) -> SolverResult:
    return concluded(estimator, problem, found)


ORDINARY = Training(_solve_once, _conclude_once)


def concluded(
    estimator: Any, problem: RobustProblem, result: SolverResult, mass: float = 1.0
) -> SolverResult:
    """Warn the user if needed; if a constant classifier is optimal, break the tie.

    ``mass`` is the share of the total weight that the problem's rows have.  The user's
    radius is ``mass`` times the problem's radius.
    """
    if result.status is not SolverStatus.CONVERGED:
        warn_about_gap(estimator, problem, result)
    limit = limit_classifier(problem)
    bound = result.certificate.dual_bound
    if not is_constant(problem, bound, limit, estimator.tol):
        return result
    nominal = nominal_classifier(problem)
    # On data that are noise for a linear classifier, a smaller radius does not help.
    if nominal.certificate.objective < NOISE_SHARE * limit.risk:
        _warn_about_radius(problem, limit.risk, mass)
    return break_ties(problem, result, limit, nominal, estimator.tol)


_REMEDIES = {
    SolverStatus.MAX_ITER: "Raise max_iter or tol, or standardise the features.",
    SolverStatus.STALLED: "Raise tol, standardise the features or try another solver.",
}


def _remedy(solver: str, problem: RobustProblem, status: SolverStatus) -> str:
    """Advice for the user; where no other solver is left, no advice to change it."""
    if problem.is_bounded and solver != "auto" and not problem.is_distributed:
        return "Use solver='auto', which tries two methods, or raise tol."
    is_last = problem.is_distributed or problem.is_bounded
    if status is SolverStatus.STALLED and is_last:
        return "Raise tol or standardise the features."
    return _REMEDIES[status]


def warn_about_gap(estimator: Any, problem: RobustProblem, result: SolverResult) -> None:
    """Warn the caller of ``fit`` that the duality gap is above the tolerance."""
    gap = result.certificate.relative_gap
    warnings.warn(
        f"{type(estimator).__name__} stopped after {result.n_iter} iterations of "
        f"{result.solver} at a relative duality gap of {gap:.1e}, above "
        f"tol={estimator.tol:.1e}. {_remedy(estimator.solver, problem, result.status)}",
        ConvergenceWarning,
        stacklevel=5,
    )


def _warn_about_radius(problem: RobustProblem, top: float, mass: float) -> None:
    untouchable = np.isinf(problem.feature_cost).any()
    careful = "one that ignores the features that can move"
    rival = careful if untouchable else "a constant one"
    warnings.warn(
        f"At radius={mass * problem.radius:g} no classifier has a lower certified "
        f"worst-case risk than {rival} ({top:.4g}). {_advice(problem, mass)}",
        RadiusWarning,
        stacklevel=5,
    )


def _advice(problem: RobustProblem, mass: float) -> str:
    """Advice that names ``radius_max``: exact for few rows, estimated for many."""
    few = sampled(problem, MAX_ENTRIES_FOR_RADIUS)
    limit = mass * radius_max_of(few, ADVICE_TOL)
    if limit == 0:
        return "Raise label_cost: wdrsvm.radius_max is 0, so that no radius would help."
    if few.n_rows == problem.n_rows:
        return f"Choose a radius below wdrsvm.radius_max = {limit:.3g}."
    # Both estimates tend to be too large, because few rows are easier to separate than
    # all rows.  Therefore the smaller estimate is used.
    limit = min(limit, mass * radius_max_of(class_means(problem), ADVICE_TOL))
    if limit >= mass * problem.radius:
        return "Choose a smaller radius."
    return f"Choose a radius below wdrsvm.radius_max, which is about {limit:.2g}."
