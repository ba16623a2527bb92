"""Who is put to the test, and what each makes of an instance."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from wdrsvm import RadiusWarning
from wdrsvm.problem import LOSSES
from wdrsvm.solvers import SolverSettings, SolverStatus, solve
from wdrsvm.solvers.reference.peers import Limits, solve_clarabel, solve_highs

from .instances import Instance
from .judge import exact_kernel_risk, exact_risk, rounding_of

TOL = 1e-6
# A judge that takes longer has failed; the process ends what takes longer still.
JUDGE_SECONDS = 20.0
# Methods without a second order would go on for long: here they have to say that they
# did not reach the gap.
MAX_EPOCHS = 300


class Answer(NamedTuple):
    """What came back: the risk and the bound that are claimed, the risk as it is, what
    rounding makes of its scores, and whether the gap asked for is claimed to be reached."""

    objective: float
    dual_bound: float
    exact: float
    rounding: float
    claims: bool
    seconds: float
    said: str = ""


Contestant = Callable[[Instance], Answer]


def by_solver(name: str, max_iter: int | None = None) -> Contestant:
    """A solver of ours on the training problem, in at most so many iterations."""

    def contestant(instance: Instance) -> Answer:
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = solve(instance.problem(), name, SolverSettings(TOL, max_iter))
        seconds = time.perf_counter() - began
        objective, bound, _ = found.certificate
        exact = exact_risk(instance, found.coef, found.intercept)
        rounding = rounding_of(instance.features, found.coef, found.intercept)
        claims = found.status is SolverStatus.CONVERGED
        said = found.status.value
        return Answer(objective, bound, exact, rounding, claims, seconds, said)

    return contestant


def by_estimator(instance: Instance) -> Answer:
    """The public classifier, whichever solver it takes; a warning is an honest no."""
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fitted(instance)
        scores = model.decision_function(instance.X)
    seconds = time.perf_counter() - began
    kinds = {warning.category for warning in caught}
    unexpected = kinds - {ConvergenceWarning, RadiusWarning}
    if unexpected or not np.isfinite(scores).all():
        raise FloatingPointError(f"{unexpected or 'scores'} {caught and caught[0].message}")
    coef, intercept = instance.classifier_of(model)
    if instance.gamma is None:
        exact = exact_risk(instance, coef, intercept)
        rounding = rounding_of(instance.X, coef, intercept)
    else:
        exact = exact_kernel_risk(instance, coef, intercept)
        rounding = rounding_of(np.ones((1, coef.shape[1])), coef, intercept)
    claims = ConvergenceWarning not in kinds
    found = model.objective_, model.dual_bound_, exact, rounding
    return Answer(*found, claims, seconds, model.solver_)


def fitted(instance: Instance) -> Any:
    """A fitted estimator; several workers must all find the same, to the last bit."""
    if instance.n_threads > 1:
        return _same("threads", _in_threads(instance))
    if instance.n_processes > 1:
        return _same("processes", _in_processes(instance))
    return _fitted(instance)


def _same(workers: str, models: list[Any]) -> Any:
    if any(not np.array_equal(models[0].coef_, other.coef_) for other in models):
        raise ArithmeticError(f"{workers} found different classifiers")
    return models[0]


def _in_threads(instance: Instance) -> list[Any]:
    """Models of read-only rows that threads share."""
    instance.X.flags.writeable = False
    instance.y.flags.writeable = False
    with ThreadPoolExecutor(instance.n_threads) as pool:
        return list(pool.map(_fitted, [instance] * instance.n_threads))


def _in_processes(instance: Instance) -> list[Any]:
    """Models of rows in files that processes share."""
    n, context = instance.n_processes, get_context("spawn")
    with TemporaryDirectory() as folder, ProcessPoolExecutor(n, context) as pool:
        np.save(Path(folder) / "X.npy", instance.X)
        np.save(Path(folder) / "y.npy", instance.y)
        return list(pool.map(_fitted_to_files, [instance] * n, [folder] * n))


def _fitted_to_files(instance: Instance, folder: str) -> Any:
    return _fitted(mapped(instance, folder))


def mapped(instance: Instance, folder: str) -> Instance:
    """An instance whose rows stay in their files, which nobody may write to."""
    X, y = (np.load(Path(folder) / f"{name}.npy", mmap_mode="r") for name in ("X", "y"))
    return replace(instance, X=X, y=y)


def _fitted(instance: Instance) -> Any:
    given = instance.X, instance.y, instance.sample_weight, instance.label_trust
    return instance.estimator().fit(*given)


def by_highs(instance: Instance) -> Answer:
    """HiGHS on the published program."""
    return _judged(instance, solve_highs)


def by_clarabel(instance: Instance) -> Answer:
    """Clarabel on the published program."""
    return _judged(instance, solve_clarabel)


def _judged(instance: Instance, judge: Any) -> Answer:
    """A judge's own bound is not asked for: its classifier and its word are."""
    limits = Limits(tol=1e-9, time_limit=JUDGE_SECONDS, threads=1)
    found = judge(instance.problem(), limits=limits)
    exact = exact_risk(instance, found.coef, found.intercept)
    value, finished = float(found.value), bool(found.finished)
    return Answer(value, -np.inf, exact, 0.0, finished, found.seconds)


CONTESTANTS: dict[str, Contestant] = {
    "auto": by_estimator,
    "interior-point": by_solver("interior-point"),
    "newton": by_solver("newton"),
    "first-order": by_solver("first-order", MAX_EPOCHS),
    "subgradient": by_solver("subgradient", MAX_EPOCHS),
    "stochastic": by_solver("stochastic", MAX_EPOCHS),
    "highs": by_highs,
    "clarabel": by_clarabel,
}
REFERENCES = ("highs", "clarabel")


def takes_part(name: str, instance: Instance) -> bool:
    """Whether a contestant knows problems of this kind, and of this size."""
    if instance.only is not None and name not in instance.only:
        return False
    if name == "auto":
        return not instance.refused
    hinge = instance.loss == LOSSES["crammer-singer"]
    if instance.support is not None:
        return name in ("interior-point", "newton")
    if not hinge:
        return name in ("newton", "first-order")
    if instance.lipschitz == "triangle" and name in ("subgradient", "stochastic"):
        return False
    return name != "highs" or instance.norm != "l2"
