"""A fit that is cut short leaves nothing behind, and promises no more than is true."""

import os
import signal
import subprocess
import sys
import threading
import warnings
from functools import cache

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

from wdrsvm import RadiusWarning, RobustLinearSVC, radius_max
from wdrsvm.estimators.fitting import steps as _fit
from wdrsvm.rows.threads import n_processors
from wdrsvm.solvers.result import History, Incumbent

SOLVERS = ["interior-point", "newton", "first-order"]
# Enough rows for the newton solver's threads.
MANY_ROWS = 5000
UNREACHABLE = 1e-13
LIMITS = [1, 2, 3, 5, 8, 12, 15, 20]
# (radius, label_cost), all far below the radius that leaves nothing to learn.
BALLS = [(0.05, 2.0), (0.01, 0.5), (1e-4, 0.5)]


def data(n_rows):
    return make_classification(
        n_rows,
        6,
        n_informative=6,
        n_redundant=0,
        n_classes=3,
        n_clusters_per_class=1,
        flip_y=0.05,
        random_state=0,
    )


def limited_fit(*ball, **parameters):
    """A fit that its limit of iterations ends, whatever it says."""
    model = RobustLinearSVC(*ball, tol=1e-9, **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", RadiusWarning)
        return model.fit(*data(300))


@cache
def optimum(norm):
    return RobustLinearSVC(norm=norm, tol=1e-8).fit(*data(300))


@pytest.fixture
def interrupt(monkeypatch):
    """Makes the second line of progress a Ctrl-C; what ran beside it is collected."""
    beside = []

    def raise_at_second(progress):
        beside.append(set(threading.enumerate()))
        if len(beside) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(_fit, "print_progress", raise_at_second)
    return beside


@pytest.mark.parametrize("solver", SOLVERS)
class TestCtrlC:
    def interrupted(self, model, X, y):
        with pytest.raises(KeyboardInterrupt):
            model.set_params(verbose=1, tol=UNREACHABLE).fit(X, y)

    def test_leaves_an_unfitted_estimator_unfitted(self, solver, interrupt):
        model = RobustLinearSVC(solver=solver, verbose=1, tol=UNREACHABLE)
        before = vars(model).copy()
        self.interrupted(model, *data(MANY_ROWS))
        assert vars(model) == before

    def test_leaves_a_fitted_estimator_as_it_was(self, solver, interrupt):
        X, y = data(300)
        model = RobustLinearSVC(solver=solver, tol=1e-2).fit(X[:, :4], y)
        before = vars(model).copy()
        self.interrupted(model, X, y)
        changed = {"verbose": 1, "tol": UNREACHABLE}
        assert vars(model).keys() == before.keys()
        assert all(vars(model)[k] is before[k] for k in before if k not in changed)
        assert model.predict(X[:, :4]).shape == y.shape

    def test_leaves_no_thread(self, solver, interrupt):
        X, y = data(MANY_ROWS)
        before = threading.active_count()
        self.interrupted(RobustLinearSVC(solver=solver), X, y)
        assert len(interrupt) == 2
        assert threading.active_count() == before


def test_threads_work_beside_the_interrupted_newton_solver(interrupt):
    # Otherwise the tests above prove less than they say.
    if n_processors() == 1:
        pytest.skip("one processor: fits use no threads")
    before = set(threading.enumerate())
    model = RobustLinearSVC(solver="newton", verbose=1, tol=UNREACHABLE)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*data(MANY_ROWS))
    assert any(now - before for now in interrupt)


# Fits in a process of its own, which a signal reaches at any moment.  The first fit is of
# the same kind as the second: afterwards all compiled code is loaded.
FIT_AND_TELL = """
import signal, sys, threading, warnings
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_info
from wdrsvm import RobustLinearSVC

def state():
    limits = {each["filepath"]: each["num_threads"] for each in threadpool_info()}
    return {name: id(value) for name, value in vars(model).items()}, limits

# A process in the background is born deaf to Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
solver, n_rows, fitted = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "fitted"
X, y = make_classification(
    n_rows, 20, n_informative=20, n_redundant=0, n_classes=4, flip_y=0.1, random_state=0
)
warnings.simplefilter("ignore", ConvergenceWarning)
first = RobustLinearSVC(solver=solver, max_iter=3).fit(X, y)
model = first if fitted else RobustLinearSVC(solver=solver)
model.set_params(tol=1e-13, max_iter=None, verbose=1)
before = state()
n_threads = threading.active_count()
try:
    model.fit(X, y)
    print("ended by itself")
except KeyboardInterrupt:
    after = state()
    print("unchanged" if after == before else f"{before} became {after}")
    print(threading.active_count() - n_threads, "threads more")
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
@pytest.mark.parametrize(
    ("solver", "n_rows", "fitted"),
    [
        ("interior-point", 20_000, "fitted"),
        ("newton", 50_000, "unfitted"),
        ("first-order", 20_000, "fitted"),
    ],
)
def test_a_signal_during_a_fit(solver, n_rows, fitted, tmp_path):
    command = [sys.executable, "-u", "-c", FIT_AND_TELL, solver, str(n_rows), fitted]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline().startswith("iteration")
        process.send_signal(signal.SIGINT)
        told = process.stdout.read().splitlines()
    assert process.returncode == 0
    assert told[-2:] == ["unchanged", "0 threads more"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("solver", SOLVERS)
class TestMaxIter:
    @pytest.mark.parametrize("max_iter", LIMITS)
    def test_warns_once_and_names_the_true_gap(self, solver, max_iter):
        X, y = data(300)
        model = RobustLinearSVC(solver=solver, tol=UNREACHABLE, max_iter=max_iter)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(X, y)
        assert [warning.category for warning in caught] == [ConvergenceWarning]
        gap = model.duality_gap_ / model.objective_
        assert f"gap of {gap:.1e}" in str(caught[0].message)
        assert caught[0].filename == __file__
        assert model.n_iter_ == max_iter

    @pytest.mark.parametrize("max_iter", LIMITS)
    @pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
    def test_certificate_is_true(self, solver, norm, max_iter):
        X, y = data(300)
        model = limited_fit(norm=norm, solver=solver, max_iter=max_iter)
        assert model.objective_ == pytest.approx(model.worst_case_risk(X, y), rel=1e-12)
        assert model.dual_bound_ <= optimum(norm).objective_
        assert model.objective_ >= optimum(norm).dual_bound_
        assert model.duality_gap_ == model.objective_ - model.dual_bound_


class TestBestIterate:
    @pytest.mark.parametrize("solver", ["interior-point", "newton"])
    @pytest.mark.parametrize("norm", ["l1", "l2"])
    def test_more_iterations_are_never_worse(self, solver, norm):
        # The first few may be: looking at every step would cost as much as the step.
        # Later ones follow the smoothed risk, which is this close to the risk.
        limits = [8, 12, 15, 20, 30]
        fits = [limited_fit(norm=norm, solver=solver, max_iter=n) for n in limits]
        assert (np.diff([model.objective_ for model in fits]) <= 1e-4).all()

    @pytest.mark.parametrize("solver", ["interior-point", "newton", "first-order"])
    def test_no_worse_than_a_constant_classifier(self, solver):
        objectives = [
            limited_fit(*ball, norm=norm, solver=solver, max_iter=limit).objective_
            for ball in BALLS
            for norm in ("l1", "l2")
            for limit in LIMITS
        ]
        assert max(objectives) <= 1 + 1e-12

    @pytest.mark.parametrize(
        ("solver", "tol"),
        [("interior-point", 1e-4), ("newton", 1e-4), ("first-order", 0.01)],
    )
    def test_a_warm_start_is_never_lost(self, solver, tol):
        X, y = data(300)
        model = RobustLinearSVC(solver=solver, tol=tol, warm_start=True).fit(X, y)
        first = model.objective_
        with pytest.warns(ConvergenceWarning):
            model.set_params(max_iter=1, tol=1e-9).fit(X, y)
        assert model.objective_ <= first * (1 + 1e-12)


def test_a_lack_of_iterations_is_not_blamed_on_the_radius(monkeypatch):
    X, y = data(300)

    def give_up(problem, name, settings, start, of_kernel):
        constant = Incumbent(np.zeros((3, 6)), np.zeros(3), 1.0, dual_bound=0.0)
        return constant.result(name, 1e-6, False, 1, History(None))

    monkeypatch.setattr(_fit, "solve", give_up)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        RobustLinearSVC(radius=radius_max(X, y) / 10).fit(X, y)
    assert [warning.category for warning in caught] == [ConvergenceWarning]
