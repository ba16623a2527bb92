"""What a fit refuses, each in one sentence, and what it warns of."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.preprocessing import scale

import wdrsvm
from wdrsvm import (
    RadiusWarning,
    RobustLinearSVC,
    RobustLogisticRegression,
    RobustOneVsRestSVC,
    RobustSVC,
    WassersteinBall,
    radius_max,
)
from wdrsvm.estimators.fitting import steps as _fit
from wdrsvm.problem import RobustProblem
from wdrsvm.solvers import SolverStatus

from ..cases import IRIS, SPECIES

X, y = IRIS, SPECIES


@pytest.fixture(scope="module")
def fitted():
    return RobustLinearSVC().fit(X, y)


BAD_PARAMETERS = [
    ({"radius": -1.0}, "radius must be a finite number >= 0"),
    ({"radius": np.nan}, "radius must be a finite number >= 0"),
    ({"label_cost": -1.0}, "label_cost must be >= 0"),
    ({"label_cost": np.ones((3, 3))}, "label_cost must have a zero diagonal"),
    ({"label_cost": 1 - np.eye(2)}, "label_cost has shape .* there are 3 classes"),
    ({"norm": "l3"}, "norm must be one of 'l1', 'l2', 'linf', got 'l3'"),
    ({"feature_cost": [1, 1, 1, 0]}, "feature_cost must be > 0"),
    ({"feature_cost": [1, 1, 1, -1]}, "feature_cost must be > 0"),
    ({"feature_cost": [1, 1]}, "feature_cost has shape .* X has 4 features"),
    ({"smoothing": -0.5}, "smoothing must be a finite number >= 0, got -0.5"),
    ({"smoothing": "much"}, "smoothing must be a finite number >= 0, got 'much'"),
    ({"label_noise": "malicious"}, "label_noise must be 'adversarial' or 'random'"),
    ({"support": (0, 1)}, "support must contain the data, but feature 0"),
    ({"categorical": [([0, 1], 1.0)]}, "categorical must name one-hot columns"),
    ({"solver": "simplex"}, "solver must be one of 'auto'.*, got 'simplex'"),
    ({"tol": 0.0}, "tol must be a finite number > 0"),
    ({"tol": "small"}, "tol must be a finite number > 0"),
    ({"max_iter": 0}, "max_iter must be None or an integer >= 1"),
    ({"max_iter": 1.5}, "max_iter must be None or an integer >= 1"),
    ({"class_weight": "fair"}, "class_weight"),
    ({"class_weight": {0: -1.0, 1: 1.0, 2: 1.0}}, "class_weight must be finite and >= 0"),
    ({"class_weight": {0: 1.0, 1: 0.0, 2: 0.0}}, "class_weight leave weight on 1 class"),
]

BAD_COLUMNS = [
    ({"sample_weight": np.zeros(150)}, "sample_weight must not be zero in every row"),
    ({"sample_weight": np.r_[-1.0, np.ones(149)]}, "sample_weight must be >= 0"),
    ({"sample_weight": np.r_[np.nan, np.ones(149)]}, "sample_weight contains NaN"),
    ({"sample_weight": np.r_[np.inf, np.ones(149)]}, "sample_weight contains infinity"),
    ({"sample_weight": np.ones(7)}, r"sample_weight must have shape \(150,\)"),
    ({"sample_weight": np.ones((150, 1))}, r"sample_weight must have shape \(150,\)"),
    ({"sample_weight": np.where(y == 0, 1.0, 0.0)}, "leave weight on 1 class"),
    ({"label_trust": np.r_[-1.0, np.ones(149)]}, "label_trust must be >= 0"),
    ({"label_trust": np.r_[np.nan, np.ones(149)]}, "label_trust must be >= 0"),
    ({"label_trust": np.ones(7)}, r"label_trust must have shape \(150,\)"),
    ({"label_trust": np.ones((150, 2))}, r"label_trust must have shape \(150,\)"),
]

BAD_DATA = [
    (np.where(np.eye(150, 4), np.nan, X), y, "X contains NaN"),
    (np.where(np.eye(150, 4), np.inf, X), y, "X contains infinity"),
    (np.empty((0, 4)), np.empty(0), "0 sample"),
    (np.empty((150, 0)), y, "0 feature"),
    (X[0], y, "Expected 2D array"),
    (X, y[:-1], "inconsistent numbers of samples"),
    (X, np.zeros(150), "y must have at least 2 classes, got 1 class"),
    (X, np.c_[y, y], "y should be a 1d array"),
    (X, X[:, 0], "Unknown label type: continuous"),
]


@pytest.mark.parametrize(("parameters", "message"), BAD_PARAMETERS)
def test_bad_parameter(parameters, message):
    with pytest.raises(ValueError, match=message):
        RobustLinearSVC(**parameters).fit(X, y)


@pytest.mark.parametrize("smoothing", [0, 0.0, np.float32(0.0)])
def test_zero_of_any_type_is_no_smoothing(smoothing):
    assert RobustLinearSVC(smoothing=smoothing).fit(X, y).n_iter_ > 0


@pytest.mark.parametrize("radius", [None, "0.1"])
def test_radius_of_another_type(radius):
    with pytest.raises(TypeError, match="radius must be a number"):
        RobustLinearSVC(radius).fit(X, y)


@pytest.mark.parametrize(("columns", "message"), BAD_COLUMNS)
def test_bad_column(columns, message):
    with pytest.raises(ValueError, match=message):
        RobustLinearSVC().fit(X, y, **columns)


@pytest.mark.parametrize(("features", "labels", "message"), BAD_DATA)
def test_bad_data(features, labels, message):
    with pytest.raises(ValueError, match=message):
        RobustLinearSVC().fit(features, labels)


def test_predicting_before_fitting():
    with pytest.raises(NotFittedError):
        RobustLinearSVC().predict(X)


def test_predicting_other_features(fitted):
    with pytest.raises(ValueError, match="X has 2 features"):
        fitted.predict(X[:, :2])


def test_risk_on_an_unknown_label(fitted):
    with pytest.raises(ValueError, match="labels that the classifier does not know"):
        fitted.worst_case_risk(X, y + 1)


def test_a_fold_that_lacks_a_class_of_the_matrix():
    with pytest.raises(ValueError, match="every class must be present in y"):
        RobustLinearSVC(label_cost=1 - np.eye(3)).fit(X[:100], y[:100])


class TestRadiusWarning:
    @pytest.mark.parametrize("label_cost", [2.0, np.inf])
    def test_names_the_radius_to_stay_below(self, label_cost):
        with pytest.warns(RadiusWarning, match=r"At radius=5 .* than a constant .* = \d"):
            RobustLinearSVC(5.0, label_cost).fit(IRIS, SPECIES)

    def test_names_an_estimate_for_larger_data(self, monkeypatch):
        monkeypatch.setattr(_fit, "MAX_ENTRIES_FOR_RADIUS", 0)
        with pytest.warns(RadiusWarning, match=r"radius_max, which is about 0\.\d+"):
            RobustLinearSVC(5.0).fit(IRIS, SPECIES)

    def test_names_no_estimate_above_the_radius(self, monkeypatch):
        monkeypatch.setattr(_fit, "MAX_ENTRIES_FOR_RADIUS", 0)
        monkeypatch.setattr(_fit, "radius_max_of", lambda problem, tol: 6.0)
        with pytest.warns(RadiusWarning, match=r"\. Choose a smaller radius\.$"):
            RobustLinearSVC(5.0).fit(IRIS, SPECIES)

    def test_a_classifier_on_untouchable_features_is_not_called_constant(self):
        cost = [1.0, 1.0, 1.0, np.inf]
        with pytest.warns(
            RadiusWarning, match="than one that ignores the features that can"
        ):
            RobustLinearSVC(5.0, np.inf, feature_cost=cost).fit(IRIS, SPECIES)

    def test_blames_a_label_cost_of_zero(self):
        with pytest.warns(RadiusWarning, match=r"Raise label_cost: wdrsvm.radius_max is 0"):
            RobustLinearSVC(label_cost=0.0).fit(IRIS, SPECIES)

    def test_silent_without_an_adversary(self):
        RobustLinearSVC(0.0).fit(np.ones((6, 2)), [0, 1, 2] * 2)

    def test_silent_when_the_data_are_noise(self):
        rng = np.random.default_rng(0)
        noise = rng.normal(size=(200, 2))
        RobustLinearSVC().fit(noise, rng.integers(0, 3, 200))

    def test_silent_below_the_radius_it_names(self):
        with pytest.warns(RadiusWarning) as caught:
            RobustLinearSVC(5.0).fit(IRIS, SPECIES)
        limit = float(str(caught[0].message).split("= ")[-1].rstrip("."))
        RobustLinearSVC(0.95 * limit).fit(IRIS, SPECIES)


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return scale(X), y


@pytest.mark.parametrize(
    ("radius", "label_cost"),
    [(1e6, 2.0), (3.0, 2.0), (10.0, np.inf), (0.05, 0.0)],
)
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_a_constant_optimum_leans_towards_the_nominal_classifier(
    wine, radius, label_cost, norm
):
    X, y = wine
    model = RobustLinearSVC(radius, label_cost, norm=norm)
    with pytest.warns(RadiusWarning):
        model.fit(X, y)
    assert model.score(X, y) > 0.95
    assert 0 <= model.duality_gap_ <= model.tol * model.objective_
    assert model.worst_case_risk(X, y) == pytest.approx(model.objective_, rel=1e-9)


def test_leaning_does_not_touch_what_is_no_tie(wine):
    X, y = wine
    model = RobustLinearSVC(0.05, 2.0).fit(X, y)
    assert model.objective_ < 0.9
    assert model.lambda_ > 0.1


ESTIMATORS = [
    RobustLinearSVC,
    RobustLogisticRegression,
    RobustSVC,
    RobustOneVsRestSVC,
]


THREE = np.arange(30) % 3


THIRTY = np.random.default_rng(0).normal(size=(30, 4)) + 2 * np.eye(3, 4)[THREE]


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("size", [1e61, -1e300])
def test_features_that_overflow_are_refused(estimator, size):
    huge = THIRTY.copy()
    huge[3, 1] = size
    with pytest.raises(ValueError, match=r"^X must have no entries larger than 1e\+60"):
        estimator().fit(huge, THREE)


def test_sparse_features_that_overflow_are_refused():
    with pytest.raises(ValueError, match=r"larger than 1e\+60, got"):
        RobustLinearSVC().fit(sparse.csr_array(THIRTY * 1e200), THREE)
    with pytest.raises(ValueError, match=r"larger than 1e\+60, got"):
        radius_max(THIRTY * 1e200, THREE)


@pytest.mark.parametrize("size", [1e-300, np.finfo(float).smallest_subnormal])
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_features_that_vanish_teach_nothing(size, norm):
    model = RobustLinearSVC(norm=norm).fit(THIRTY * size, THREE)
    assert model.objective_ == pytest.approx(1.0, rel=1e-6)
    assert np.isfinite(model.decision_function(THIRTY * size)).all()


@pytest.mark.parametrize("size", [1e308, 1e-308, 1e61])
def test_only_ratios_of_weights_count(size):
    ratios = np.random.default_rng(1).uniform(0.1, 1.0, 30)
    exact = 2.0 ** np.rint(np.log2(ratios))
    expected = RobustLinearSVC().fit(THIRTY, THREE, sample_weight=exact)
    power = 2.0 ** np.floor(np.log2(size))
    found = RobustLinearSVC().fit(THIRTY, THREE, sample_weight=exact * power)
    np.testing.assert_array_equal(found.coef_, expected.coef_)


def test_class_weights_may_be_large_together_with_weights():
    heavy = dict.fromkeys(range(3), 1e300)
    found = RobustLinearSVC(class_weight=heavy).fit(
        THIRTY, THREE, sample_weight=np.full(30, 1e300)
    )
    np.testing.assert_allclose(found.coef_, RobustLinearSVC().fit(THIRTY, THREE).coef_)


@pytest.mark.parametrize("trust", [1e-300, 1e300])
def test_trust_that_overflows_is_refused(trust):
    with pytest.raises(ValueError, match=r"^label_trust must be between 1e-60 and 1e\+60"):
        RobustLinearSVC().fit(THIRTY, THREE, label_trust=np.full(30, trust))


@pytest.mark.parametrize(
    "given",
    [
        THIRTY.astype(">f8"),
        THIRTY.astype(np.longdouble),
        np.repeat(THIRTY, 2, axis=0)[::2],
        np.asfortranarray(THIRTY),
        THIRTY[:, ::-1][:, ::-1],
    ],
    ids=["big-endian", "longdouble", "strided", "fortran", "reversed"],
)
def test_layouts_change_nothing(given):
    expected = RobustLinearSVC().fit(THIRTY, THREE)
    np.testing.assert_array_equal(RobustLinearSVC().fit(given, THREE).coef_, expected.coef_)


def test_read_only_data_are_left_alone():
    given = [THIRTY.copy(), THREE.copy(), np.ones(30)]
    for array in given:
        array.setflags(write=False)
    expected = RobustLinearSVC().fit(THIRTY, THREE)
    found = RobustLinearSVC().fit(*given, label_trust=given[2])
    np.testing.assert_allclose(found.coef_, expected.coef_)


def test_one_row_is_refused_by_fit_and_taken_by_partial_fit():
    with pytest.raises(ValueError, match="at least 2 classes"):
        RobustLinearSVC().fit(THIRTY[:1], THREE[:1])
    model = RobustLinearSVC().partial_fit(THIRTY[:1], THREE[:1], classes=[0, 1, 2])
    assert np.isfinite(model.decision_function(THIRTY)).all()


TWELVE = np.random.default_rng(0).normal(size=(12, 2))


Y = [0, 1, 2] * 4


TEXTS = [str(label) for label in Y]


LABELS = {
    "NaN": np.array([0, np.nan, *Y[2:]]),
    "None": [Y[0], None, *Y[2:]],
    "None among texts": np.array([TEXTS[0], None, *TEXTS[2:]], dtype=object),
    "NaN among texts": np.array([TEXTS[0], np.nan, *TEXTS[2:]], dtype=object),
    "integers of pandas": pd.Series([0, pd.NA, *Y[2:]], dtype="Int64"),
    "texts of pandas": pd.Series(["0", pd.NA, *TEXTS[2:]], dtype="string"),
    "categories": pd.Series(["0", None, *TEXTS[2:]], dtype="category"),
    "objects of pandas": pd.Series(["0", pd.NA, *TEXTS[2:]], dtype=object),
    "days": np.array(["2020-01-01", "NaT", *["2020-01-02"] * 10], dtype="datetime64[D]"),
}


USES = {
    "fit": lambda y: RobustLinearSVC().fit(TWELVE, y),
    "kernel": lambda y: RobustSVC().fit(TWELVE, y),
    "one-vs-rest": lambda y: wdrsvm.RobustOneVsRestSVC().fit(TWELVE, y),
    "search": lambda y: wdrsvm.RobustLinearSVCCV([0.1], [1.0], cv=2).fit(TWELVE, y),
    "stream": lambda y: RobustLinearSVC().partial_fit(TWELVE, y, classes=[0, 1, 2]),
    "worst case": lambda y: RobustLinearSVC().fit(TWELVE, Y).worst_case_risk(TWELVE, y),
    "radius_max": lambda y: wdrsvm.radius_max(TWELVE, y),
    "path": lambda y: wdrsvm.robust_path(TWELVE, y),
    "audit": lambda y: wdrsvm.audit_labels(TWELVE, y),
}


@pytest.mark.parametrize("assumed", [False, True])
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", LABELS)
def test_a_missing_label_is_named(kind, use, assumed):
    told = (
        r"^y must have a label in every row, got 1 missing, the first of them in row 1\.$"
    )
    with (
        sklearn.config_context(assume_finite=assumed),
        pytest.raises(ValueError, match=told),
    ):
        USES[use](LABELS[kind])


def test_a_missing_label_of_a_dask_series_is_named():
    da = pytest.importorskip("dask.array")
    rows = da.from_array(TWELVE, chunks=(6, 2))
    labels = da.from_array(LABELS["NaN"], chunks=6)
    with pytest.raises(ValueError, match="y must have a label in every row"):
        RobustLinearSVC().fit(rows, labels)


SPOILT = np.where(np.arange(24).reshape(12, 2) == 3, np.nan, TWELVE)


MEETINGS = {
    "fit": lambda: RobustLinearSVC().fit(SPOILT, Y),
    "kernel": lambda: RobustSVC().fit(SPOILT, Y),
    "one-vs-rest": lambda: wdrsvm.RobustOneVsRestSVC().fit(SPOILT, Y),
    "search": lambda: wdrsvm.RobustLinearSVCCV([0.1], [1.0], cv=2).fit(SPOILT, Y),
    "stream": lambda: RobustLinearSVC().partial_fit(SPOILT, Y, classes=[0, 1, 2]),
    "predict": lambda: RobustLinearSVC().fit(TWELVE, Y).predict(SPOILT),
    "kernel predict": lambda: RobustSVC().fit(TWELVE, Y).predict(SPOILT),
    "worst case": lambda: RobustLinearSVC().fit(TWELVE, Y).worst_case_risk(SPOILT, Y),
    "certified": lambda: RobustLinearSVC().fit(TWELVE, Y).certified_radius(SPOILT),
    "path": lambda: wdrsvm.robust_path(SPOILT, Y),
}


@pytest.mark.parametrize("meeting", MEETINGS)
def test_features_that_were_assumed_finite_and_are_not(meeting):
    with (
        sklearn.config_context(assume_finite=True),
        pytest.raises(ValueError, match=r"^X must have finite entries only, got NaN"),
    ):
        MEETINGS[meeting]()


def test_weights_that_were_assumed_finite_and_are_not():
    told = "^sample_weight must be finite in every row"
    with sklearn.config_context(assume_finite=True), pytest.raises(ValueError, match=told):
        RobustLinearSVC().fit(TWELVE, Y, sample_weight=np.full(12, np.nan))


@pytest.mark.parametrize(
    ("solver", "bounded", "advised"),
    [
        ("auto", True, None),
        ("newton", True, "solver='auto'"),
        ("auto", False, "another solver"),
    ],
)
def test_another_solver_is_advised_only_if_one_is_left(solver, bounded, advised):
    support = (IRIS.min(axis=0), IRIS.max(axis=0)) if bounded else None
    ball = WassersteinBall(0.1, support=support)
    codes = np.unique(SPECIES, return_inverse=True)[1]
    weight = np.full(len(IRIS), 1 / len(IRIS))
    problem = RobustProblem.of(IRIS, codes, weight, ball, 3)
    assert problem.is_bounded == bounded
    remedy = _fit._remedy(solver, problem, SolverStatus.STALLED)
    assert ("solver" in remedy) == (advised is not None)
    assert advised is None or advised in remedy


@pytest.mark.parametrize("solver", ["newton", "interior-point"])
def test_a_gap_in_a_bounded_ball_advises_the_rule_that_tries_both_methods(solver):
    model = RobustLinearSVC(0.05, support=(-10.0, 10.0), solver=solver, max_iter=1)
    with pytest.warns(ConvergenceWarning, match="Use solver='auto', which tries two"):
        model.fit(TWELVE, Y)
