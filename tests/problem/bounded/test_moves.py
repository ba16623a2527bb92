"""The best move in a box beats every other move, in each norm, with and without ends."""

import numpy as np
import pytest

from wdrsvm.problem.bounded.moves import BEST_MOVES

ORDER = {"l1": 1, "l2": 2, "linf": np.inf}
NORMS = [*ORDER]


def value(norm, step, steepness, cost, lam):
    return step @ steepness - lam * np.linalg.norm(step * cost, ORDER[norm], axis=-1)


def instance(seed, n_rows=5, n_features=4):
    rng = np.random.default_rng(seed)
    steepness, cost = (0.2 + rng.exponential(size=n_features) for _ in range(2))
    reach = rng.exponential(size=(n_rows, n_features))
    reach[rng.random(reach.shape) < 0.2] = 0.0
    return rng, steepness, cost, reach


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("lam", [0.0, 0.3, 1.0, 3.0])
def test_no_other_move_gains_more(norm, seed, lam):
    rng, steepness, cost, reach = instance(seed)
    best = BEST_MOVES[norm](steepness, reach, cost, lam)
    assert (best >= 0).all()
    assert (best <= reach).all()
    gained = value(norm, best, steepness, cost, lam)
    assert (gained >= -1e-12).all()
    for size in (1.0, 0.1, 1e-3):
        others = best + size * rng.normal(size=(300, *best.shape))
        others = np.clip(others, 0.0, reach)
        rivals = value(norm, others, steepness, cost, lam)
        assert (rivals <= gained + 1e-12).all()


@pytest.mark.parametrize("norm", NORMS)
def test_where_nothing_is_paid_rows_go_to_their_ends(norm):
    _, steepness, cost, reach = instance(0)
    np.testing.assert_allclose(BEST_MOVES[norm](steepness, reach, cost, 0.0), reach)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("lam", [1e-6, 1e-8, 1e-12])
def test_where_next_to_nothing_is_paid_rows_go_to_their_ends(norm, lam):
    """With many features, rounding decides which rows have a solution for ``l2``."""
    _, steepness, cost, reach = instance(0, n_rows=40, n_features=20)
    np.testing.assert_allclose(BEST_MOVES[norm](steepness, reach, cost, lam), reach)


@pytest.mark.parametrize("norm", NORMS)
def test_where_moving_is_dear_rows_stay(norm):
    _, steepness, cost, reach = instance(1)
    lam = 10 * np.linalg.norm(steepness / cost, 1)
    assert not BEST_MOVES[norm](steepness, reach, cost, lam).any()


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("seed", range(4))
def test_a_feature_without_an_end_counts_as_far_as_others_take_it(norm, seed):
    """Where escaping does not pay, the best move is finite and as good as in a wide box."""
    _, steepness, cost, reach = instance(seed)
    endless = reach.copy()
    endless[:, 1] = np.inf
    dual = {"l1": np.inf, "l2": 2, "linf": 1}[norm]
    # Escaping along the endless feature alone costs more than it gains.
    lam = 1.01 * np.linalg.norm([steepness[1] / cost[1]], dual)
    best = BEST_MOVES[norm](steepness, endless, cost, lam)
    assert np.isfinite(best).all()
    wide = np.where(np.isinf(endless), 1e3, endless)
    rival = BEST_MOVES[norm](steepness, wide, cost, lam)
    np.testing.assert_allclose(
        value(norm, best, steepness, cost, lam),
        value(norm, rival, steepness, cost, lam),
        rtol=1e-9,
        atol=1e-9,
    )


@pytest.mark.parametrize("norm", NORMS)
def test_nothing_overflows_or_is_divided_by_zero_on_the_way(norm):
    """Very large, very small, and without ends."""
    _, steepness, cost, reach = instance(2)
    endless = np.where(reach > 1.0, np.inf, reach)
    lam = 2 * np.linalg.norm(steepness / cost, {"l1": np.inf, "l2": 2, "linf": 1}[norm])
    with np.errstate(over="raise", divide="raise", invalid="raise"):
        for size in (1e-40, 1.0, 1e40):
            for width in (1e-40, 1.0, 1e40):
                best = BEST_MOVES[norm](steepness, width * reach, size * cost, lam / size)
                assert (best <= width * reach).all()
        assert np.isfinite(BEST_MOVES[norm](steepness, endless, cost, lam)).all()
        assert np.isfinite(BEST_MOVES[norm](steepness, endless, cost, 0.0)).all()


def test_moves_by_hand():
    """Rates 2 and 1; the first ends after 1, the second after 3."""
    steepness, cost, reach = np.array([2.0, 1.0]), np.ones(2), np.array([[1.0, 3.0]])
    for norm, lam, expected in (
        ("l1", 0.5, [1.0, 3.0]),
        ("l1", 1.0, [1.0, 0.0]),
        ("l1", 2.0, [0.0, 0.0]),
        # Both together gain 3 up to the first end, the second alone 1.
        ("linf", 0.5, [1.0, 3.0]),
        ("linf", 1.0, [1.0, 1.0]),
        ("linf", 3.0, [0.0, 0.0]),
        # lam tau is the length: sqrt(1 + tau^2) = lam tau once the first has stopped.
        ("l2", np.sqrt(2.0), [1.0, 1.0]),
        ("l2", np.sqrt(5.0) / 2, [1.0, 2.0]),
        ("l2", 1.0, [1.0, 3.0]),
        ("l2", 2.3, [0.0, 0.0]),
    ):
        found = BEST_MOVES[norm](steepness, reach, cost, lam)
        np.testing.assert_allclose(found, [expected], atol=1e-12, err_msg=f"{norm} {lam}")


@pytest.mark.parametrize("norm", NORMS)
def test_costs_are_units_of_the_features(norm):
    _, steepness, cost, reach = instance(3)
    found = BEST_MOVES[norm](steepness, reach, cost, 0.7)
    in_units = BEST_MOVES[norm](steepness / cost, reach * cost, np.ones(4), 0.7)
    np.testing.assert_allclose(found * cost, in_units, atol=1e-12)
