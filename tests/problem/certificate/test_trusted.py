"""Tangents at trusted labels: those of ``smooth.py`` without flips, and drawn ones."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from wdrsvm.problem import Loss
from wdrsvm.problem.certificate import trusted as module
from wdrsvm.problem.certificate.settings import CERTIFICATE
from wdrsvm.problem.certificate.smooth import RowTangents
from wdrsvm.problem.certificate.trusted import TrustedTangents

LOSSES = [Loss(1.0, 0.0), Loss(0.3, 1.0)]


def tangents(loss, n_rows=30, n_classes=4):
    """The same tangents in both forms, and their labels and weights."""
    rng = np.random.default_rng(0)
    points = 2 * rng.normal(size=(n_rows, n_classes))
    y, weight = rng.integers(0, n_classes, n_rows), rng.uniform(size=n_rows)
    masses = np.zeros_like(points)
    masses[np.arange(n_rows), y] = weight
    trusted = TrustedTangents.at(loss, points, y, weight)
    return trusted, RowTangents(loss, points, masses), y, weight


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_they_are_tangents_whose_mass_is_all_on_the_label(loss):
    trusted, general, y, weight = tangents(loss)
    pull = np.random.default_rng(1).normal(size=(30, 4))
    columns = np.random.default_rng(2).normal(size=(30, 2))
    for one, other in ((trusted, general), (trusted.tilted(pull), general.tilted(pull))):
        assert one.value(weight, y) == pytest.approx(other.value(weight, y), rel=1e-12)
        np.testing.assert_allclose(one.slopes(y), other.slopes(y), atol=1e-14)
        np.testing.assert_allclose(one.response(pull), other.response(pull), atol=1e-14)
        for some in (columns, columns[:, :1], columns[:, :0]):
            np.testing.assert_allclose(
                one.curvature(some), other.curvature(some), atol=1e-12
            )
            sums = one.on_columns(y, some)
            np.testing.assert_allclose(sums, other.on_columns(y, some), atol=1e-13)
            thin = one.on_columns(y, sparse.csr_array(some))
            np.testing.assert_allclose(thin, sums, atol=1e-13)


def test_parts_of_few_rows_add_up_to_all(monkeypatch):
    trusted, _, y, weight = tangents(LOSSES[1])
    columns = np.random.default_rng(2).normal(size=(30, 2))
    whole = trusted.value(weight, y), trusted.curvature(columns)
    # At least as many rows as classes.
    for entries, sizes in ((1, [4] * 7 + [2]), (4 * 7, [7, 7, 7, 7, 2])):
        monkeypatch.setattr(module, "PART_ENTRIES", entries)
        assert [len(part.y) for part in trusted._parts()] == sizes
    assert trusted.value(weight, y) == pytest.approx(whole[0], rel=1e-13)
    np.testing.assert_allclose(trusted.curvature(columns), whole[1], atol=1e-14)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_points_lead_back_to_the_winners(loss):
    trusted, _, y, weight = tangents(loss)
    again = TrustedTangents.at(loss, trusted.points, y, weight)
    np.testing.assert_allclose(again.winners, trusted.winners, rtol=1e-12)


def test_one_pull_for_all_rows_is_the_same_as_a_pull_for_each():
    trusted, general, y, _ = tangents(LOSSES[1])
    line = np.random.default_rng(3).normal(size=4)
    alike = np.broadcast_to(line, (30, 4))
    each = np.repeat(line[None], 30, axis=0)
    for one in (trusted, general):
        found = one.tilted(alike).slopes(y)
        np.testing.assert_allclose(found, one.tilted(each).slopes(y), atol=1e-15)
    huge = trusted.tilted(np.broadcast_to(1e4 * line, (30, 4)))
    np.testing.assert_allclose(huge.winners.sum(axis=1), 1.0)


@pytest.mark.parametrize("is_line", [True, False])
def test_small_pulls_change_sums_by_exactly_what_the_system_says(is_line):
    trusted, general, y, _ = tangents(LOSSES[1])
    pull = 0.02 * np.random.default_rng(3).normal(size=(30, 4))
    if is_line:
        pull = np.broadcast_to(pull[0], (30, 4))
    found = trusted.tilted(pull)
    change = found.slopes(y) - trusted.slopes(y)
    np.testing.assert_allclose(change, trusted.response(pull), atol=1e-16)
    assert (found.winners >= 0).all()
    np.testing.assert_allclose(found.winners.sum(axis=1), 1.0, rtol=1e-14)
    # What is missing of a tilt grows with the square of the pull.
    np.testing.assert_allclose(found.slopes(y), general.tilted(pull).slopes(y), atol=1e-3)


def test_only_small_pulls_are_taken_to_first_order():
    trusted, _, y, _ = tangents(LOSSES[1])
    limit = CERTIFICATE.small_pull
    for width, is_first_order in ((0.9 * limit, True), (1.1 * limit, False)):
        # A pull that all classes share counts for nothing.
        pull = np.broadcast_to(5.0 + np.array([0.0, width, 0.0, 0.0]), (30, 4))
        change = trusted.tilted(pull).slopes(y) - trusted.slopes(y)
        miss = np.abs(change - trusted.response(pull)).max()
        assert bool(miss < 1e-15) is is_first_order


@pytest.mark.parametrize("is_line", [True, False])
def test_small_pulls_after_a_moderate_one_obey_the_system_from_before(is_line):
    trusted, _, y, _ = tangents(LOSSES[1])
    moderate, small = np.random.default_rng(3).uniform(-1, 1, (2, 30, 4))
    moderate, small = 0.2 * moderate, 0.04 * small
    if is_line:
        moderate, small = (np.broadcast_to(pull[0], (30, 4)) for pull in (moderate, small))
    once = trusted.tilted(moderate)
    assert np.abs(once.slopes(y) - trusted.slopes(y) - trusted.response(moderate)).max() > 0
    columns = np.ones((30, 1))
    np.testing.assert_array_equal(once.curvature(columns), trusted.curvature(columns))
    np.testing.assert_array_equal(once.own_response(), trusted.own_response())
    found = once
    for n_tilts in range(1, 4):
        found = found.tilted(small)
        change = found.slopes(y) - once.slopes(y)
        expected = n_tilts * trusted.response(small)
        np.testing.assert_allclose(change, expected, atol=1e-15)
    assert (found.winners > 0).all()
    np.testing.assert_allclose(found.winners.sum(axis=1), 1.0, rtol=1e-14)


def test_large_pulls_and_many_small_ones_have_a_system_of_their_own():
    trusted, *_ = tangents(LOSSES[1])
    columns = np.ones((30, 1))
    line = np.array([0.0, 1.0, 0.0, 0.0])
    wide = 1.1 * CERTIFICATE.moderate_pull
    far = trusted.tilted(np.broadcast_to(wide * line, (30, 4)))
    assert not np.allclose(far.curvature(columns), trusted.curvature(columns), rtol=1e-3)
    # However often small tilts pull the same way, no winner becomes negative.
    for _ in range(60):
        far = far.tilted(np.broadcast_to(-0.09 * line, (30, 4)))
        assert (far.winners > 0).all()
    np.testing.assert_allclose(far.winners.sum(axis=1), 1.0, rtol=1e-12)


def test_winners_that_vanish_have_no_entropy():
    y, weight = np.zeros(1, int), np.ones(1)
    sure = TrustedTangents(LOSSES[0], np.array([[1.0, 0.0, 0.0]]), y, weight)
    assert sure.value(weight, y) == 0
    assert np.isfinite(sure.points).all()


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_drawn_tangents_have_a_share_of_the_slopes_and_more_than_that_of_the_value(loss):
    whole, _, y, weight = tangents(loss)
    for share in (0.2, 0.9, 1.0):
        drawn = whole.drawn(share)
        np.testing.assert_allclose(drawn.slopes(y), share * whole.slopes(y), atol=1e-12)
        value = drawn.value(weight, y)
        assert value >= share * whole.value(weight, y) - 1e-12
        assert (value > share * whole.value(weight, y)) == (share < 1)


def test_scores_far_from_zero_lose_no_digits():
    trusted, _, y, weight = tangents(LOSSES[0])
    far = TrustedTangents.at(LOSSES[0], trusted.points + 1e6, y, weight)
    assert far.value(weight, y) == pytest.approx(trusted.value(weight, y), rel=1e-9)


def test_they_spend_nothing_and_take_the_weights_of_the_problem():
    trusted, _, y, weight = tangents(LOSSES[0])
    cost = np.ones((30, 4))
    assert trusted.spending(cost) == 0
    assert trusted.loosened(weight) is trusted
    assert trusted.restored(weight, y, cost, 0.5) is trusted
    twice = trusted.restored(2 * weight, y, cost, 1.0)
    np.testing.assert_allclose(twice.slopes(y), 2 * trusted.slopes(y))
    assert trusted.belong_to(LOSSES[0])
    assert not trusted.belong_to(LOSSES[1])


def test_sums_of_many_equal_weights_lose_no_digits():
    """Equalities hold up to 1e-13: naive sums of so many rows would miss that."""
    n_rows = 200_000
    y, weight = np.arange(n_rows) % 3 // 2, np.full(n_rows, 1 / n_rows)
    winners = np.random.default_rng(0).dirichlet(np.ones(2), n_rows)
    trusted = TrustedTangents(LOSSES[0], winners, y, weight)
    found = trusted.on_columns(y, np.ones((n_rows, 1)))[:, 0]
    exact = [math.fsum(column) for column in trusted.slopes(y).T]
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-14)


def test_a_row_whose_winners_would_vanish_stays_as_it_is():
    points = np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
    trusted = TrustedTangents.at(Loss(1e-3, 0.0), points, np.arange(2), np.ones(2))
    found = trusted.tilted(np.broadcast_to([-800.0, -800.0, 0.0], (2, 3)))
    np.testing.assert_array_equal(found.winners, trusted.winners)


@pytest.mark.parametrize("sharpness", [1.0, 30.0])
def test_systems_of_many_classes_are_right_to_single_precision(sharpness, monkeypatch):
    """Also where nearly all of the probability is on the labels."""
    rng = np.random.default_rng(0)
    y, weight = rng.integers(0, 5, 40), rng.uniform(size=40)
    points = sharpness * (np.eye(5)[y] + 0.1 * rng.normal(size=(40, 5)))
    trusted = TrustedTangents.at(LOSSES[0], points, y, weight)
    columns = np.column_stack([np.ones(40), rng.normal(size=40)])
    expected = trusted.curvature(columns)
    monkeypatch.setattr(module, "CERTIFICATE", replace(CERTIFICATE, many_classes=5))
    for entries in (1, 1 << 15):
        monkeypatch.setattr(module, "PART_ENTRIES", entries)
        found = trusted.curvature(columns)
        largest = np.abs(expected).max()
        np.testing.assert_allclose(found, expected, atol=1e-6 * largest)
        assert np.abs(found.sum(axis=0)).max() < 1e-6 * largest
