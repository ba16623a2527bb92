"""Nothing that a user gives is written to, sorted or added up, by any public name."""

import dataclasses
import inspect
import re
import threading
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.ensemble import VotingClassifier

import wdrsvm
from wdrsvm import datasets

pd = pytest.importorskip("pandas")
plotting = pytest.importorskip("wdrsvm.plotting")
pytest.importorskip("matplotlib").use("Agg")

X, Y = load_iris(return_X_y=True)
X, Y = X[::6], Y[::6]
# Sums of halves are exact, however they are added.
X = np.round(8 * (X - X.mean(axis=0))) / 8
X[::3, 1] = 0.0
COSTS = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.5], [2.0, 0.5, 0.0]])


def frozen(value):
    """The same with all its memory read-only."""
    for part in parts_of(value):
        part.flags.writeable = False
    return value


def parts_of(value):
    """All arrays that an argument is made of."""
    if isinstance(value, np.ndarray):
        return [value]
    if sparse.issparse(value):
        names = ("data", "indices", "indptr", "row", "col")
        if value.format == "coo":
            names = ("data", "row", "col")
        return [getattr(value, name) for name in names if hasattr(value, name)]
    if isinstance(value, pd.DataFrame | pd.Series):
        return [np.asarray(value)]
    if isinstance(value, list | tuple):
        return [part for each in value for part in parts_of(each)]
    if isinstance(value, dict):
        return parts_of(list(value.values()))
    if hasattr(value, "to_numpy"):
        return [value.to_numpy()]
    return []


def remembered(value):
    return [(part.dtype.str, part.shape, part.tobytes()) for part in parts_of(value)]


def doubled_entries(dense):
    """Entries in an order of their own, each as two that add up to it, and rows mixed."""
    rows, columns = np.nonzero(dense)
    order = np.random.default_rng(0).permutation(2 * len(rows))
    values = np.concatenate([dense[rows, columns] - 0.5, np.full(len(rows), 0.5)])
    rows, columns = np.tile(rows, 2), np.tile(columns, 2)
    return values[order], rows[order], columns[order]


def untidy(kind, dense, transposed=False):
    """A compressed matrix with unsorted and repeated entries."""
    values, rows, columns = doubled_entries(dense)
    major, minor = (columns, rows) if transposed else (rows, columns)
    order = np.argsort(major, kind="stable")
    ends = np.cumsum(np.bincount(major, minlength=dense.shape[1 if transposed else 0]))
    starts = np.concatenate([[0], ends]).astype(np.int32)
    matrix = kind((values[order], minor[order].astype(np.int32), starts), shape=dense.shape)
    assert not matrix.copy().has_canonical_format
    return matrix


def repeated_coo(dense):
    values, rows, columns = doubled_entries(dense)
    return sparse.coo_array((values, (rows, columns)), shape=dense.shape)


def polars_frame(dense):
    polars = pytest.importorskip("polars")
    return polars.DataFrame({f"x{k}": column for k, column in enumerate(dense.T)})


KINDS = {
    "dense": lambda dense: np.ascontiguousarray(dense),
    "fortran": lambda dense: np.asfortranarray(dense),
    "float32": lambda dense: dense.astype(np.float32),
    "integers": lambda dense: (8 * dense).astype(np.int64),
    "csr": sparse.csr_array,
    "csr untidy": lambda dense: untidy(sparse.csr_array, dense),
    "csr matrix untidy": lambda dense: untidy(sparse.csr_matrix, dense),
    "csc untidy": lambda dense: untidy(sparse.csc_array, dense, transposed=True),
    "coo untidy": repeated_coo,
    "pandas": lambda dense: pd.DataFrame(dense, columns=list("abcdefgh"[: dense.shape[1]])),
    "polars": polars_frame,
}
DENSE = {"dense", "fortran", "float32", "pandas", "polars"}
SPARSE = {kind for kind in KINDS if kind[:3] in ("csr", "csc", "coo")}


def given_data(kind, dense=X):
    """Arguments by their names; the features are of one kind."""
    n_rows = len(dense)
    arguments = {
        "X": KINDS[kind](dense),
        "y": Y.copy(),
        "sample_weight": np.linspace(1.0, 2.0, n_rows),
        "label_trust": np.linspace(0.5, 1.5, n_rows),
        "label_cost": COSTS.copy(),
        "feature_cost": np.ones(dense.shape[1]) * 2,
        "radii": np.array([0.01, 0.1, 0.05]),
        "label_costs": [2.0, COSTS.copy()],
        "classes": np.array([2, 0, 1]),
        "distance": np.array([0.3, 0.1, 0.2]),
        "radius": 0.05,
    }
    return frozen(arguments)


def taken(function, given, **others):
    """The arguments that a function has a name for."""
    names = inspect.signature(function).parameters
    return {name: given[name] for name in names if name in given} | others


def called(function, given, **others):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(**taken(function, given, **others))


MODELS = {
    "RobustLinearSVC": [
        {},
        {"solver": "newton"},
        {"solver": "first-order", "norm": "l1", "tol": 1e-4},
        {"label_cost": 2.0, "support": (frozen(np.full(4, -99.0)), 99.0)},
        {"label_noise": "random", "label_cost": 1.0},
    ],
    "RobustLinearSVCCV": [{"cv": 2}],
    "RobustLogisticRegression": [{}],
    "RobustLogisticRegressionCV": [{"cv": 2, "radii": 2}],
    "RobustOneVsRestSVC": [
        {"label_cost": 2.0},
        {"label_cost": 2.0, "kernel": "laplacian", "feature_cost": None},
    ],
    "RobustSVC": [
        {},
        {"kernel": "laplacian"},
        {"kernel": "poly", "n_components": 6},
        {"kernel": "linear"},
    ],
    "RobustSVCCV": [{"cv": 2, "kernel": "laplacian"}],
}
MODEL_CASES = [(name, options) for name, cases in MODELS.items() for options in cases]
# Public names that take no data.
WITHOUT_DATA = {
    *("DisbeliefWarning", "RadiusWarning", "__version__", "load_model"),
    *("ClassErrorCurves", "ErrorCurve", "LabelAudit", "ObservedRadius", "RadiusChoice"),
    *("LabelNoiseTest", "LabelSets", "SuspectLabels", "Tradeoff", "VotedLabels"),
    "WorstCaseDistribution",
}
ABOUT_DATA = {"X", "y", "radii", "label_cost", "feature_cost", "distance", "sample_weight"}


def methods_of(model):
    """Public methods that take data."""
    for name in dir(model):
        if name.startswith(("_", "set_", "get_", "fit", "partial_fit")):
            continue
        method = getattr(model, name, None)
        if inspect.ismethod(method) and ABOUT_DATA & set(
            inspect.signature(method).parameters
        ):
            yield method


def small(result):
    """Numbers of a result, to be compared."""
    if isinstance(result, tuple):
        return [value for each in result for value in small(each)]
    if dataclasses.is_dataclass(result):
        fields = [getattr(result, each.name) for each in dataclasses.fields(result)]
        return [value for each in fields for value in small(each)]
    if hasattr(result, "toarray"):
        result = result.toarray()
    if isinstance(result, list) or (not hasattr(result, "dtype") and np.ndim(result)):
        return []
    values = np.asarray(result)
    return [values.astype(float)] if values.dtype.kind in "fiub" else []


def outcome(name, options, given):
    """What a model and all its methods say of the data."""
    kind = getattr(wdrsvm, name)
    model = called(kind, given, **options)
    called(model.fit, given)
    results = []
    for method in methods_of(model):
        try:
            results += small(called(method, given))
        except (ValueError, TypeError) as error:
            # A kernel that is not calm has no radius of inputs.
            if not re.search("calm|kernel|must be linear", str(error)):
                raise
    if kind is wdrsvm.RobustLinearSVC and not {"support", "label_noise"} & set(options):
        called(model.partial_fit, given)
        results += small(model.coef_)
    return results


@pytest.fixture(scope="module")
def clean():
    """Results of tidy data that may be written to, found once."""
    known = {}

    def results(case, kind):
        tidy = "csr" if kind in SPARSE else "dense"
        key = (str(case), tidy)
        if key not in known:
            known[key] = outcome(*case, given_data(tidy))
        return known[key]

    return results


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", MODEL_CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def test_estimators_leave_data_as_they_are(case, kind, clean):
    given = given_data(kind)
    before = remembered(given)
    found = outcome(*case, given)
    assert remembered(given) == before
    if kind in DENSE | SPARSE:
        for one, other in zip(found, clean(case, kind), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9)


def fitted(given):
    return called(wdrsvm.RobustLinearSVC().fit, given)


def calibrated(given):
    sets = wdrsvm.RobustConformalClassifier(
        fitted(given), cv="prefit", ball=wdrsvm.WassersteinBall(0.05), multiplier=1.0
    )
    return sets.fit(given["X"], given["y"], label_trust=given["label_trust"])


def ball(given):
    return called(wdrsvm.WassersteinBall, given)


def path_results(path, given):
    return [
        *small((path.decision_function(given["X"]), path.coef, path.objective)),
        *small(called(path.flipped_labels, given)),
    ]


def saved(given, tmp_path):
    pytest.importorskip("skops.io")
    model = called(wdrsvm.RobustLinearSVC, given).fit(given["X"], given["y"])
    return wdrsvm.load_model(wdrsvm.save_model(model, tmp_path / "model")).coef_


def exported(given, tmp_path):
    pytest.importorskip("skl2onnx")
    return len(wdrsvm.to_onnx(fitted(given)).SerializeToString()) > 0


# What each name of the package's top is given.
FUNCTIONS = {
    "WassersteinBall": lambda g, _: ball(g).label_cost_matrix(3),
    "RobustPath": lambda g, _: path_results(called(wdrsvm.robust_path, g), g),
    "robust_path": lambda g, _: called(
        wdrsvm.robust_path, g, kernel="laplacian", feature_cost=None
    ),
    "one_vs_rest_path": lambda g, _: called(
        wdrsvm.one_vs_rest_path, g, label_costs=[2.0, np.inf]
    ),
    "audit_labels": lambda g, _: called(wdrsvm.audit_labels, g, label_cost=COSTS),
    "bootstrap_radius": lambda g, _: called(
        wdrsvm.bootstrap_radius, g, n_resamples=2, n_radii=2
    ),
    "guaranteed_radius": lambda g, _: wdrsvm.guaranteed_radius(
        100, frozen((np.zeros(4), np.ones(4))), n_classes=3, feature_cost=g["feature_cost"]
    ),
    "radius_max": lambda g, _: called(wdrsvm.radius_max, g),
    "certified_radius": lambda g, _: called(
        wdrsvm.certified_radius, g, classifier=fitted(g)
    ),
    "worst_case_risk": lambda g, _: called(
        wdrsvm.worst_case_risk, g, classifier=fitted(g), ball=ball(g)
    ),
    "worst_case_distribution": lambda g, _: called(
        wdrsvm.worst_case_distribution, g, classifier=fitted(g), ball=ball(g)
    ),
    "worst_case_error": lambda g, _: called(
        wdrsvm.worst_case_error, g, classifier=fitted(g), ball=ball(g)
    ),
    "error_curve": lambda g, _: (
        called(wdrsvm.error_curve, g, classifier=fitted(g), ball=ball(g)).errors
    ),
    "WorstCaseErrorScorer": lambda g, _: called(
        wdrsvm.WorstCaseErrorScorer(ball(g)).__call__, g, estimator=fitted(g)
    ),
    "worst_case_error_scorer": lambda g, _: wdrsvm.worst_case_error_scorer(ball(g))(
        fitted(g), g["X"], g["y"]
    ),
    "tradeoff": lambda g, _: (
        called(wdrsvm.tradeoff, g, models=[fitted(g)], ball=ball(g)).worst_case_error
    ),
    "observed_radius": lambda g, _: (
        called(
            wdrsvm.observed_radius,
            g,
            X_old=g["X"],
            X_new=g["X"],
            y_old=g["y"],
            y_new=g["y"],
        ).radius
    ),
    "label_noise_test": lambda g, _: (
        called(wdrsvm.label_noise_test, g, n_draws=19).confusion
    ),
    "trust_from_votes": lambda g, _: (
        wdrsvm.trust_from_votes(
            *frozen([np.repeat(np.arange(3), 2), np.tile([7, 5], 3), np.arange(6) % 2])
        ).trust
    ),
    "mixed_table": lambda g, _: (
        wdrsvm.mixed_table(
            g["X"] if hasattr(g["X"], "columns") else pd.DataFrame(X)
        ).support
    ),
    "CategoryValues": lambda g, _: wdrsvm.CategoryValues().fit_transform(
        pd.DataFrame({"a": g["y"]})
    ),
    "RobustConformalClassifier": lambda g, _: calibrated(g).predict_set(g["X"]),
    "save_model": saved,
    "to_onnx": exported,
}


def test_every_public_name_has_a_case():
    assert set(wdrsvm.__all__) == {*MODELS, *FUNCTIONS, *WITHOUT_DATA}
    assert set(plotting.__all__) == set(DISPLAYS)
    functions = {
        name for name in datasets.__all__ if inspect.isfunction(getattr(datasets, name))
    }
    loaders = {"fetch_ai4i", "fetch_seeds", "load", "load_penguins", "make_simulation"}
    assert functions - loaders == set(CORRUPTIONS)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_leave_data_as_they_are(name, kind, tmp_path):
    given = given_data(kind)
    before = remembered(given)
    found = FUNCTIONS[name](given, tmp_path)
    assert remembered(given) == before
    if kind in DENSE | SPARSE and name != "to_onnx":
        tidy = FUNCTIONS[name](given_data("csr" if kind in SPARSE else "dense"), tmp_path)
        # An audit's machines are no more exact than it needs.
        rtol = 1e-4 if name == "audit_labels" else 1e-7
        for one, other in zip(small(found), small(tidy), strict=True):
            np.testing.assert_allclose(one, other, rtol=rtol, atol=1e-9)


PLANE = X[:, 2:]
DISPLAYS = {
    "CertifiedRadiusDisplay": lambda display, g: called(
        display.from_estimator, g, estimator=fitted(g)
    ).plot(),
    "ConvergenceDisplay": lambda display, g: called(
        display.from_estimator, g, estimator=wdrsvm.RobustLinearSVC()
    ).plot(),
    "CoverageDisplay": lambda display, g: display.from_estimator(
        calibrated(g), g["X"], g["y"]
    ).plot(),
    "ErrorCurveDisplay": lambda display, g: called(
        display.from_estimator, g, estimator=fitted(g)
    ).plot(),
    "SetSizeDisplay": lambda display, g: display.from_estimators(
        calibrated(g), g["X"]
    ).plot(),
    "TradeoffDisplay": lambda display, g: called(
        display.from_models, g, models=[fitted(g)], ball=ball(g)
    ).plot(),
    "LabelAuditDisplay": lambda display, g: display.from_audit(
        wdrsvm.audit_labels(g["X"], g["y"])
    ).plot(),
    "PathDisplay": lambda display, g: display(
        called(wdrsvm.robust_path, g)
    ).plot_flipped_labels(g["X"], g["y"]),
    "SearchDisplay": lambda display, g: display.from_search(
        called(wdrsvm.RobustLinearSVCCV(radii=g["radii"], cv=2).fit, g)
    ).plot(),
    "WorstCaseDisplay": lambda display, g: called(
        display.from_estimator, g, estimator=fitted(g)
    ).plot(),
}


@pytest.mark.parametrize("kind", ["dense", "csr untidy", "csc untidy", "pandas"])
@pytest.mark.parametrize("name", DISPLAYS)
def test_displays_leave_data_as_they_are(name, kind):
    given = given_data(kind, PLANE)
    before = remembered(given)
    DISPLAYS[name](getattr(plotting, name), given)
    assert remembered(given) == before


CORRUPTIONS = {
    "flip_labels": lambda X, y: datasets.flip_labels(y, 0.3),
    "flip_labels_by_class": lambda X, y: datasets.flip_labels_by_class(
        y, frozen(np.array([0.1, 0.2, 0.3]))
    ),
    "make_imbalanced": lambda X, y: datasets.make_imbalanced(y, 0.5),
    "add_feature_noise": lambda X, y: datasets.add_feature_noise(X, 0.5),
}


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_corruptions_leave_data_as_they_are(name):
    given = frozen((X.copy(), Y.copy()))
    before = remembered(given)
    CORRUPTIONS[name](*given)
    assert remembered(given) == before


def test_threads_share_untidy_data():
    """What one fit did to shared data, another once read halfway."""
    rng = np.random.default_rng(0)
    dense = np.round(4 * rng.normal(size=(300, 40))) * (rng.random((300, 40)) < 0.3)
    labels = rng.integers(0, 3, 300)
    shared = untidy(sparse.csr_array, dense)
    before = remembered(shared)
    known = wdrsvm.RobustLinearSVC(tol=1e-3).fit(sparse.csr_array(dense), labels)
    start, found = threading.Barrier(6), [None] * 6

    def fit(k):
        start.wait()
        model = wdrsvm.RobustLinearSVC(tol=1e-3).fit(shared, labels)
        found[k] = model.decision_function(shared)

    threads = [threading.Thread(target=fit, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert remembered(shared) == before
    for scores in found:
        np.testing.assert_allclose(scores, known.decision_function(dense), atol=1e-9)


def test_workers_of_joblib_read_memory_maps():
    """Above a megabyte they are given maps that nobody may write to."""
    rng = np.random.default_rng(0)
    dense = np.round(4 * rng.normal(size=(2000, 100))) * (rng.random((2000, 100)) < 0.4)
    labels = np.digitize(dense[:, :5].sum(axis=1), [-2, 2])
    rows = untidy(sparse.csr_matrix, dense)
    assert rows.data.nbytes > 2**20
    model = wdrsvm.RobustLinearSVC(radius=0.001, tol=1e-2)
    voters = VotingClassifier([("one", model), ("two", model)], n_jobs=2)
    before = remembered(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        voters.fit(rows, labels)
        alone = wdrsvm.RobustLinearSVC(radius=0.001, tol=1e-2).fit(dense, labels)
    assert remembered(rows) == before
    assert np.mean(voters.predict(rows) == alone.predict(dense)) > 0.99
