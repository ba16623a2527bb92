"""Rules for the radius against simulation."""

import numpy as np
import pytest
from scipy.stats import wasserstein_distance
from sklearn.datasets import load_iris
from sklearn.preprocessing import scale

from wdrsvm import (
    RobustLinearSVC,
    WassersteinBall,
    bootstrap_radius,
    guaranteed_radius,
    radius_max,
    worst_case_risk,
)
from wdrsvm.problem import Certificate, RobustProblem
from wdrsvm.robustness.radius import rules as radius_rules
from wdrsvm.robustness.radius.rules import (
    _bootstrap_counts,
    _covers,
    _grid_bound,
    _priced_widths,
)
from wdrsvm.solvers import SolverResult, SolverStatus

from ..cases import CODES, FEATURES


def gaussians(n_rows, rng, n_features=3):
    y = np.arange(n_rows) % 3
    return rng.normal(size=(n_rows, n_features)) + 2 * np.eye(3)[y][:, :n_features], y


@pytest.mark.parametrize("n_samples", [20, 200])
def test_the_guarantee_covers_the_distance_to_the_truth(n_samples):
    """One feature: W between a sample and uniform truth, labels right by construction."""
    rng = np.random.default_rng(0)
    truth = (np.arange(20_000) + 0.5) / 20_000
    distances = [wasserstein_distance(rng.random(n_samples), truth) for _ in range(200)]
    radius = guaranteed_radius(
        n_samples, ([0.0], [1.0]), n_classes=1, label_cost=0.0, confidence=0.9
    )
    assert np.quantile(distances, 0.9) <= radius


def test_the_mean_distance_is_below_its_bound():
    """confidence near 0 leaves the bound of the mean alone."""
    rng = np.random.default_rng(1)
    for n_samples in (10, 100, 1000):
        truth = (np.arange(20_000) + 0.5) / 20_000
        mean = np.mean(
            [wasserstein_distance(rng.random(n_samples), truth) for _ in range(50)]
        )
        bound = guaranteed_radius(
            n_samples, ([0.0], [1.0]), n_classes=1, label_cost=0.0, confidence=1e-12
        )
        assert mean <= bound


def test_the_guarantee_shrinks_with_rows_and_grows_with_everything_else():
    def radius(n=1000, width=1.0, features=2, **options):
        box = (np.zeros(features), np.full(features, width))
        return guaranteed_radius(n, box, n_classes=3, **options)

    assert radius(n=100_000) < radius()
    assert radius(width=2.0) > radius()
    assert radius(features=5) > radius()
    assert radius(label_cost=5.0) > radius()
    assert radius(confidence=0.999) > radius()
    assert radius(feature_cost=[2.0, 2.0]) == pytest.approx(radius(width=2.0))
    assert radius(norm="linf") < radius() < radius(norm="l1")


def test_a_constant_feature_costs_nothing():
    wide = guaranteed_radius(100, ([0.0, 1.0], [1.0, 1.0]), n_classes=2)
    assert wide == guaranteed_radius(100, ([0.0], [1.0]), n_classes=2)


def test_the_rate_is_that_of_the_dimension():
    box = (np.zeros(4), np.ones(4))
    few, many = (guaranteed_radius(n, box, n_classes=2) for n in (10**6, 10**10))
    assert many / few == pytest.approx(10 ** (-4 / 4), rel=0.3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"confidence": 1.0}, "confidence must be a number in"),
        ({"n_samples": 0}, "n_samples must be at least 1"),
        ({"label_cost": np.inf}, "label_cost must be finite"),
        ({"support": ([0.0], [np.inf])}, "support and feature_cost must be finite"),
        ({"support": ([1.0], [0.0])}, "the lower end first"),
        ({"feature_cost": [np.inf]}, "support and feature_cost must be finite"),
    ],
)
def test_bad_arguments_of_the_guarantee(options, message):
    given = {"n_samples": 10, "support": ([0.0], [1.0]), "n_classes": 2} | options
    with pytest.raises(ValueError, match=message):
        guaranteed_radius(given.pop("n_samples"), given.pop("support"), **given)


@pytest.mark.filterwarnings("ignore::wdrsvm.RadiusWarning")
def test_the_chosen_radius_covers_new_data():
    """The certificate at the chosen radius holds on fresh rows about as often as asked."""
    rng = np.random.default_rng(0)
    fresh = gaussians(3000, rng)
    held = []
    for _ in range(4):
        X, y = gaussians(40, rng)
        choice = bootstrap_radius(X, y, n_resamples=5, n_radii=4)
        model = RobustLinearSVC(choice.radius, tol=1e-4).fit(X, y)
        risk = worst_case_risk(model, *fresh, WassersteinBall(0.0))
        held.append(risk <= model.objective_)
    assert np.mean(held) >= 0.7


def test_more_coverage_asks_for_a_larger_radius():
    X, y = load_iris(return_X_y=True)
    X, y = scale(X)[::2], y[::2]
    little, much = (
        bootstrap_radius(X, y, coverage=share, n_resamples=5, n_radii=4)
        for share in (0.3, 1.0)
    )
    assert little.radius <= much.radius <= radius_max(X, y) * (1 + 1e-9)
    assert much.coverage[-1] == 1
    assert len(much.radii) == len(much.coverage)
    assert (np.diff(much.radii) > 0).all()
    again = bootstrap_radius(X, y, coverage=1.0, n_resamples=5, n_radii=4)
    assert again.radius == much.radius


def test_bad_coverage():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"coverage must be a number in \(0, 1\]"):
        bootstrap_radius(X, y, coverage=1.5)


def guarantee_by_hand(n, diameter, n_varying, n_classes, label_cost, confidence):
    """The formulas of the module's text, term by term."""
    whole = diameter + label_cost
    between = whole * np.sqrt(n_classes / n)
    deviation = whole * np.sqrt(np.log(1 / (1 - confidence)) / (2 * n))
    depths = [
        2.0**-k
        + sum(
            2.0 ** -(j - 1) * min(2, np.sqrt(n_classes * 2.0 ** (n_varying * j) / n))
            for j in range(1, k + 1)
        )
        for k in range(30)
    ]
    return between + diameter * min(depths) + deviation


@pytest.mark.parametrize(("norm", "diameter"), [("l1", 7.0), ("l2", 5.0), ("linf", 4.0)])
def test_the_guarantee_is_its_formula(norm, diameter):
    box, cost = ([0.0, 1.0, 5.0], [3.0, 3.0, 5.0]), [1.0, 2.0, 9.0]
    for n in (1, 50, 10**5):
        found = guaranteed_radius(
            n,
            box,
            n_classes=3,
            label_cost=0.5,
            norm=norm,
            feature_cost=cost,
            confidence=0.8,
        )
        assert found == pytest.approx(guarantee_by_hand(n, diameter, 2, 3, 0.5, 0.8))
        assert type(found) is float


def test_the_guarantees_defaults_are_written_down():
    found = guaranteed_radius(100, ([0.0], [1.0]), n_classes=2)
    assert found == pytest.approx(guarantee_by_hand(100, 1.0, 1, 2, 2.0, 0.95))
    free = guaranteed_radius(100, (0.0, 1.0), n_classes=2, label_cost=0.0)
    assert free == pytest.approx(guarantee_by_hand(100, 1.0, 1, 2, 0.0, 0.95))


def test_many_features_do_not_overflow():
    box = (np.zeros(3000), np.ones(3000))
    found = guaranteed_radius(10, box, n_classes=2, norm="linf")
    assert found == pytest.approx(guarantee_by_hand(10, 1.0, 30, 2, 2.0, 0.95))


@pytest.mark.parametrize(
    "options", [{"confidence": 0.0}, {"label_cost": -0.1}, {"label_cost": np.nan}]
)
def test_the_guarantees_numbers_have_bounds(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        guaranteed_radius(10, ([0.0], [1.0]), n_classes=2, **options)


def test_widths_are_sides_of_the_box_at_their_price():
    found = _priced_widths(([0, 1], [2, 1]), "l1", [0.5, 3.0])
    assert found.tolist() == [1.0, 0.0]
    narrow = (np.array([-128], dtype=np.int8), np.array([127], dtype=np.int8))
    assert _priced_widths(narrow, "l1", None).tolist() == [255.0]
    for wrong in (([0.0], [1.0, 2.0]), ([[0.0]], [[1.0]]), ([0.0, 2.0], [1.0, 1.0])):
        with pytest.raises(ValueError, match="support must be two arrays of one length"):
            _priced_widths(wrong, "l2", None)
    with pytest.raises(ValueError, match="norm must be one of"):
        _priced_widths(([0.0], [1.0]), "l7", None)
    with pytest.raises(ValueError, match="must be finite for every feature"):
        _priced_widths(([0.0], [1.0]), "l2", [np.inf])


TOY_X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])
TOY_Y = np.array([0, 1, 2, 1])
TOY_COEF = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])


def told(objective):
    """A solver that always finds the same classifier, and remembers what it was asked."""
    asked = []

    def solve(problem, **options):
        asked.append((problem, options))
        certificate = Certificate(objective, 0.0, 0.0)
        intercept = np.array([0.5, 0.0, 0.0])
        status = SolverStatus.CONVERGED
        return SolverResult(TOY_COEF, intercept, certificate, None, status, 0, "told")

    return solve, asked


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_certificate_is_compared_with_the_rows_left_out(monkeypatch, fit_intercept):
    ball = WassersteinBall(0.25, 1.0, "l1", [1.0, 2.0])
    problem = RobustProblem.of(TOY_X, TOY_Y, np.full(4, 0.25), ball, 3, fit_intercept)
    counts = np.array([0.0, 3.0, 1.0, 0.0])
    # Scores 0.5, 1, -1 of label 0 and 3.5, 1, -4 of label 1: losses 1.5 and 3.5.
    for objective, covers in ((2.5, True), (2.5 * (1 + 1e-6), True), (2.4999, False)):
        solve, asked = told(objective)
        monkeypatch.setattr(radius_rules, "solve", solve)
        assert bool(_covers(problem, counts)) is covers
        ((trained, options),) = asked
        assert options["settings"].tol == 1e-4
        np.testing.assert_array_equal(trained.X, TOY_X[1:3])
        assert trained.y.tolist() == [1, 2]
        assert trained.weight.tolist() == [0.75, 0.25]
        assert trained.ball is ball
        assert trained.n_classes == 3
        assert trained.fit_intercept is fit_intercept


def test_rounding_does_not_uncover():
    problem = RobustProblem.of(TOY_X, TOY_Y, np.full(4, 0.25), WassersteinBall(0.1), 3)
    for share, covers in ((1 - 0.5e-9, True), (1 - 3e-9, False)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(radius_rules, "solve", told(2.5 * share)[0])
            assert bool(_covers(problem, np.array([0.0, 2.0, 2.0, 0.0]))) is covers


def test_resamples_are_those_of_the_seed():
    rng = np.random.default_rng(5)
    drawn = [np.bincount(rng.integers(0, 40, 40), minlength=40) for _ in range(3)]
    np.testing.assert_array_equal(_bootstrap_counts(40, 3, 5), drawn)
    assert _bootstrap_counts(40, 3, 5)[0].dtype == np.float64
    few = _bootstrap_counts(2, 30, 0)
    assert len(few) == 30
    assert all((counts == 0).any() for counts in few)


def walk(monkeypatch, shares, top=2.0, **options):
    """Radii tried where resamples are covered in given shares, and what was asked."""
    asked, shares = [], iter(shares)

    def covers(problem, drawn):
        if not asked or asked[-1][0].radius != problem.radius:
            asked.append((problem, iter([]), next(shares)))
            n_true = round(asked[-1][2] * options.get("n_resamples", 20))
            rest = options.get("n_resamples", 20) - n_true
            asked[-1] = (problem, iter([True] * n_true + [False] * rest), asked[-1][2])
        return next(asked[-1][1])

    monkeypatch.setattr(radius_rules, "_covers", covers)
    monkeypatch.setattr(radius_rules, "radius_max_of", lambda problem: top)
    return bootstrap_radius(TOY_X, TOY_Y, **options), [each[0] for each in asked]


def test_the_walk_ends_where_the_share_is_reached(monkeypatch):
    grid = np.geomspace(2e-3, 2.0, 10)
    found, _ = walk(monkeypatch, [0.5, 0.85, 0.9, 1.0])
    np.testing.assert_allclose(found.radii, grid[:3])
    assert found.radius == found.radii[-1]
    np.testing.assert_allclose(found.coverage, [0.5, 0.85, 0.9])
    never, _ = walk(monkeypatch, [0.5] * 10)
    np.testing.assert_allclose(never.radii, grid)
    some, _ = walk(monkeypatch, [0.0, 0.5], coverage=0.5, n_resamples=2, n_radii=3)
    np.testing.assert_allclose(some.radii, np.geomspace(2e-3, 2.0, 3)[:2])
    whole, _ = walk(monkeypatch, [0.95, 1.0], coverage=1, top=0.5)
    np.testing.assert_allclose(whole.radii, 0.25 * grid[:2])


def test_where_nothing_can_be_learned_no_radius_is_tried_but_zero(monkeypatch):
    found, _ = walk(monkeypatch, [0.0], top=0.0)
    assert found.radii.tolist() == [0.0]


def test_the_walks_problem_is_the_users(monkeypatch):
    _, (first,) = walk(monkeypatch, [1.0])
    assert (first.ball.label_cost, first.ball.norm) == (2.0, "l2")
    assert first.fit_intercept
    assert first.weight.tolist() == [0.25] * 4
    options = {"label_cost": 3.0, "norm": "l1", "feature_cost": [1.0, 2.0]}
    _, (other,) = walk(monkeypatch, [1.0], fit_intercept=False, **options)
    assert (other.ball.label_cost, other.ball.norm) == (3.0, "l1")
    assert other.ball.feature_cost.tolist() == [1.0, 2.0]
    assert not other.fit_intercept
    assert other.n_classes == 3


@pytest.mark.parametrize("coverage", [0.0, -0.5, 1.01, np.nan])
def test_coverage_is_a_share(coverage):
    with pytest.raises(ValueError, match=r"coverage must be a number in \(0, 1\]"):
        bootstrap_radius(TOY_X, TOY_Y, coverage=coverage)


def test_the_seed_and_its_default(monkeypatch):
    seeds = []
    original = radius_rules._bootstrap_counts
    monkeypatch.setattr(
        radius_rules,
        "_bootstrap_counts",
        lambda *args: seeds.append(args) or original(*args),
    )
    walk(monkeypatch, [1.0])
    walk(monkeypatch, [1.0], random_state=3, n_resamples=2)
    assert seeds == [(4, 20, 0), (4, 2, 3)]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_rows", [2, 3, 8])
def test_resamples_have_as_many_rows_and_leave_one_out(n_rows, seed):
    counts = _bootstrap_counts(n_rows, 6, seed)
    assert len(counts) == 6
    for drawn in counts:
        assert len(drawn) == n_rows
        assert drawn.sum() == n_rows
        assert (drawn == 0).any()


@pytest.mark.parametrize("n_features", [1, 2, 5])
@pytest.mark.parametrize("n_samples", [4, 100, 10**6])
def test_the_bound_of_grids_is_the_least_over_depths(n_features, n_samples):
    def term(j):
        return 2.0 ** (1 - j) * min(2, np.sqrt(3 * 2.0 ** (n_features * j) / n_samples))

    depths = [2.0**-k + sum(term(j) for j in range(1, k + 1)) for k in range(40)]
    assert _grid_bound(n_features, 3, n_samples) == pytest.approx(min(depths))


def test_one_row_has_no_resamples():
    with pytest.raises(ValueError, match="at least 2"):
        bootstrap_radius(FEATURES[:1], CODES[:1])


def test_full_coverage_tries_all_radii():
    found = bootstrap_radius(FEATURES, CODES, coverage=1.0, n_resamples=3, n_radii=3)
    assert len(found.radii) <= 3
    assert found.radius == found.radii[-1]
    assert found.coverage[-1] == 1.0 or len(found.radii) == 3
