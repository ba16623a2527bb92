"""Aims and gains."""

import numpy as np
import pandas
import pytest

from wdrsvm.experiments.claims.claim import Aim, gain, gains_by_table, means, shown
from wdrsvm.experiments.statistics import Difference


def records(gaps):
    """Accuracies of two methods whose differences by table are these."""
    return pandas.DataFrame(
        [
            {"table": table, "repetition": k, "noise": "clean", "method": method}
            | {"accuracy": 0.5 + (each if method == "ours" else 0.0)}
            for table, found in gaps.items()
            for k, each in enumerate(found)
            for method in ("ours", "other")
        ]
    )


@pytest.mark.parametrize(
    ("mean", "error", "least", "n_errors", "reached"),
    [
        (-0.2, 5.0, -0.3, 0, True),
        (-0.4, 0.1, -0.3, 0, False),
        (1.2, 0.5, 1.0, 2, True),
        (1.2, 0.7, 1.0, 2, False),
        (0.9, 0.1, 1.0, 2, False),
        # Equal to zero is not ahead.
        (0.0, 0.0, 0.0, 2, False),
        (3.0, np.nan, 1.0, 2, None),
        (np.nan, np.nan, -1.0, 0, False),
    ],
)
def test_when_an_aim_is_reached(mean, error, least, n_errors, reached):
    assert Aim("more", Difference(mean, error), least, n_errors).reached is reached


def test_an_aim_as_a_row():
    row = Aim("more", Difference(-0.5, 0.25), 0.0).record()
    assert (row["aim"], row["found"]) == ("more", "-0.50 (0.25)")
    assert row["reached"] == "failed"
    assert (
        Aim("more", Difference(1.0, 0.0), 0.0, found="twice").record()["found"] == "twice"
    )
    assert shown(Difference(np.nan, np.nan)) == "did not run"


def test_the_standard_error_is_over_tables():
    frame = records({"a": [0.01, 0.03], "b": [0.04, 0.04]})
    found = gain(frame, "ours", "other", "accuracy")
    assert found.mean == pytest.approx(3.0)
    assert found.error == pytest.approx(np.std([2.0, 4.0], ddof=1) / np.sqrt(2))


def test_one_table_has_the_standard_error_over_its_splits():
    found = gain(records({"a": [0.01, 0.03]}), "ours", "other", "accuracy")
    assert found == pytest.approx((2.0, 1.0))


def test_a_method_that_did_not_run_and_splits_without_a_pair():
    frame = records({"a": [0.01, 0.03]})
    assert np.isnan(gain(frame, "ours", "third", "accuracy").mean)
    half = frame[~((frame["method"] == "other") & (frame["repetition"] == 1))]
    assert gain(half, "ours", "other", "accuracy").mean == pytest.approx(1.0)


def test_one_split_has_no_standard_error():
    found = gain(records({"a": [0.01], "b": [0.03]}), "ours", "other", "accuracy")
    assert found.mean == pytest.approx(2.0)
    assert np.isnan(found.error)


def test_tables_of_gains_and_means():
    frame = records({"a": [0.01, 0.03], "b": [0.0, 0.0]})
    by_table = gains_by_table(frame, "ours", "other", "accuracy", "noise")
    assert by_table.loc["a", "clean"] == "+2.00 (1.00)"
    (row,) = means(frame, "accuracy", "noise").to_dict("records")
    assert row == {"noise": "clean", "ours": 51.0, "other": 50.0}
