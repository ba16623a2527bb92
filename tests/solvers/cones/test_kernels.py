"""The samples' algebra against a dense assembly of the 3C - 1 rows of each sample.

Variables of one sample: z (C), lam, s, h, in this order.  Its rows are slack = R v + r;
with springs D and target multipliers t a Newton step solves  R'D R dv = R't - gradient.
"""

import numpy as np
import pytest

from wdrsvm.solvers.cones.kernels import native, weighted_gram
from wdrsvm.solvers.cones.settings import CONES

pytestmark = pytest.mark.tiny
N_ROWS = 7
class_counts = pytest.mark.parametrize("n_classes", [2, 3, 5])


def by_classes(rows):
    """(3, N, C) as (3, C, N), or the way back."""
    return rows.transpose(0, 2, 1)


class Samples:
    """Random springs and targets; every third sample has no flip, some have few."""

    def __init__(self, n_classes, seed=0, spread=1.0):
        rng = np.random.default_rng(seed)
        self.y = rng.integers(0, n_classes, N_ROWS)
        self.kappa = rng.uniform(0.1, 3.0, (N_ROWS, n_classes))
        self.kappa[rng.random(self.kappa.shape) < 0.3] = np.inf
        self.kappa[::3] = np.inf
        self.kappa[1] = 0.7
        self.kappa[2, 0] = 0.0
        self.kappa[np.arange(N_ROWS), self.y] = np.inf
        self.weight = rng.uniform(0.5, 2.0, N_ROWS)
        shape = (3, N_ROWS, n_classes)
        exists = np.ones(shape, dtype=bool)
        exists[1] = np.isfinite(self.kappa).any(axis=1)[:, None]
        exists[2] = np.isfinite(self.kappa)
        self.exists = exists
        self.slack = np.where(exists, rng.lognormal(sigma=spread, size=shape), 1.0)
        self.mult = np.where(exists, rng.lognormal(sigma=spread, size=shape), 0.0)
        self.target = np.where(exists, rng.lognormal(sigma=spread, size=shape), 0.0)
        self.spring = self.mult / self.slack
        self.dz = rng.normal(size=(N_ROWS, n_classes))
        self.dlam = rng.normal()

    def moves(self):
        """The same in the solver's arrays (kinds, C, N)."""
        rows = native.SampleRows(self.y, self.weight, self.kappa)
        slack, mult = (by_classes(part) for part in (self.slack, self.mult))
        rows.put(slack, mult, np.zeros(N_ROWS), np.zeros(N_ROWS))
        return native.SampleMoves(rows)

    def dense_rows(self, n):
        """R of sample n, (3, C, C + 3), zero where a row does not exist."""
        n_classes = self.kappa.shape[1]
        rows = np.zeros((3, n_classes, n_classes + 3))
        lam, s, h = n_classes, n_classes + 1, n_classes + 2
        for j in range(n_classes):
            rows[0, j, s] = 1.0
            rows[0, j, j] -= 1.0
            rows[0, j, self.y[n]] += 1.0
            rows[1, j, [h, j]] = 1.0, -1.0
            rows[2, j, [s, h, j]] = 1.0, -1.0, 1.0
            if np.isfinite(self.kappa[n, j]):
                rows[2, j, lam] = self.kappa[n, j]
        return rows * self.exists[:, n, :, None]

    def dense_system(self, n):
        """Normal matrix and right-hand side in (z, lam, s, h)."""
        rows = self.dense_rows(n).reshape(-1, self.kappa.shape[1] + 3)
        spring, target = self.spring[:, n].ravel(), self.target[:, n].ravel()
        gradient = np.zeros(rows.shape[1])
        gradient[-2] = self.weight[n]
        return (rows.T * spring) @ rows, rows.T @ target - gradient

    def eliminated(self, n):
        """The Schur complement on (z, lam), its right-hand side, and how s, h follow."""
        matrix, rhs = self.dense_system(n)
        keep, local = slice(None, -2), slice(-2, None)
        # h is free in a sample without flips; the pseudo-inverse leaves it at zero.
        inverse = np.linalg.pinv(matrix[local, local])
        coupling = matrix[keep, local] @ inverse
        return (
            matrix[keep, keep] - coupling @ matrix[local, keep],
            rhs[keep] - coupling @ rhs[local],
            inverse @ rhs[local],
            -inverse @ matrix[local, keep],
        )


@class_counts
@pytest.mark.parametrize("spread", [1.0, 2.0])
def test_elimination_is_the_schur_complement(n_classes, spread):
    samples = Samples(n_classes, spread=spread)
    curvature = samples.moves().curvature()
    for n in range(N_ROWS):
        expected = samples.eliminated(n)[0]
        size = np.abs(samples.dense_system(n)[0]).max()
        np.testing.assert_allclose(curvature[n], expected, atol=1e-12 * size)


@class_counts
def test_curvature_is_semidefinite_with_springs_of_every_size(n_classes):
    samples = Samples(n_classes, spread=20.0)
    for block in samples.moves().curvature():
        np.testing.assert_array_equal(block, block.T)
        values = np.linalg.eigvalsh(block)
        assert values[0] >= -1e-14 * max(values[-1], 1e-300) * len(block)


@class_counts
def test_curvature_ignores_a_shift_of_all_scores(n_classes):
    samples = Samples(n_classes)
    curvature = samples.moves().curvature()
    shift = np.append(np.ones(n_classes), 0.0)
    np.testing.assert_allclose(curvature @ shift, 0.0, atol=1e-12)


@class_counts
def test_right_hand_side_is_reduced_alike(n_classes):
    samples = Samples(n_classes)
    rhs, rhs_lam, local = samples.moves().rhs(by_classes(samples.target))
    expected = [samples.eliminated(n) for n in range(N_ROWS)]
    np.testing.assert_allclose(rhs.T, [each[1][:-1] for each in expected], atol=1e-12)
    assert rhs_lam == pytest.approx(sum(each[1][-1] for each in expected))
    np.testing.assert_allclose(
        np.transpose(local), [each[2] for each in expected], atol=1e-12
    )


def whole_step(samples):
    """Steps of slacks and multipliers (3, N, C), s and h, and how far they can go."""
    moves = samples.moves()
    moves.rhs(by_classes(samples.target))
    steps, local, lengths = moves.step(samples.dz.T, samples.dlam)
    return *(by_classes(part) for part in steps), *local, lengths


@class_counts
def test_steps_of_the_rows_follow_those_of_scores_and_multiplier(n_classes):
    samples = Samples(n_classes)
    d_slack, d_mult, d_s, d_h, lengths = whole_step(samples)
    for n in range(N_ROWS):
        _, _, offset, follow = samples.eliminated(n)
        outer = np.append(samples.dz[n], samples.dlam)
        step = np.concatenate([outer, offset + follow @ outer])
        np.testing.assert_allclose([d_s[n], d_h[n]], step[-2:], atol=1e-12)
        expected = samples.dense_rows(n) @ step
        np.testing.assert_allclose(d_slack[:, n], expected, atol=1e-12)
        mult = samples.target[:, n] - samples.mult[:, n] - samples.spring[:, n] * expected
        np.testing.assert_allclose(d_mult[:, n], mult, atol=1e-12)
    for value, change, length in zip(
        (samples.slack, samples.mult), (d_slack, d_mult), lengths, strict=True
    ):
        falling = change < 0
        assert length == pytest.approx((value[falling] / -change[falling]).min())


@class_counts
def test_a_whole_step_meets_the_row_sums(n_classes):
    samples = Samples(n_classes)
    d_mult = whole_step(samples)[1]
    alpha, beta, phi = samples.mult + d_mult
    np.testing.assert_allclose(alpha.sum(axis=1) + phi.sum(axis=1), samples.weight)
    np.testing.assert_allclose(beta.sum(axis=1), phi.sum(axis=1), atol=1e-12)


@class_counts
def test_the_start_is_feasible_and_its_multipliers_meet_the_row_sums(n_classes):
    samples = Samples(n_classes)
    lam = 0.8
    rows = native.SampleRows(samples.y, samples.weight, samples.kappa)
    rows.start(lam)
    slack, mult, s, h = rows.arrays()
    slack, mult = by_classes(slack), by_classes(mult)
    np.testing.assert_array_equal(mult > 0, samples.exists)
    assert (slack > 0).all()
    for n in range(N_ROWS):
        point = np.concatenate([np.zeros(n_classes), [lam, s[n], h[n]]])
        constant = np.zeros((3, n_classes))
        constant[0] = np.arange(n_classes) != samples.y[n]
        constant[2] = 1.0
        actual = samples.dense_rows(n) @ point - constant
        exists = samples.exists[:, n]
        np.testing.assert_allclose(slack[:, n][exists], actual[exists])
        # All pieces of the loss are equally far from their ends.
        products = (slack * mult)[[0, 2], n][exists[[0, 2]]]
        np.testing.assert_allclose(products, products[0])
    alpha, beta, phi = mult
    np.testing.assert_allclose(alpha.sum(axis=1) + phi.sum(axis=1), samples.weight)
    np.testing.assert_allclose(beta.sum(axis=1), phi.sum(axis=1))


@pytest.mark.parametrize("n_columns", [1, 4])
def test_gram_is_the_sum_of_kronecker_products(n_columns):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, n_columns))
    half = rng.normal(size=(6, 4, 4))
    curvature = half + half.transpose(0, 2, 1)
    size = 3 * n_columns
    expected = np.zeros((size + 1, size + 1))
    for weight, row in zip(curvature, X, strict=True):
        expected[:size, :size] += np.kron(weight[:3, :3], np.outer(row, row))
        expected[:size, size] += np.kron(weight[:3, 3], row)
        expected[size, size] += weight[3, 3]
    expected[size, :size] = expected[:size, size]
    np.testing.assert_allclose(weighted_gram(curvature, X), expected, atol=1e-12)


def test_samples_without_flips_have_one_kind_of_rows():
    samples = Samples(3)
    rows = native.SampleRows(samples.y, samples.weight, np.full_like(samples.kappa, np.inf))
    rows.start(1.0)
    slack, mult, _, h = rows.arrays()
    assert slack.shape == mult.shape == (1, 3, N_ROWS)
    np.testing.assert_array_equal(h, 0.0)
    np.testing.assert_allclose(mult.sum(axis=(0, 1)), samples.weight)
    assert rows.multipliers().shape == (3, N_ROWS, 3)
    np.testing.assert_array_equal(rows.multipliers()[1:], 0.0)
    spring, sums = rows.springs()
    assert spring.shape == (3, 3, N_ROWS)
    assert sums.shape == (3, N_ROWS)
    np.testing.assert_array_equal(spring[1:], 0.0)


def test_a_step_ends_at_the_first_zero_of_rows_that_exist():
    value, change = np.array([1.0, 2.0, 3.0, 0.0]), np.array([-0.5, -4.0, -3.0, 0.0])
    moves = native.Moves(native.LinearRows(np.array([1.0, 2.0, 3.0, 1.0]), value))
    moves.prepare()
    moves.find_given_step(change)
    assert moves.lengths[0] == 0.5
    moves.find_given_step(-change)
    assert moves.lengths[0] == np.inf
    moves.find_given_step(np.zeros(4))
    assert moves.lengths[0] == np.inf


@pytest.mark.parametrize("entry", [np.nan, np.inf])
def test_a_factorisation_without_numbers_ends(entry):
    matrix = np.array([[1.0, entry], [entry, 1.0]])
    assert np.isnan(native.NormalSystem(matrix).solve(np.ones(2))).any()


def test_the_centre_is_the_fourth_power_of_the_share_that_a_prediction_leaves():
    steps = native.Steps()
    assert steps.centre(2.0, 1.0, 4.0) == pytest.approx(0.5**4 * 2.0 / 4.0)
    assert steps.centre(2.0, 3.0, 4.0) == pytest.approx(2.0 / 4.0)


def test_steps_go_nearer_to_the_boundary_after_a_steep_prediction():
    steps = native.Steps()
    for after, share in ((0.9 * CONES.steep, CONES.last_share), (1.0, CONES.step_share)):
        steps.centre(1.0, after, 1.0)
        assert steps.lengths(0.5, 0.25) == pytest.approx((share * 0.5, share * 0.25))
        assert steps.lengths(0.5, 1.0001 / CONES.last_share)[1] == 1.0


def test_a_step_is_whole_where_both_lengths_are():
    steps = native.Steps()
    assert steps.reach_of(0.5, 3.0) == 1.5
    assert steps.goes_all_the_way(steps.reach_of(1.0, 7.0))
    assert not steps.goes_all_the_way(steps.reach_of(0.999, 7.0))
    least = 1.0 + CONES.longer / 8
    assert steps.is_longer(least, 1.0)
    assert not steps.is_longer(least - 1e-9, 1.0)
    longer = (1 + CONES.longer) * (0.3 + CONES.longer)
    assert steps.longer_lengths(0.3, 5.0) == pytest.approx((longer, 1.0))


def test_short_steps_in_sequence_are_given_up():
    steps = native.Steps()
    for _ in range(CONES.max_short_steps):
        assert not steps.is_stuck(1.0)
        steps.lengths(0.5 * CONES.short_step, 1.0)
    assert steps.is_stuck(1.0)
    steps.lengths(2.0, 2.0)
    assert not steps.is_stuck(1.0)
    assert steps.is_stuck(1e-17)
    steps.stop()
    assert steps.is_stuck(1.0)
