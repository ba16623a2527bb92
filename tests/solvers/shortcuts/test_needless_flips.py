"""Trusted labels stand in for doubted ones where flips do not pay, and only there."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from wdrsvm import WassersteinBall
from wdrsvm.problem import LOSSES, RobustProblem, dual_bound
from wdrsvm.solvers import SolverSettings, solve
from wdrsvm.solvers.shortcuts import needless_flips
from wdrsvm.solvers.shortcuts.needless_flips import NEEDLESS_FLIPS, without_flips

SETTINGS = SolverSettings(tol=1e-3)


def problem_of(label_cost, n_rows=300, loss="crammer-singer", of=np.asarray, **options):
    """Noise around the directions of 10 classes, rows of about unit length."""
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % 10
    X = rng.standard_normal((10, 40))[y] + rng.standard_normal((n_rows, 40))
    X /= np.linalg.norm(X, axis=1).mean()
    ball = WassersteinBall(options.pop("radius", 0.01), label_cost)
    options = {"n_classes": 10, "loss": LOSSES[loss]} | options
    return RobustProblem.of(of(X), y, np.full(n_rows, 1 / n_rows), ball, **options)


def solved(problem):
    return solve(problem, "auto", SETTINGS)


def refused(*_):
    raise AssertionError("labels were trusted for a trial")


@pytest.mark.parametrize(
    "options",
    [{}, {"loss": "logistic"}, {"of": sparse.csr_array}, {"fit_intercept": False}],
)
def test_a_high_label_cost_is_solved_with_trusted_labels(options):
    problem = problem_of(3.0, **options)
    found = without_flips(problem, SETTINGS, solved)
    risk = problem.risk(found.coef, found.intercept)
    assert found.certificate.objective == pytest.approx(risk.value, rel=1e-12)
    assert found.certificate.lam == pytest.approx(risk.lam, rel=1e-12)
    assert found.certificate.holds(SETTINGS.tol)
    bound = dual_bound(problem, found.multipliers)
    assert bound == pytest.approx(found.certificate.dual_bound, rel=1e-3)
    direct = solve(problem, "first-order", SETTINGS).certificate
    assert direct.dual_bound <= found.certificate.objective * (1 + 1e-9)
    assert found.certificate.dual_bound <= direct.objective * (1 + 1e-9)


def test_auto_tries_it_first(monkeypatch):
    seen = []
    run = needless_flips.choose
    monkeypatch.setattr(needless_flips, "choose", lambda *a: seen.append(a) or run(*a))
    assert solved(problem_of(3.0)).certificate.holds(SETTINGS.tol)
    assert seen
    seen.clear()
    solve(problem_of(3.0), "auto", replace(SETTINGS, max_iter=3))
    assert not seen


def test_flips_that_pay_are_noticed_on_the_class_means():
    assert without_flips(problem_of(0.2), SETTINGS, refused) is None


def test_flips_that_pay_are_noticed_on_a_sample(monkeypatch):
    few = replace(NEEDLESS_FLIPS, max_sampled_rows=100)
    monkeypatch.setattr(needless_flips, "NEEDLESS_FLIPS", few)
    assert without_flips(problem_of(0.2), SETTINGS, refused) is None
    assert without_flips(problem_of(3.0), SETTINGS, solved) is not None


def test_flips_that_pay_in_the_end_are_not_overlooked(monkeypatch):
    """A wrong guess costs time, never the certificate."""
    careless = replace(NEEDLESS_FLIPS, max_raised_share=np.inf)
    monkeypatch.setattr(needless_flips, "NEEDLESS_FLIPS", careless)
    problem = problem_of(0.2)
    assert without_flips(problem, SETTINGS, solved) is None
    found = solved(problem)
    risk = problem.risk(found.coef, found.intercept).value
    assert found.certificate.objective == pytest.approx(risk, rel=1e-12)
    assert found.certificate.holds(SETTINGS.tol)


@pytest.mark.parametrize(
    "problem",
    [
        problem_of(np.inf),
        problem_of(3.0, radius=0.0),
        problem_of(3.0, n_classes=11),
        problem_of(3.0, n_rows=20).take(np.arange(10)),
    ],
    ids=["trusted", "no radius", "a class without rows", "a tiny problem"],
)
def test_where_it_is_not_tried(problem):
    assert without_flips(problem, SETTINGS, refused) is None


def test_neither_small_tolerances_nor_kernels_are_tried(monkeypatch):
    small = replace(SETTINGS, tol=9e-4)
    # In matrix products, which serve at any tolerance.
    smooth = problem_of(3.0, loss="logistic")
    assert without_flips(smooth, small, refused) is None
    monkeypatch.setattr(needless_flips, "_is_faster", refused)
    assert solve(problem_of(3.0), "auto", SETTINGS, of_kernel=True) is not None


def test_a_sample_has_the_weight_of_all():
    problem = problem_of(3.0)
    sample = needless_flips._sampled(problem, 7)
    assert sample.n_rows == 43
    assert sample.weight.sum() == pytest.approx(problem.weight.sum())
    assert needless_flips._sampled(problem, 1) is problem


def test_the_classifier_of_the_class_means_has_a_mean_margin_of_one():
    problem = problem_of(3.0)
    coef, intercept = needless_flips._along_class_means(problem)
    scores = problem.scores(coef, intercept)
    own = scores[np.arange(problem.n_rows), problem.y]
    assert problem.weight @ own == pytest.approx(1.0)
    assert problem.weight @ scores == pytest.approx(np.zeros(10), abs=1e-9)
