"""Streams: chunk after chunk, to the exact risk."""

import numpy as np
import pytest

from wdrsvm import WassersteinBall
from wdrsvm.problem import NORMS
from wdrsvm.solvers import SolverSettings, solve
from wdrsvm.solvers.subgradient.stream import Moments, StreamState

from .cases import BALL, N_CLASSES, X, problem_of, rows, y


def streamed(X, y, ball, chunk):
    state = StreamState.begin(N_CLASSES, X.shape[1])
    for start in range(0, len(y), chunk):
        part = problem_of(X[start : start + chunk], y[start : start + chunk], ball)
        state = state.after(part, np.random.default_rng([0, start]))
    return state


def risk_of(problem, state):
    return problem.risk(state.mean.coef, state.mean.intercept).value


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
