"""Rows in single precision: where they are kept, and that nothing else loses digits."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from wdrsvm import WassersteinBall
from wdrsvm.problem import LOSSES, RobustProblem
from wdrsvm.solvers import SolverSettings, SolverStatus
from wdrsvm.solvers.first_order import beginning
from wdrsvm.solvers.first_order.loop import first_order
from wdrsvm.solvers.first_order.norms import l2
from wdrsvm.solvers.first_order.settings import FIRST_ORDER
from wdrsvm.solvers.first_order.state import Ascent


@pytest.fixture(autouse=True)
def _even_for_short_epochs(monkeypatch):
    always = replace(FIRST_ORDER, least_slack_work=0.0)
    monkeypatch.setattr(beginning, "FIRST_ORDER", always)


def embeddings(unit=1.0, loss="crammer-singer", as_sparse=False):
    rng = np.random.default_rng(0)
    y = np.arange(300) % 6
    X = rng.standard_normal((6, 20))[y] + rng.standard_normal((300, 20))
    rows = sparse.csr_array(unit * X) if as_sparse else unit * X
    ball, weight = WassersteinBall(0.05 * unit), np.full(300, 1 / 300)
    return RobustProblem.of(rows, y, weight, ball, 6, loss=LOSSES[loss])


@pytest.mark.parametrize(
    ("changed", "kept"),
    [
        ({}, True),
        ({"unit": 1e6}, False),
        ({"unit": 1e-7}, False),
        ({"as_sparse": True}, False),
        ({"loss": "logistic"}, False),
    ],
)
def test_dense_rows_of_a_hinge_in_range_are_kept_in_single_precision(changed, kept):
    ascent = Ascent(embeddings(**changed), None, seed=0)
    assert (len(ascent.rows.singles) > 0) == kept


def swept(monkeypatch, least_single_row_tol):
    chosen = replace(FIRST_ORDER, least_single_row_tol=least_single_row_tol)
    monkeypatch.setattr(l2, "FIRST_ORDER", chosen)
    ascent = Ascent(embeddings(), None, seed=0)
    for _ in range(3):
        ascent.sweep()
        ascent.recentre()
    return ascent


def test_only_products_lose_digits(monkeypatch):
    coarse, fine = (swept(monkeypatch, least) for least in (0.0, 1.0))
    size = np.abs(fine.block.coef).max()
    apart = np.abs(coarse.block.coef - fine.block.coef).max()
    assert 0 < apart < 1e-2 * size
    # R follows the masses of all visited rows in double precision.
    block, masses = coarse.block, coarse.duals.alpha
    slopes = masses.copy()
    slopes[np.arange(300), coarse.problem.y] -= masses.sum(axis=1)
    gradient = coarse.layout.touch.T @ slopes
    np.testing.assert_allclose(
        block.residual + block.damping * block.coef, gradient, atol=1e-13
    )


def test_rows_that_are_settled_finely_are_multiplied_in_double_precision(monkeypatch):
    seen = []
    sweep = l2.sweep_pairs

    def noted(*told):
        seen.append((told[-3] >= FIRST_ORDER.least_single_row_tol, len(told[-1]) > 0))
        sweep(*told)

    monkeypatch.setattr(l2, "sweep_pairs", noted)
    found = first_order(embeddings(), SolverSettings(tol=1e-7))
    assert found.status is SolverStatus.CONVERGED
    assert set(seen) == {(True, True), (False, False)}


@pytest.mark.parametrize("n_rows", [30, 600])
def test_equal_rows_leave_nothing_to_learn(n_rows):
    """The mean gradient of the classes is rounding."""
    row = np.random.default_rng(1).standard_normal(20)
    X, y = np.tile(row / np.linalg.norm(row), (n_rows, 1)), np.arange(n_rows) % 3
    weight, ball = np.full(n_rows, 1 / n_rows), WassersteinBall(0.02)
    problem = RobustProblem.of(X, y, weight, ball, 3, fit_intercept=False)
    found = first_order(problem, SolverSettings(tol=1e-3))
    assert found.certificate.objective == pytest.approx(1.0)
    assert found.certificate.holds(1e-3)


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize("loss", ["crammer-singer", "logistic"])
def test_a_square_that_underflows_is_no_divisor(norm, loss):
    """Entries below 1e-162 have a modulus, but no square."""
    X, y = 1e-200 * np.random.default_rng(0).standard_normal((30, 4)), np.arange(30) % 3
    weight, ball = np.full(30, 1 / 30), WassersteinBall(0.01, norm=norm)
    problem = RobustProblem.of(X, y, weight, ball, 3, loss=LOSSES[loss])
    found = first_order(problem, SolverSettings(tol=1e-3))
    assert found.certificate.holds(1e-3)
