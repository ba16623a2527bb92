"""Labels and features that are missing: one sentence, whoever meets them first."""

import numpy as np
import pytest
import sklearn

import wdrsvm
from wdrsvm import RobustLinearSVC, RobustSVC

pd = pytest.importorskip("pandas")

X = np.random.default_rng(0).normal(size=(12, 2))
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
    "fit": lambda y: RobustLinearSVC().fit(X, y),
    "kernel": lambda y: RobustSVC().fit(X, y),
    "one-vs-rest": lambda y: wdrsvm.RobustOneVsRestSVC().fit(X, y),
    "search": lambda y: wdrsvm.RobustLinearSVCCV([0.1], [1.0], cv=2).fit(X, y),
    "stream": lambda y: RobustLinearSVC().partial_fit(X, y, classes=[0, 1, 2]),
    "worst case": lambda y: RobustLinearSVC().fit(X, Y).worst_case_risk(X, y),
    "radius_max": lambda y: wdrsvm.radius_max(X, y),
    "path": lambda y: wdrsvm.robust_path(X, y),
    "audit": lambda y: wdrsvm.audit_labels(X, y),
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
    rows = da.from_array(X, chunks=(6, 2))
    labels = da.from_array(LABELS["NaN"], chunks=6)
    with pytest.raises(ValueError, match="y must have a label in every row"):
        RobustLinearSVC().fit(rows, labels)


SPOILT = np.where(np.arange(24).reshape(12, 2) == 3, np.nan, X)
MEETINGS = {
    "fit": lambda: RobustLinearSVC().fit(SPOILT, Y),
    "kernel": lambda: RobustSVC().fit(SPOILT, Y),
    "one-vs-rest": lambda: wdrsvm.RobustOneVsRestSVC().fit(SPOILT, Y),
    "search": lambda: wdrsvm.RobustLinearSVCCV([0.1], [1.0], cv=2).fit(SPOILT, Y),
    "stream": lambda: RobustLinearSVC().partial_fit(SPOILT, Y, classes=[0, 1, 2]),
    "predict": lambda: RobustLinearSVC().fit(X, Y).predict(SPOILT),
    "kernel predict": lambda: RobustSVC().fit(X, Y).predict(SPOILT),
    "worst case": lambda: RobustLinearSVC().fit(X, Y).worst_case_risk(SPOILT, Y),
    "certified": lambda: RobustLinearSVC().fit(X, Y).certified_radius(SPOILT),
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
        RobustLinearSVC().fit(X, Y, sample_weight=np.full(12, np.nan))
