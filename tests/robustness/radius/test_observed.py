"""How far data have drifted: against distances known otherwise, and in simulations."""

import sys
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from scipy.stats import wasserstein_distance

from wdrsvm import ObservedRadius, RobustLinearSVC, observed_radius
from wdrsvm.robustness.radius import noise, transport
from wdrsvm.robustness.radius.transport import (
    Sample,
    TransportCost,
    _cuts,
    _piece,
    directions_between,
    exact_distance,
    lower_bound,
    upper_bound,
)

RNG = np.random.default_rng(0)
OLD, NEW = RNG.normal(size=(60, 3)), RNG.normal(size=(40, 3)) + np.eye(3)[0]
Y_OLD, Y_NEW = np.arange(60) % 3, np.arange(40) % 3


def sample(X, y=None):
    return Sample(X, np.empty((len(X), 0)), y)


@pytest.mark.parametrize("sizes", [(50, 50), (50, 31), (1, 7)])
def test_on_a_line_it_is_the_distance_of_quantiles(sizes):
    old, new = RNG.normal(size=(sizes[0], 1)), RNG.exponential(size=(sizes[1], 1))
    cost = TransportCost("l2", np.zeros((1, 1)))
    found = exact_distance(cost, sample(old), sample(new))
    assert found == pytest.approx(wasserstein_distance(old[:, 0], new[:, 0]))


def test_matching_and_linear_program_agree():
    table = cdist(OLD[:40], NEW)
    mass = np.full(40, 1 / 40)
    matched, transported = (
        transport._matched(table),
        transport._transported(table, mass, mass),
    )
    assert matched == pytest.approx(transported)


@pytest.mark.parametrize(
    ("norm", "shift"), [("l1", 6.0), ("l2", np.sqrt(14)), ("linf", 3.0)]
)
def test_a_shift_of_all_rows_is_its_length(norm, shift):
    found = observed_radius(OLD, OLD + np.array([1.0, -2.0, 3.0]), norm=norm)
    assert found.radius == found.lower == found.upper == pytest.approx(shift)
    assert (found.n_old, found.n_new) == (60, 60)
    assert 0 < found.drift < found.radius
    assert type(found.radius) is type(found.drift) is type(found.noise_floor) is float


def test_features_have_prices():
    moved = OLD + np.array([1.0, 0.0, 0.0])
    priced = observed_radius(OLD, moved, feature_cost=[3.0, 1.0, 1.0])
    assert priced.radius == pytest.approx(3.0)
    deviations = observed_radius(OLD, moved, feature_cost="std")
    assert deviations.radius == pytest.approx(1 / OLD[:, 0].std())
    model = RobustLinearSVC(feature_cost="std").fit(OLD, Y_OLD)
    own = observed_radius(OLD, moved, feature_cost=model.feature_cost_)
    assert own.radius == pytest.approx(deviations.radius)


def test_what_cannot_move_must_not_have_moved():
    cost = [np.inf, 1.0, 1.0]
    assert observed_radius(
        OLD, OLD + np.array([0, 2.0, 0]), feature_cost=cost
    ).radius == pytest.approx(2)
    found = observed_radius(OLD, OLD + np.array([2.0, 0, 0]), feature_cost=cost)
    assert found.radius == found.drift == np.inf
    assert "in no ball around the 60 old ones" in found.sentence()
    assert observed_radius(OLD, NEW, feature_cost=cost).radius == np.inf


def test_labels_have_prices():
    flipped = Y_OLD.copy()
    flipped[:6] = (flipped[:6] + 1) % 3
    found = observed_radius(OLD, OLD, Y_OLD, flipped, label_cost=0.01)
    assert found.radius == pytest.approx(0.1 * 0.01)
    assert observed_radius(OLD, OLD, Y_OLD, Y_OLD).radius == 0
    assert observed_radius(OLD, OLD, Y_OLD).radius == 0
    assert observed_radius(OLD, OLD, Y_OLD, np.roll(Y_OLD, 1), label_cost=np.inf).radius > 0
    assert observed_radius(OLD, OLD, Y_OLD, 0 * Y_OLD, label_cost=np.inf).radius == np.inf
    matrix = [[0, 1.0, 9.0], [9.0, 0, 9.0], [9.0, 9.0, 0]]
    one = Y_OLD.copy()
    one[np.flatnonzero(one == 0)[:3]] = 1
    far = observed_radius(1e3 * OLD, 1e3 * OLD, Y_OLD, one, label_cost=matrix)
    assert far.radius == pytest.approx(3 / 60)


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize("n_new", [60, 40])
def test_bounds_hold_where_the_exact_distance_is_known(monkeypatch, norm, n_new):
    monkeypatch.setattr(transport, "MATCHED_PIECE", 25)
    monkeypatch.setattr(transport, "PAIRS_OF_PIECE", 300)
    new = np.vstack([NEW, NEW[:20] + 0.1])[:n_new]
    label_cost = np.array([[0, 1.0, 2.0], [2.0, 0, 1.0], [1.0, 1.0, 0]])
    cost = TransportCost(norm, label_cost)
    old, new = sample(OLD, Y_OLD), sample(new, np.arange(n_new) % 2)
    exact = exact_distance(cost, old, new)
    rng = np.random.default_rng(0)
    directions = directions_between(norm, old, new, 20, rng)
    below, above = lower_bound(cost, old, new, directions), upper_bound(cost, old, new, rng)
    assert 0.3 * exact < below <= exact * (1 + 1e-9)
    assert exact * (1 - 1e-9) <= above < 2 * exact


def test_one_piece_is_exact(monkeypatch):
    cost = TransportCost("l2", np.zeros((1, 1)))
    old, new = sample(OLD), sample(NEW)
    above = upper_bound(cost, old, new, np.random.default_rng(3))
    assert above == pytest.approx(exact_distance(cost, old, new))


def test_pieces_hold_all_mass_once():
    for n_old, n_new in ((2500, 2500), (700, 1300), (999, 400)):
        for n_rows in (n_old, n_new):
            held, ends = np.zeros(n_rows), _cuts(n_old, n_new)
            for low, high in pairwise(ends):
                rows, mass = _piece(n_rows, low, high)
                held[rows] += (high - low) * mass
            np.testing.assert_allclose(held, 1 / n_rows, rtol=1e-6)
        assert (ends[0], ends[-1]) == (0.0, 1.0)


def test_labels_alone_are_a_bound():
    cost = TransportCost("l2", 3.0 * (1 - np.eye(2)))
    old, new = (
        sample(np.zeros((4, 1)), np.array([0, 0, 1, 1])),
        sample(np.zeros((2, 1)), np.array([1, 1])),
    )
    assert lower_bound(cost, old, new, np.ones((1, 1))) == pytest.approx(1.5)


def test_distances_of_columns_are_those_of_scipy():
    for new in (NEW, np.vstack([NEW, NEW[:20]])):
        found = transport._on_lines(OLD, new)
        expected = [wasserstein_distance(OLD[:, k], new[:, k]) for k in range(3)]
        assert found == pytest.approx(expected)


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_directions_have_dual_norm_one(norm):
    found = directions_between(norm, sample(OLD), sample(NEW), 5, np.random.default_rng(0))
    dual = {"l1": np.inf, "l2": 2, "linf": 1}[norm]
    np.testing.assert_allclose(np.linalg.norm(found, dual, axis=1), 1)
    assert len(found) == 1 + 3 + 5


def test_large_samples_have_bounds(monkeypatch):
    monkeypatch.setattr(transport, "MOST_MATCHED", 30)
    monkeypatch.setattr(transport, "MATCHED_PIECE", 20)
    found = observed_radius(OLD, OLD + np.array([1.0, 0, 0]))
    assert found.lower == pytest.approx(1.0)
    assert found.upper == found.radius > 1.0
    assert "between 1 and" in found.sentence()
    again = observed_radius(OLD, OLD + np.array([1.0, 0, 0]))
    assert again == found


@pytest.mark.parametrize(("n_old", "n_new"), [(120, 120), (200, 50), (60, 150)])
@pytest.mark.parametrize("pieces", [False, True])
def test_without_drift_the_noise_floor_is_the_radius(monkeypatch, n_old, n_new, pieces):
    """The means of both over draws, within the noise of the means."""
    if pieces:
        for name in ("MOST_MATCHED", "MOST_PAIRS", "MATCHED_PIECE"):
            monkeypatch.setattr(transport, name, 30)
        monkeypatch.setattr(transport, "PAIRS_OF_PIECE", 900)
    rng = np.random.default_rng(7)
    draws = []
    for _ in range(15):
        old, new = rng.normal(size=(n_old, 3)), rng.normal(size=(n_new, 3))
        drift = observed_radius(old, new, n_splits=2)
        draws.append((drift.radius, drift.noise_floor))
    radius, floor = np.mean(draws, axis=0)
    # More new rows than old ones are not credited with less noise.
    assert 0.93 * radius < floor < (1.35 if n_new > n_old else 1.07) * radius


def test_drift_is_seen_through_noise():
    rng = np.random.default_rng(1)
    old, calm = rng.normal(size=(400, 8)), rng.normal(size=(400, 8))
    quiet = observed_radius(old, calm)
    moved = observed_radius(old, calm + 0.5 * np.eye(8)[0])
    assert quiet.radius > 1 > moved.drift > 0.15
    assert quiet.drift < 0.05
    assert f"at least {moved.drift:.3g} is drift" in moved.sentence()
    none = ObservedRadius(0.1, 0.1, 0.1, 0.2, 0.0, 5, 6)
    assert "no drift shows" in none.sentence()


def test_equal_rows_have_no_noise():
    found = observed_radius(np.ones((9, 2)), np.ones((9, 2)))
    assert (found.radius, found.noise_floor, found.drift) == (0.0, 0.0, 0.0)


def test_noise_falls_by_its_own_rate():
    """A measure that falls like 1 / size is carried over exactly."""

    def measure(cost, one, other, rng):
        return 1 / one.n_rows

    rows = sample(np.zeros((64, 1)))
    rng = np.random.default_rng(0)
    found = noise._extrapolated(measure, None, rows, (64, 64), 2, rng)
    assert found == pytest.approx([1 / 64] * 2)
    assert noise._extrapolated(measure, None, rows, (128, 128), 1, rng) == [1 / 128]
    assert noise._extrapolated(measure, None, rows, (16, 16), 1, rng) == [1 / 16]
    assert noise._extrapolated(measure, None, rows, (40, 24), 1, rng) == [1 / 40]


def test_sparse_rows_and_frames():
    pd = pytest.importorskip("pandas")
    expected = observed_radius(OLD, NEW)
    assert observed_radius(sparse.csr_array(OLD), pd.DataFrame(NEW)) == expected


def test_pot_is_used_where_it_is(monkeypatch):
    asked = []

    def emd2(mass, other, table, numItermax):
        asked.append(table.shape)
        return 0.25

    monkeypatch.setitem(sys.modules, "ot", SimpleNamespace(emd2=emd2))
    monkeypatch.setattr(transport, "_has_pot", lambda: True)
    assert observed_radius(OLD, NEW).radius == 0.25
    assert asked[0] == (60, 40)
    assert transport.is_small(sample(np.zeros((3000, 1))), sample(np.zeros((1000, 1))))


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((OLD, NEW[:, :2]), {}, "X_new must have the 3 features of X_old, got 2"),
        ((OLD[:0], NEW), {}, "0 sample"),
        ((OLD[:1], NEW), {}, "X_old must have at least 2 rows, got 1"),
        ((OLD, np.full((2, 3), np.nan)), {}, "Input X_new contains NaN"),
        ((OLD, 1e99 * NEW), {}, "must have no entries larger"),
        ((OLD, NEW, Y_OLD, Y_NEW + 1), {}, r"y_new must have labels of y_old only.*\[3\]"),
        ((OLD, NEW, None, Y_NEW), {}, "y_old must be given where y_new is"),
        ((OLD, NEW, Y_OLD[:3], Y_NEW), {}, "inconsistent numbers of samples"),
        ((OLD, NEW), {"norm": "l3"}, "norm must be one of"),
        (
            (OLD, NEW),
            {"feature_cost": "mad"},
            "feature_cost must be 'std', None or an array",
        ),
        ((OLD, NEW), {"feature_cost": [1.0]}, "feature_cost has shape"),
        ((OLD, NEW), {"label_cost": -1.0}, "label_cost must be >= 0"),
        ((OLD, NEW), {"n_splits": 0}, "n_splits must be an integer >= 1, got 0"),
    ],
)
def test_bad_input(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        observed_radius(*arguments, **options)


@pytest.mark.parametrize(
    ("sizes", "parts"), [((16, 8), (16, 8)), ((16, 30), (16, 16)), ((90, 60), (38, 25))]
)
def test_noise_is_measured_between_parts_of_the_wanted_sizes(sizes, parts):
    """Of disjoint rows, as many as there are; noise that grows with them is left alone."""
    asked = []

    def measure(cost, one, other, rng):
        asked.append((one.n_rows, other.n_rows))
        assert not np.intersect1d(one.X, other.X).size
        return float(one.n_rows)

    rows = sample(np.arange(64.0)[:, None])
    found = noise._extrapolated(measure, None, rows, sizes, 3, np.random.default_rng(0))
    assert found == [parts[0]] * 3
    assert asked[:3] == [parts] * 3
    few = rows.take(np.arange(3))
    assert noise._extrapolated(
        measure, None, few, (100, 100), 1, np.random.default_rng(0)
    ) == [1.0]
    assert asked[-1] == (1, 1)


def test_whole_numbers_are_read_as_floats():
    old, new = np.array([[-120], [100]], dtype=np.int8), np.array([[-120], [120]])
    found = observed_radius(old, new.astype(np.int8), feature_cost=[3.0])
    assert found.radius == pytest.approx(30.0)
    assert found == observed_radius(
        old.astype(float), new.astype(float), feature_cost=[3.0]
    )
