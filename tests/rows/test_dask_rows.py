"""Rows in chunks are the same problem: every sum, the risk and the certificate."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from wdrsvm.problem import LOSSES, dual_bound
from wdrsvm.rows.dask_engine import FAN_IN, as_delayed, current_engine, reduction
from wdrsvm.rows.dask_rows import ChunkedRows
from wdrsvm.rows.memory_rows import MemoryRows
from wdrsvm.rows.reduce import added, joined
from wdrsvm.solvers.newton.smoothed_risk import SmoothedLabelRisk, SmoothedRisk
from wdrsvm.solvers.newton.smoothing import SoftmaxMultipliers
from wdrsvm.solvers.scaling import Scaling

from ..agreement.instances import random_problem
from .chunked import chunked

pytest.importorskip("dask")

SEEDS = range(16)
LAM, MU = 0.4, 0.2


def classifier(problem, seed=0):
    rng = np.random.default_rng(seed)
    coef = rng.normal(size=(problem.n_classes, problem.n_features))
    return coef, rng.normal(size=problem.n_classes)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_risk_is_that_in_memory(seed):
    problem = random_problem(seed)
    coef, intercept = classifier(problem, seed)
    found, expected = chunked(problem).risk(coef, intercept), problem.risk(coef, intercept)
    assert found.value == pytest.approx(expected.value, rel=1e-12)
    assert found.lam == pytest.approx(expected.lam, rel=1e-6)


@pytest.mark.parametrize("radius", [0.0, 1e-3, 0.02, 0.3, 5.0])
def test_the_budget_may_end_anywhere(radius):
    """In a crowd of flips of nearly equal, or equal, rates."""
    problem = random_problem(7).with_rows(label_trust=None).with_radius(radius)
    many = np.tile(np.arange(problem.n_rows), 50)
    crowd = problem.take(many)
    jitter = 1e-7 * np.random.default_rng(0).normal(size=crowd.X.shape)
    for X in (crowd.X, crowd.X + jitter):
        crowd = crowd.with_rows(X=X, weight=np.full(len(many), 1 / len(many)))
        at = classifier(crowd)
        expected = crowd.risk(*at)
        assert chunked(crowd).risk(*at).value == pytest.approx(expected.value, rel=1e-12)


def test_rates_may_have_any_size():
    problem = random_problem(7)
    coef, intercept = classifier(problem)
    for size in (1e-6, 1.0, 1e6):
        at = size * coef, size * intercept
        expected = problem.risk(*at).value
        assert chunked(problem).risk(*at).value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("seed", SEEDS)
def test_passes_and_bounds_are_those_in_memory(seed, kind):
    problem = random_problem(seed)
    there = chunked(problem.with_rows(X=kind(problem.X)))
    scaling = Scaling.of(there)
    assert scaling.unit == pytest.approx(Scaling.of(problem).unit)
    rng = np.random.default_rng(seed)
    coef = rng.normal(size=(problem.n_classes, scaling.n_columns))
    results = []
    for case in (problem, there):
        with case.reduction() as reduction:
            passes = SmoothedRisk.over(case, scaling, reduction)
            now = passes.evaluate(coef, LAM, MU)
            gram = passes.curvature(coef, LAM, MU, now, 1.0, 0)
            least, margins = passes.margins(coef, LAM, 4)
            far = passes.evaluate_far(coef, LAM, MU, margins, least[-1])
            soft = SoftmaxMultipliers(passes.smoothing, passes.point(coef, LAM, MU))
            bound = dual_bound(case, soft)
            results.append([*now[:-1], gram, least, *far[:-1], bound, case.reachable])
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-10)


def test_smooth_losses_go_the_same_way():
    problem = random_problem(5)
    problem = replace(problem, loss=LOSSES["logistic"])
    scaling = Scaling.of(problem)
    coef = np.ones((problem.n_classes, scaling.n_columns))
    merits = []
    for case in (problem, chunked(problem)):
        with case.reduction() as reduction:
            passes = SmoothedLabelRisk.over(case, scaling, reduction)
            merits.append((passes.evaluate(coef, LAM, MU).merit, passes.has_flips))
    assert merits[0] == pytest.approx(merits[1])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_some_rows_can_be_taken(kind):
    problem = random_problem(3)
    there = chunked(problem.with_rows(X=kind(problem.X)), 4)
    rows = np.array([0, 1, problem.n_rows // 2, problem.n_rows - 1])
    taken, expected = there.take(rows), problem.take(rows)
    X = taken.X.toarray() if sparse.issparse(taken.X) else taken.X
    np.testing.assert_array_equal(X, expected.X)
    np.testing.assert_array_equal(taken.y, expected.y)
    np.testing.assert_array_equal(taken.weight, expected.weight)
    np.testing.assert_array_equal(taken.label_trust, expected.label_trust)
    assert there.take(rows[:0]).n_rows == 0


def test_chunks_know_their_place():
    problem = random_problem(3)
    there = chunked(problem, 4)
    with there.reduction() as reduction:
        first = reduction.fold(lambda part, rows: [part.first_row + rows.start], joined)
    assert first == there.rows.starts.tolist()


def test_a_change_of_rows_is_made_in_the_chunks():
    problem = random_problem(3)
    there = chunked(problem).by_chunks(lambda part: part.with_rows(X=part.X[:, :1]))
    assert (there.n_rows, there.n_features) == (problem.n_rows, 1)
    rows = np.arange(problem.n_rows)
    np.testing.assert_array_equal(there.take(rows).X, problem.X[:, :1])


def test_reductions_keep_the_order():
    for n_values in (1, FAN_IN, FAN_IN + 1, 3 * FAN_IN**2 + 1):
        values = [as_delayed([i]) for i in range(n_values)]
        (found,) = current_engine().gather([reduction(joined, values)])
        assert found == list(range(n_values))
    (sum_of_some,) = current_engine().gather(
        [reduction(added, [as_delayed(None), as_delayed(2), as_delayed(None)])]
    )
    assert sum_of_some == 2


def test_a_chunk_knows_its_size():
    """A worker spills by it."""
    X = np.zeros((100, 7))
    for features in (X, sparse.csr_array(np.eye(100, 7))):
        chunk = MemoryRows(features, np.zeros(100, dtype=np.intp), np.zeros(100), None)
        assert chunk.__sizeof__() == pytest.approx(len(pickle.dumps(chunk)), rel=0.3)


def test_the_risk_in_a_bounded_ball_is_that_of_rows_in_memory():
    problem = random_problem(3, radius=0.1)
    ends = problem.X.min(axis=0) - 0.1, problem.X.max(axis=0) + 0.1
    problem = replace(problem, ball=replace(problem.ball, norm="l1", support=ends))
    found = chunked(problem).risk(*classifier(problem)).value
    assert found == pytest.approx(problem.risk(*classifier(problem)).value, rel=1e-12)
    free = replace(problem, ball=replace(problem.ball, support=None))
    assert found < chunked(free).risk(*classifier(problem)).value


def test_chunked_rows_know_their_sizes_and_starts():
    rows = ChunkedRows((None,) * 3, (4, 1, 5), 7, None)
    assert (rows.n_rows, rows.n_features) == (10, 7)
    assert rows.starts.tolist() == [0, 4, 5]
    assert rows.starts.dtype == np.intp
    assert ChunkedRows((None,), (4,), 7, None).starts.tolist() == [0]


def test_what_is_kept_stays_with_its_chunk():
    problem = random_problem(3)
    rows = np.arange(problem.n_rows)
    total = 2 * rows.sum()
    for case in (problem, chunked(problem, 4)):
        with case.reduction() as reduction:
            n_rows, kept = reduction.fold_keeping(_count_and_keep, added)
            assert n_rows == problem.n_rows
            assert reduction.fold(_sum_of_kept, added, kept) == total
            assert reduction.fold(_sum_of_kept, added) == 0
            picked = reduction.fold_picked(_even_ones, kept, _numbers_of, joined)
            assert picked == rows[rows % 2 == 0].tolist()
            assert reduction.fold_picked(_none_of, kept, _numbers_of, joined) is None
            few = problem.take(np.arange(5))
            assert reduction.on(few).fold(_numbers_of_all, joined) == list(range(5))


def _count_and_keep(problem, rows):
    number = problem.first_row + np.arange(problem.n_rows)[rows]
    return len(number), 2.0 * number


def _sum_of_kept(problem, rows, kept=()):
    return float(sum(kept))


def _even_ones(problem, kept):
    return np.flatnonzero(kept % 4 == 0)


def _none_of(problem, kept):
    return np.flatnonzero(kept < 0)


def _numbers_of(problem, rows):
    return (problem.first_row + rows).tolist()


def _numbers_of_all(problem, rows):
    return np.arange(problem.n_rows)[rows].tolist()


@pytest.mark.parametrize("trust", [True, False])
def test_rows_are_taken_from_the_chunks_that_have_them(trust):
    problem = random_problem(3)
    trust = np.linspace(0.5, 1.0, problem.n_rows) if trust else None
    problem = problem.with_rows(label_trust=trust)
    there = chunked(problem, 5)
    assert there.is_distributed
    assert there.without_idle_rows() is there
    for rows in (
        [2],
        [0, there.rows.starts[1]],
        [there.rows.starts[2] - 1, problem.n_rows - 1],
    ):
        taken, expected = there.take(np.array(rows)), problem.take(np.array(rows))
        np.testing.assert_array_equal(taken.X, expected.X)
        np.testing.assert_array_equal(taken.y, expected.y)
        np.testing.assert_array_equal(taken.weight, expected.weight)
        np.testing.assert_array_equal(taken.label_trust, expected.label_trust)
        assert not taken.is_distributed
        assert (taken.ball, taken.first_row) == (problem.ball, 0)


def test_a_change_by_chunks_may_change_the_ball_and_the_labels():
    problem = random_problem(3)
    ball = replace(problem.ball, radius=0.77, feature_cost=None)

    def change(part):
        part = part.with_rows(X=part.X[:, :1], y=part.y * 0, label_trust=None)
        return replace(part, ball=ball)

    there = chunked(problem, 4).by_chunks(change)
    assert there.is_distributed
    assert not there.rows.with_trust
    assert chunked(problem, 4).by_chunks(lambda part: part).rows.with_trust
    assert there.radius == 0.77
    assert there.n_features == 1
    taken = there.take(np.arange(problem.n_rows))
    np.testing.assert_array_equal(taken.X, problem.X[:, :1])
    np.testing.assert_array_equal(taken.weight, problem.weight)
    assert not taken.y.any()
    assert taken.label_trust is None


def test_the_risk_of_trusted_labels_needs_no_flips():
    problem = random_problem(3).with_rows(label_trust=None)
    problem = replace(problem, ball=replace(problem.ball, label_cost=np.inf, radius=0.3))
    at = classifier(problem)
    found, expected = chunked(problem).risk(*at), problem.risk(*at)
    assert found == pytest.approx(expected, rel=1e-12)
    # Bounds without a budget limit nothing.
    box = replace(problem.ball, support=(-1e3, 1e3), radius=0.0)
    assert chunked(replace(problem, ball=box)).risk(*at).value > 0
