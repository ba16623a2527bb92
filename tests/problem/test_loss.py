"""The loss family against its definition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import special

from wdrsvm.problem import LOSSES, Loss
from wdrsvm.problem.loss import softmax

CRAMMER_SINGER = LOSSES["crammer-singer"]
MEMBERS = [*LOSSES.values(), Loss(0.0, 0.3), Loss(0.1, 1.0), Loss(2.0, 0.5), Loss(0.5, 0.0)]
repeatable = settings(derandomize=True, deadline=None, max_examples=60)
# Few distinct values, so that ties occur.
some_scores = arrays(
    np.float64, (3, 4), elements=st.integers(-3, 3).map(float) | st.floats(-50, 50)
)
# Eighths, so that sums are exact.
eighths = st.integers(-24, 24).map(lambda k: k / 8)
exact_scores = arrays(np.float64, (3, 4), elements=eighths)
every_member = pytest.mark.parametrize("loss", MEMBERS, ids=str)


def by_hand(scores, temperature, margin):
    losses = np.empty_like(scores)
    n_classes = scores.shape[1]
    for n, row in enumerate(scores):
        for c in range(n_classes):
            raised = [row[j] + margin * (j != c) for j in range(n_classes)]
            top = max(raised)
            if temperature > 0:
                total = sum(np.exp((value - top) / temperature) for value in raised)
                top += temperature * np.log(total)
            losses[n, c] = top - row[c]
    return losses


@every_member
@repeatable
@given(some_scores)
def test_every_member_equals_its_definition(loss, scores):
    expected = by_hand(scores, loss.temperature, loss.margin)
    np.testing.assert_allclose(loss.of_labels(scores), expected, rtol=1e-10, atol=1e-10)


@every_member
@repeatable
@given(some_scores)
def test_own_labels_have_the_losses_of_all_labels(loss, scores):
    y = np.arange(len(scores)) % scores.shape[1]
    expected = loss.of_labels(scores)[np.arange(len(y)), y]
    np.testing.assert_array_equal(loss.of_own_labels(scores, y), expected)


@repeatable
@given(exact_scores)
def test_crammer_singer_is_at_least_the_error(scores):
    losses = CRAMMER_SINGER.of_labels(scores)
    for winner in (scores.argmax(axis=1), scores.shape[1] - 1 - scores[:, ::-1].argmax(1)):
        wrong = np.arange(scores.shape[1]) != winner[:, None]
        assert (losses >= wrong).all()


@repeatable
@given(exact_scores)
def test_crammer_singer_is_zero_only_beyond_the_margin(scores):
    losses = CRAMMER_SINGER.of_labels(scores)
    ranked = np.sort(scores, axis=1)
    clear = ranked[:, -1] - ranked[:, -2] >= 1
    assert ((losses == 0).any(axis=1) == clear).all()


@repeatable
@given(some_scores, st.floats(1e-6, 1.0))
def test_the_family_falls_to_its_limit(scores, temperature):
    limit = CRAMMER_SINGER.of_labels(scores)
    excess = Loss(temperature, 1.0).of_labels(scores) - limit
    assert (excess >= -1e-12).all()
    assert (excess <= temperature * np.log(scores.shape[1]) + 1e-12).all()


def test_logistic_is_the_negative_log_probability():
    scores = np.random.default_rng(0).normal(size=(5, 3))
    exponentials = np.exp(scores)
    probability = exponentials / exponentials.sum(axis=1, keepdims=True)
    found = LOSSES["logistic"].of_labels(scores)
    np.testing.assert_allclose(found, -np.log(probability), rtol=1e-13)


@every_member
@repeatable
@given(some_scores, some_scores)
def test_every_member_is_convex(loss, one, other):
    middle = loss.of_labels((one + other) / 2)
    ends = (loss.of_labels(one) + loss.of_labels(other)) / 2
    assert (middle <= ends + 1e-9).all()


@every_member
@repeatable
@given(some_scores, st.floats(-20, 20))
def test_every_member_ignores_a_shift_of_all_scores(loss, scores, shift):
    before = loss.of_labels(scores)
    np.testing.assert_allclose(loss.of_labels(scores + shift), before, atol=1e-9)


@every_member
def test_large_scores_do_not_overflow(loss):
    scores = np.array([[1e6, -1e6, 0.0]])
    losses = loss.of_labels(scores)
    np.testing.assert_allclose(losses[0, 1:], [2e6, 1e6], rtol=2e-6)
    assert losses[0, 0] <= 1e-9


def test_two_classes_are_the_hinge():
    margin = np.linspace(-2, 2, 9)
    scores = np.column_stack([np.zeros(9), margin])
    losses = CRAMMER_SINGER.of_labels(scores)
    np.testing.assert_allclose(losses[:, 1], np.maximum(0, 1 - margin))
    np.testing.assert_allclose(losses[:, 0], np.maximum(0, 1 + margin))


def test_one_class_has_no_rival():
    np.testing.assert_array_equal(CRAMMER_SINGER.of_labels(np.array([[3.0]])), [[0.0]])


def test_scores_are_left_as_they_were():
    scores = np.arange(6.0).reshape(2, 3)
    for loss in MEMBERS:
        loss.of_labels(scores)
    np.testing.assert_array_equal(scores, np.arange(6.0).reshape(2, 3))


def test_many_classes_equal_their_definition():
    """More than a sort of a few entries puts in order by the way."""
    rng = np.random.default_rng(0)
    for n_classes in (2, 17, 40):
        scores = rng.normal(size=(8, n_classes))
        for loss in (CRAMMER_SINGER, Loss(0.0, 0.3), Loss(0.5, 1.0)):
            expected = by_hand(scores, loss.temperature, loss.margin)
            np.testing.assert_allclose(loss.of_labels(scores), expected, atol=1e-12)


def test_ties_are_each_others_rivals():
    scores = np.array([[2.0, 2.0, 1.0], [0.0, 0.0, 0.0], [1.0, 3.0, 3.0]])
    expected = [[1.0, 1.0, 2.0], [1.0, 1.0, 1.0], [3.0, 1.0, 1.0]]
    np.testing.assert_array_equal(CRAMMER_SINGER.of_labels(scores), expected)


def test_equal_scores_have_the_loss_of_any_label():
    for n_classes in (1, 2, 7):
        assert CRAMMER_SINGER.of_equal_scores(n_classes) == (n_classes > 1)
        logistic = LOSSES["logistic"].of_equal_scores(n_classes)
        assert logistic == pytest.approx(np.log(n_classes))
        assert isinstance(logistic, float)
    both = Loss(0.5, 1.0).of_equal_scores(3)
    assert both == pytest.approx(0.5 * np.log(1 + 2 * np.exp(2.0)))


def test_shares_are_those_of_scipy_and_leave_the_scores():
    scores = 50 * np.random.default_rng(0).normal(size=(6, 4))
    before = scores.copy()
    np.testing.assert_allclose(softmax(scores), special.softmax(scores, axis=1), rtol=1e-13)
    np.testing.assert_array_equal(scores, before)


def test_the_named_losses_are_the_known_ones():
    assert {name: (one.temperature, one.margin) for name, one in LOSSES.items()} == {
        "crammer-singer": (0.0, 1.0),
        "logistic": (1.0, 0.0),
    }


def test_own_losses_of_all_members_are_one_column():
    scores = np.random.default_rng(0).normal(size=(5, 3))
    y = np.array([0, 2, 1, 1, 0])
    for loss in MEMBERS:
        expected = loss.of_labels(scores)[np.arange(5), y]
        np.testing.assert_allclose(loss.of_own_labels(scores, y), expected, rtol=1e-12)
