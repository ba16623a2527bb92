"""Mini-batches: near the optimum without tuning, deterministic, in bounded memory."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification

from wdrsvm import WassersteinBall
from wdrsvm.problem import LOSSES, NORMS, RobustProblem
from wdrsvm.solvers import SolverSettings, SolverStatus, Start, solve
from wdrsvm.solvers.subgradient.stochastic import StochasticSettings, stochastic
from wdrsvm.solvers.subgradient.stream import Moments, StreamState

from ...agreement.instances import random_problem

N_CLASSES = 4


def rows(n_rows, n_features=8):
    X, y = make_classification(
        n_rows,
        n_features=n_features,
        n_informative=n_features,
        n_redundant=0,
        n_classes=N_CLASSES,
        n_clusters_per_class=1,
        class_sep=1.5,
        random_state=0,
    )
    return X, y.astype(np.intp)


def problem_of(X, y, ball, **kwargs):
    weight = np.full(len(y), 1.0 / len(y))
    return RobustProblem.of(X, y, weight, ball, N_CLASSES, **kwargs)


X, y = rows(5000)
BALL = WassersteinBall(0.05, 2.0)


def streamed(X, y, ball, chunk):
    state = StreamState.begin(N_CLASSES, X.shape[1])
    for start in range(0, len(y), chunk):
        part = problem_of(X[start : start + chunk], y[start : start + chunk], ball)
        state = state.after(part, np.random.default_rng([0, start]))
    return state


def risk_of(problem, state):
    return problem.risk(state.mean.coef, state.mean.intercept).value


class TestSolver:
    @pytest.mark.parametrize("norm", NORMS)
    @pytest.mark.parametrize(("radius", "label_cost"), [(0.05, 2.0), (0.01, np.inf)])
    def test_near_the_optimum(self, norm, radius, label_cost):
        problem = problem_of(X, y, WassersteinBall(radius, label_cost, norm))
        optimum = solve(problem, settings=SolverSettings(tol=1e-4)).certificate
        found = stochastic(problem, SolverSettings()).certificate
        assert found.objective <= 1.02 * optimum.objective
        assert found.objective >= optimum.dual_bound - 1e-12
        assert found.dual_bound <= optimum.objective + 1e-12

    @pytest.mark.parametrize("seed", range(12))
    def test_bounds_hold_on_odd_problems(self, seed):
        problem = random_problem(seed)
        optimum = solve(problem, "interior-point", SolverSettings(tol=1e-7)).certificate
        found = stochastic(problem, SolverSettings(max_iter=10)).certificate
        assert found.dual_bound <= optimum.objective + 1e-9
        assert found.objective >= optimum.dual_bound - 1e-9

    def test_it_stops_when_held_out_rows_say_so(self):
        result = stochastic(problem_of(X, y, BALL), StochasticSettings(patience=2))
        assert result.status is SolverStatus.STALLED
        assert 2 < result.n_iter < 100
        assert len(result.history) == result.n_iter + 1

    def test_the_limit_of_epochs(self):
        result = stochastic(problem_of(X, y, BALL), SolverSettings(max_iter=2))
        assert result.status is SolverStatus.MAX_ITER
        assert result.n_iter == 2

    def test_deterministic_by_seed(self):
        problem = problem_of(X, y, BALL)
        first, second, other = (
            stochastic(problem, SolverSettings(max_iter=2, seed=seed)) for seed in (0, 0, 1)
        )
        np.testing.assert_array_equal(first.coef, second.coef)
        assert not np.array_equal(first.coef, other.coef)

    def test_sparse_rows(self):
        settings = SolverSettings(max_iter=2)
        dense = stochastic(problem_of(X, y, BALL), settings)
        thin = stochastic(problem_of(sparse.csr_array(X), y, BALL), settings)
        np.testing.assert_allclose(thin.coef, dense.coef, rtol=1e-9, atol=1e-12)

    def test_a_start_is_used(self):
        problem = problem_of(X, y, BALL)
        exact = solve(problem, settings=SolverSettings(tol=1e-4))
        start = Start(exact.coef, exact.intercept, exact.certificate.lam)
        result = stochastic(problem, SolverSettings(max_iter=1), start)
        assert result.certificate.objective <= 1.02 * exact.certificate.objective

    def test_other_losses_are_refused(self):
        with pytest.raises(ValueError, match="use 'newton'"):
            stochastic(problem_of(X, y, BALL, loss=LOSSES["logistic"]), SolverSettings())

    @pytest.mark.parametrize(
        ("argument", "match"),
        [
            ({"batch_size": 0}, "batch_size must be >= 1"),
            ({"validation_share": 1.0}, "validation_share must be >= 0 and < 1"),
        ],
    )
    def test_wrong_settings_are_refused(self, argument, match):
        with pytest.raises(ValueError, match=match):
            StochasticSettings(**argument)


class TestStream:
    @pytest.mark.slow
    @pytest.mark.parametrize("norm", NORMS)
    def test_a_long_stream_ends_at_the_exact_risk(self, norm):
        """Within 2 % on rows held out, in other units, without any setting."""
        n_rows = 200_000
        features, labels = rows(n_rows + 20_000)
        features = features * np.logspace(-1, 1, 8) + 3.0
        ball = WassersteinBall(0.02, 1.0, norm)
        held_out = problem_of(features[n_rows:], labels[n_rows:], ball)
        sample = problem_of(features[:50_000], labels[:50_000], ball)
        exact = solve(sample, settings=SolverSettings(tol=1e-3))
        state = streamed(features[:n_rows], labels[:n_rows], ball, chunk=5000)
        least = held_out.risk(exact.coef, exact.intercept).value
        assert risk_of(held_out, state) <= 1.02 * least

    def test_the_size_of_chunks_hardly_matters(self):
        features, labels = rows(40_000)
        problem = problem_of(features, labels, BALL)
        small, large = (streamed(features, labels, BALL, chunk) for chunk in (70, 5000))
        assert risk_of(problem, small) == pytest.approx(risk_of(problem, large), rel=0.02)

    def test_a_state_is_not_changed_by_what_follows(self):
        problem = problem_of(X, y, BALL)
        state = StreamState.begin(N_CLASSES, 8)
        first = state.after(problem, np.random.default_rng(0))
        again = state.after(problem, np.random.default_rng(0))
        np.testing.assert_array_equal(first.mean.coef, again.mean.coef)
        assert state.n_steps == 0

    def test_the_unit_of_the_data_does_not_matter(self):
        """(X, radius, label cost) times t, M and lam divided by t: the same stream."""
        plain = streamed(X, y, BALL, 1000).mean
        ball = WassersteinBall(50.0, 2000.0)
        large = streamed(1000 * X, y, ball, 1000).mean
        np.testing.assert_allclose(1000 * large.coef, plain.coef, rtol=1e-6)
        assert 1000 * large.lam == pytest.approx(plain.lam)

    def test_a_constant_feature_does_no_harm(self):
        padded = np.column_stack([X, np.full(len(y), 7.0)])
        state = streamed(padded, y, BALL, 1000)
        np.testing.assert_allclose(state.mean.coef[:, -1], 0.0, atol=1e-9)

    def test_moments_are_those_of_all_rows(self):
        moments = Moments.none(8)
        for part in (slice(0, 7), slice(7, 4000), slice(4000, 5000)):
            chunk = problem_of(1e4 + X[part], y[part], BALL)
            moments = moments.with_rows(chunk, float(chunk.n_rows))
        np.testing.assert_allclose(moments.mean, 1e4 + X.mean(axis=0))
        np.testing.assert_allclose(moments.variance, X.var(axis=0), rtol=1e-9)
        assert moments.n_rows == 5000
