"""radius_max: where the optimum stops growing."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.preprocessing import scale

from wdrsvm import WassersteinBall, radius_max
from wdrsvm.problem import LOSSES, Certificate, Loss, RobustProblem, polar
from wdrsvm.robustness import radius_max_of
from wdrsvm.robustness.radius import radius_max as radius
from wdrsvm.robustness.radius.radius_max import MAX_TANGENTS, limit_classifier
from wdrsvm.solvers import SolverSettings, solve

from ..cases import CODES, FEATURES, WEIGHT, twelve_rows

X, y = load_iris(return_X_y=True)
X = scale(X)
MIXED_COST = np.array([[0.0, 0.5, np.inf], [1.0, 0.0, 2.0], [np.inf, 0.3, 0.0]])


def problem_of(X=X, y=y, label_cost=2.0, norm="l2", **options):
    ball = WassersteinBall(0.0, label_cost, norm, options.pop("feature_cost", None))
    weight = options.pop("weight", np.full(len(y), 1.0 / len(y)))
    return RobustProblem.of(X, y, weight, ball, int(y.max()) + 1, **options)


def optimum(problem, radius):
    certificate = solve(problem.with_radius(radius), settings=SolverSettings(tol=1e-7))
    return certificate.certificate.objective


CASES = [
    pytest.param({"label_cost": cost, "norm": norm, "fit_intercept": intercept})
    for cost in (0.5, 2.0, np.inf)
    for norm in ("l1", "l2", "linf")
    for intercept in (True, False)
] + [
    pytest.param({"label_cost": MIXED_COST}),
    pytest.param({"label_cost": np.inf, "feature_cost": [1.0, 2.0, 0.5, np.inf]}),
    pytest.param({"label_trust": np.where(np.arange(len(y)) % 3, np.inf, 1.0)}),
]


@pytest.mark.parametrize("options", CASES)
def test_the_optimum_reaches_its_ceiling_there_and_not_before(options):
    problem = problem_of(**options)
    found = radius_max_of(problem, tol=1e-4)
    top = limit_classifier(problem).risk
    assert found > 0
    assert optimum(problem, found) >= top * (1 - 2e-4)
    assert optimum(problem, 2 * found) == pytest.approx(top, rel=1e-6)
    assert optimum(problem, 0.9 * found) < top * (1 - 1e-4)


def test_two_points_by_hand():
    """Moving half the mass from -1 to 1 costs 1: then the classes are alike."""
    problem = problem_of(np.array([[-1.0], [1.0]]), np.array([0, 1]), np.inf)
    assert radius_max_of(problem) == pytest.approx(1.0, rel=1e-3)


def test_a_cheap_flip_lowers_it_to_half_its_cost():
    problem = problem_of(np.array([[-9.0], [9.0]]), np.array([0, 1]), 0.5)
    assert radius_max_of(problem) == pytest.approx(0.25, rel=1e-3)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_ceiling_of_trusted_labels_is_the_best_constant(fit_intercept):
    share = np.array([0.1, 0.7, 0.2])
    problem = problem_of(
        np.zeros((3, 2)), np.arange(3), np.inf, weight=share, fit_intercept=fit_intercept
    )
    best = 2 * (1 - 0.7) if fit_intercept else 1.0
    assert limit_classifier(problem).risk == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize(("n_trusted", "best"), [(0, 1.0), (2, 0.6), (1, 1.0)])
def test_ceiling_counts_verified_labels_as_trusted(n_trusted, best):
    """Of two rows a class; only where most of the mass is verified can a guess pay."""
    share = np.repeat([0.1, 0.7, 0.2], 2) / 2
    trust = np.tile(np.where(np.arange(2) < n_trusted, np.inf, 1.0), 3)
    labels = np.repeat(np.arange(3), 2)
    problem = problem_of(np.zeros((6, 1)), labels, 2.0, weight=share, label_trust=trust)
    assert limit_classifier(problem).risk == pytest.approx(best, rel=1e-6)


def test_ceiling_of_doubtful_labels_is_one():
    assert limit_classifier(problem_of(label_cost=3.0)).risk == 1.0


def test_zero_when_flips_are_free_or_features_say_nothing():
    assert radius_max(X, y, label_cost=0.0) == 0.0
    assert radius_max(np.ones((6, 2)), [0, 1, 2] * 2) == 0.0
    assert radius_max(X, y, label_cost=np.inf, feature_cost=[np.inf] * 4) == 0.0


def test_scales_with_the_units_of_the_features():
    small = radius_max(X, y, label_cost=2.0)
    large = radius_max(100 * X, y, label_cost=200.0)
    assert large == pytest.approx(100 * small, rel=1e-3)


def test_weights_are_repeated_rows():
    times = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = radius_max(X, y, sample_weight=times)
    assert weighted == pytest.approx(radius_max(X.repeat(times, 0), y.repeat(times)))


def test_balanced_class_weight_is_a_sample_weight():
    rare = np.r_[0:50, 50:70, 100:110]
    weight = 1.0 / np.bincount(y[rare])[y[rare]]
    balanced = radius_max(X[rare], y[rare], class_weight="balanced")
    assert balanced == pytest.approx(radius_max(X[rare], y[rare], sample_weight=weight))


def test_a_rare_class_lowers_it():
    """With trusted labels and 9 in 10 alike, constant is soon the most robust."""
    rare = np.r_[0:5, 50:100]
    assert radius_max(X[rare], y[rare] > 0, label_cost=np.inf) < radius_max(
        X[:100], y[:100] > 0, label_cost=np.inf
    )


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="y must have at least 2 classes"):
        radius_max(X, np.zeros(len(y)))


def test_unknown_norm_is_refused():
    with pytest.raises(ValueError, match="norm must be one of"):
        radius_max(X, y, norm="l7")


def test_of_the_log_loss_is_the_polar_of_its_gradient():
    """A constant is optimal exactly where sigma(G) <= radius, G its gradient."""
    observed = np.eye(3)[y]
    gradient = (observed.mean(axis=0) - observed).T @ X / len(y)
    expected = polar(gradient, "l2", np.ones(X.shape[1]))
    found = radius_max(X, y, label_cost=np.inf, loss="logistic")
    assert found <= expected
    assert found == pytest.approx(expected, rel=0.05)
    with pytest.raises(ValueError, match="loss must be one of"):
        radius_max(X, y, loss="hinge")


def tangents(monkeypatch, answers, top=1.0):
    """A solver with given answers, the ceiling given too; what it was asked."""
    asked, answers = [], iter(answers)

    def solve(problem, solver, settings):
        asked.append((problem.radius, solver, settings.tol))
        objective, lam = next(answers)
        return SimpleNamespace(certificate=Certificate(objective, 0.0, lam))

    monkeypatch.setattr(radius, "solve", solve)
    limit = SimpleNamespace(risk=top)
    monkeypatch.setattr(
        radius, "limit_classifier", lambda problem, solver: asked.append(solver) or limit
    )
    return asked


def test_tangents_climb_to_the_ceiling(monkeypatch):
    problem = problem_of(X[:4], np.array([0, 1, 2, 0]))
    asked = tangents(monkeypatch, [(0.5, 0.25), (0.75, 0.125), (1.0, 0.1)])
    assert radius_max_of(problem, 1e-3, "newton") == 2.0 + 2.0
    assert asked[0] == "newton"
    assert asked[1:] == [(r, "newton", 1e-3 / 10) for r in (0.0, 2.0, 4.0)]
    asked = tangents(monkeypatch, [(1.0, 0.1)])
    assert radius_max_of(problem) == 0.0
    assert asked == ["auto", (0.0, "auto", 1e-4 / 10)]


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([(1.5, 1.0)], 0.0),
        ([(1.25, 1.0), (1.5, 1.0)], 0.75),
        ([(0.5, 0.0)], 0.0),
        ([(1.0, 0.5), (1.2, 0.0)], 2.0),
    ],
)
def test_tangents_end_within_the_tolerance_or_where_they_are_flat(
    monkeypatch, answers, expected
):
    """Within a quarter of the ceiling of two, that is from 1.5 on."""
    tangents(monkeypatch, answers, top=2.0)
    found = radius_max_of(problem_of(X[:4], np.array([0, 1, 2, 0])), 0.25)
    assert found == pytest.approx(expected)


def test_tangents_are_not_followed_forever(monkeypatch):
    asked = tangents(monkeypatch, [(0.0, 1.0)] * 1000)
    assert radius_max_of(problem_of(X[:4], np.array([0, 1, 2, 0]))) == MAX_TANGENTS == 100
    assert len(asked) == 101


def asked_of_radius_max(monkeypatch, **options):
    asked = []
    monkeypatch.setattr(radius, "radius_max_of", lambda *args: asked.append(args) or 0.5)
    few, labels = np.array([[0.0, 1.0], [2.0, 0.5], [1.0, 3.0]]), np.array([0, 1, 1])
    assert radius_max(few, labels, **options) == 0.5
    return asked[0]


def test_radius_max_hands_on_all_that_it_is_given(monkeypatch):
    problem, tol, solver = asked_of_radius_max(monkeypatch)
    assert (tol, solver) == (1e-4, "auto")
    ball = problem.ball
    assert (ball.radius, ball.label_cost, ball.norm) == (0.0, 2.0, "l2")
    assert ball.feature_cost is ball.support is ball.categorical is None
    assert problem.fit_intercept
    assert problem.label_trust is None
    assert problem.loss is LOSSES["crammer-singer"]
    np.testing.assert_allclose(problem.weight, 1 / 3)
    problem, tol, solver = asked_of_radius_max(
        monkeypatch,
        label_cost=0.5,
        norm="l1",
        feature_cost=[1.0, 2.0],
        support=(-9.0, 9.0),
        fit_intercept=False,
        class_weight={0: 1.0, 1: 2.0},
        sample_weight=[1.0, 1.0, 3.0],
        label_trust=[1.0, 2.0, np.inf],
        loss="logistic",
        solver="newton",
        tol=1e-2,
    )
    assert (tol, solver) == (1e-2, "newton")
    ball = problem.ball
    assert (ball.label_cost, ball.norm) == (0.5, "l1")
    assert ball.feature_cost.tolist() == [1.0, 2.0]
    assert ball.support == (-9.0, 9.0)
    assert not problem.fit_intercept
    assert sorted(problem.label_trust) == [1.0, 2.0, np.inf]
    assert problem.loss is LOSSES["logistic"]
    np.testing.assert_allclose(sorted(problem.weight), [1 / 9, 2 / 9, 6 / 9])
    categorical = [([0, 1], 3.0)]
    problem, *_ = asked_of_radius_max(monkeypatch, categorical=categorical)
    assert problem.ball.categorical[0].cost == 3.0


def asked_of_limit(monkeypatch, problem, *solver):
    """The problem that a limit is found by, and what becomes of the answer."""
    asked = []

    def solve(problem, solver, settings):
        asked.append((problem, solver, settings))
        coef = 1.0 + np.zeros((problem.n_classes, problem.n_features))
        certificate = Certificate(0.25, 0.25, 0.0)
        return SimpleNamespace(coef=coef, intercept=np.arange(3.0), certificate=certificate)

    monkeypatch.setattr(radius, "solve", solve)
    found = limit_classifier(problem, *solver)
    assert found.risk == 0.25
    assert found.intercept.tolist() == [0.0, 1.0, 2.0]
    ((limit, name, settings),) = asked
    assert settings.tol == 1e-8
    return found, limit, name


LABELS = np.array([0, 0, 1, 2, 2])
MASS = np.array([0.1, 0.2, 0.3, 0.15, 0.25])
ROWS = np.arange(15.0).reshape(5, 3)


@pytest.mark.parametrize("trust", [None, [1.0, np.inf, np.inf, 2.0, np.inf]])
@pytest.mark.parametrize("loss", ["crammer-singer", "logistic"])
def test_a_limit_without_features_has_a_row_for_each_label(monkeypatch, trust, loss):
    given = None if trust is None else np.array(trust)
    options = {"weight": MASS, "fit_intercept": False, "loss": LOSSES[loss]}
    cost = MIXED_COST if trust is None else 2.0
    problem = problem_of(ROWS, LABELS, cost, "l1", label_trust=given, **options)
    found, limit, name = asked_of_limit(monkeypatch, problem)
    assert not found.coef.any()
    assert found.coef.shape == (3, 3)
    assert name == "auto"
    assert (limit.radius, limit.ball.norm, limit.n_classes) == (0.0, "l1", 3)
    assert not limit.fit_intercept
    assert limit.loss is LOSSES[loss]
    if trust is None:
        groups = [(0, 0.3, 1.0), (1, 0.3, 1.0), (2, 0.4, 1.0)]
        free = np.where(np.isinf(MIXED_COST), np.inf, 0.0)
        np.testing.assert_array_equal(limit.label_cost, free)
    else:
        groups = [(0, 0.1, 1.0), (0, 0.2, np.inf), (1, 0.3, np.inf)]
        groups += [(2, 0.15, 1.0), (2, 0.25, np.inf)]
        assert not limit.label_cost.any()
    assert limit.X.shape == (len(groups), 0)
    rows = zip(limit.y, limit.weight, limit.label_trust, strict=True)
    for row, expected in zip(rows, groups, strict=True):
        assert row == pytest.approx(expected)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("lipschitz", ["exact", "triangle"])
def test_a_limit_on_untouchable_features_has_all_rows(monkeypatch, convert, lipschitz):
    trust = np.array([1.0, np.inf, 0.5, 0.0, 2.0])
    options = {"weight": MASS, "feature_cost": [np.inf, 2.0, np.inf], "label_trust": trust}
    problem = problem_of(convert(ROWS), LABELS, 2.0, lipschitz=lipschitz, **options)
    found, limit, name = asked_of_limit(monkeypatch, problem, "newton")
    assert found.coef.tolist() == [[1.0, 0.0, 1.0]] * 3
    assert name == "newton"
    columns = limit.X.toarray() if sparse.issparse(limit.X) else limit.X
    np.testing.assert_array_equal(columns, ROWS[:, [0, 2]])
    assert limit.label_trust.tolist() == [1.0, np.inf, 1.0, 1.0, 1.0]
    assert (limit.radius, limit.lipschitz) == (0.0, "exact")
    assert not limit.label_cost.any()
    assert limit.weight is MASS
    free = problem_of(ROWS, LABELS, np.inf, weight=MASS, feature_cost=[np.inf, 2.0, np.inf])
    _, limit, _ = asked_of_limit(monkeypatch, free)
    assert limit.label_trust.tolist() == [1.0] * 5


def test_doubtful_labels_need_no_solve(monkeypatch):
    monkeypatch.setattr(radius, "solve", None)
    for trust in (None, np.array([1.0, 2.0, 0.0, 1.0, 9.0])):
        for name, level in (("crammer-singer", 1.0), ("logistic", np.log(3))):
            options = {"weight": MASS, "label_trust": trust, "loss": LOSSES[name]}
            found = limit_classifier(problem_of(ROWS, LABELS, 3.0, **options))
            assert found.risk == pytest.approx(level)
            assert found.coef.shape == (3, 3)
            assert not found.coef.any()
            assert found.intercept.tolist() == [0.0] * 3


@pytest.mark.parametrize("mass", [[0.2, 0.5, 0.6], [0.1, 0.2, 0.9], [3.0, 1.0], [1.0, 1.0]])
def test_trusted_labels_need_no_solve(monkeypatch, mass):
    """Their masses give the risk of the solved problem, and intercepts that have it."""
    rows = np.eye(len(mass)), np.arange(len(mass)), np.inf
    problem = problem_of(*rows, weight=np.array(mass))
    with monkeypatch.context() as patched:
        patched.setattr(radius, "_masses_that_decide", lambda *_: None)
        solved = limit_classifier(problem)
    monkeypatch.setattr(radius, "solve", None)
    assert limit_classifier(problem).risk == pytest.approx(solved.risk, rel=1e-7)
    for margin in (1.0, 0.3):
        other = replace(problem.with_radius(0.0), loss=Loss(0.0, margin))
        found = limit_classifier(other)
        assert found.risk == pytest.approx(margin * solved.risk, rel=1e-7)
        alone = other.risk(found.coef, found.intercept).value
        assert alone == pytest.approx(found.risk, rel=1e-12)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"fit_intercept": False},
        {"label_trust": np.linspace(0.2, 1.0, 12)},
        {"loss": "logistic"},
        {"norm": "l1"},
        {"feature_cost": [1.0, 3.0]},
        {"support": (FEATURES.min(), FEATURES.max()), "norm": "l1"},
    ],
    ids=lambda options: "-".join(options) or "none",
)
def test_radius_max_looks_at_all_it_is_given(options):
    given = dict(options)
    shape = {"norm", "feature_cost", "support"} & set(given)
    ball = {key: given.pop(key) for key in shape}
    loss = LOSSES[given.pop("loss", "crammer-singer")]
    problem = twelve_rows(WassersteinBall(0.0, 0.7, **ball), loss=loss, **given)
    found = radius_max(FEATURES, CODES, label_cost=0.7, sample_weight=WEIGHT, **options)
    assert found == pytest.approx(radius_max_of(problem), rel=1e-3)
    if options:
        assert found != pytest.approx(radius_max(FEATURES, CODES, label_cost=0.7), rel=1e-3)


def test_some_labels_are_trusted_or_none():
    problem = twelve_rows()
    assert radius._some_are_trusted(problem.with_rows(label_trust=None)) is False
    trust = np.ones(12)
    assert radius._some_are_trusted(problem.with_rows(label_trust=trust)) is False
    trust[-1] = np.inf
    assert radius._some_are_trusted(problem.with_rows(label_trust=trust)) is True


@pytest.mark.parametrize(
    ("mass", "wins", "risk"),
    [
        ([0.1, 0.6, 0.3], [0.0, 1.0, 0.0], 0.8),
        ([0.25, 0.35, 0.4], [0.0, 0.0, 0.0], 1.0),
        ([0.5, 0.5], [0.0, 0.0], 1.0),
    ],
)
def test_a_class_with_more_than_half_of_the_mass_wins_by_the_margin(mass, wins, risk):
    mass = np.array(mass)
    for margin in (1.0, 0.5):
        found, value = radius._best_constant(Loss(0.0, margin), 2 * mass)
        np.testing.assert_allclose(found, margin * np.array(wins))
        assert value == pytest.approx(2 * margin * risk)
    shares, entropy = radius._best_constant(Loss(0.5, 0.0), 2 * mass)
    np.testing.assert_allclose(shares, 0.5 * np.log(mass))
    assert entropy == pytest.approx(-mass @ np.log(mass))
    assert radius._best_constant(Loss(0.5, 1.0), mass) is None
