"""The builds of the kernels: which is chosen, and that all say the same."""

import json
import os
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest

from wdrsvm.solvers.newton import kernels as newton
from wdrsvm.solvers.runtime import native

HAS_V3 = native._has_v3()
BUILDS = ["baseline", *(["v3"] if HAS_V3 else []), "python"]


def chosen(monkeypatch, asked, has_v3=True):
    monkeypatch.setenv(native.VARIABLE, asked)
    monkeypatch.setattr(native, "_has_v3", lambda: has_v3)
    return native.variant.__wrapped__()


@pytest.mark.tiny
def test_the_best_build_is_taken_unless_one_is_asked_for(monkeypatch):
    assert chosen(monkeypatch, "") == "v3"
    assert chosen(monkeypatch, "", has_v3=False) == "baseline"
    for asked in native.VARIANTS:
        assert chosen(monkeypatch, asked) == asked


@pytest.mark.tiny
def test_an_unknown_build_is_refused_with_those_there_are(monkeypatch):
    with pytest.raises(
        ValueError, match=r"^WDRSVM_CPU must be one of baseline, v3, python"
    ):
        chosen(monkeypatch, "avx512")


@pytest.mark.tiny
def test_a_build_that_the_processor_does_not_know_is_refused(monkeypatch):
    with pytest.raises(ValueError, match="must be baseline or python on this processor"):
        chosen(monkeypatch, "v3", has_v3=False)


def module(family, build):
    name = "native" if build == "python" else f"_native_{build}"
    return import_module(f"wdrsvm.solvers.{family}.{name}")


def rows(seed=0, n=40, n_classes=5):
    rng = np.random.default_rng(seed)
    cost = rng.uniform(0.1, 2.0, (n_classes, n_classes))
    cost[1, 2] = np.inf
    y = rng.integers(0, n_classes, n)
    return (
        2 * rng.normal(size=(n, n_classes)),
        y,
        cost,
        y.copy(),
        rng.exponential(size=n),
        0.6,
    )


@pytest.mark.tiny
@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("soften", (0.1,)),
        ("soft_curvature", (0.1,)),
        ("soft_multipliers", (0.1,)),
        ("piece_margins", ()),
        ("soften_labels", (0.1, True, 0.5, 1.0)),
        ("soften_labels", (0.1, False, 0.5, 0.0)),
        ("label_curvature", (0.1, True, 0.5, 1.0)),
        ("label_masses", (0.1, False, 0.5, 1.0)),
    ],
)
def test_all_builds_agree_to_rounding(build, name, more):
    built = module("newton", build)
    found = getattr(built, name)(built.ScoredRows(*rows()), *more)
    expected = getattr(newton, name)(newton.ScoredRows(*rows()), *more)
    one, other = (
        part if isinstance(part, tuple) else (part,) for part in (found, expected)
    )
    for left, right in zip(one, other, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-11, atol=1e-13)


def test_kernels_read_arrays_that_cannot_be_written():
    arguments = rows()
    for array in arguments[:-1]:
        array.flags.writeable = False
    assert newton.soften(newton.ScoredRows(*arguments), 0.1)[0] > 0


FIT = """
import json
import numpy as np
from wdrsvm import WassersteinBall
from wdrsvm.problem import LOSSES, RobustProblem
from wdrsvm.solvers import SOLVERS, SolverSettings, solve

rng = np.random.default_rng(0)
y = np.arange(90) % 3
X = rng.normal(size=(90, 4)) + rng.normal(size=(3, 4))[y]
box = X.min(axis=0), X.max(axis=0)
for norm in ("l1", "l2", "linf"):
    for loss in ("crammer-singer", "logistic", "bounded"):
        support = box if loss == "bounded" else None
        ball = WassersteinBall(0.05, 1.0, norm, support=support)
        loss = LOSSES.get(loss, LOSSES["crammer-singer"])
        problem = RobustProblem.of(X, y, np.full(90, 1 / 90), ball, 3, loss=loss)
        for solver in ("interior-point", "newton", "first-order"):
            if any(SOLVERS[solver].missing(problem)):
                continue
            found = solve(problem, solver, SolverSettings(tol=1e-4))
            risk = problem.risk(found.coef, found.intercept).value
            print(json.dumps([found.status.name, risk, found.certificate.dual_bound]))
"""


def told(build):
    """Status, risk and lower bound of some solves with one build."""
    environment = {**os.environ, native.VARIABLE: build}
    done = subprocess.run(
        [sys.executable, "-c", FIT],
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.skipif(not HAS_V3, reason="this processor knows one vector width only")
def test_both_vector_widths_solve_to_the_gap():
    narrow, wide = told("baseline"), told("v3")
    assert len(narrow) == len(wide) == 21
    for one, other in zip(narrow, wide, strict=True):
        assert one[0] == other[0] == "CONVERGED"
        assert one[2] <= other[1] + 1e-9
        assert other[2] <= one[1] + 1e-9
        assert abs(one[1] - other[1]) <= 1e-4 * max(one[1], 1e-2)
