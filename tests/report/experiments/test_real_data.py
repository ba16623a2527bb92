"""The page of the real data."""

import re

import pytest

from wdrsvm.experiments import collect
from wdrsvm.report.experiments import write_experiment_page

from ..made_up import fill

pytest.importorskip("matplotlib")
pytest.importorskip("pandas")


def test_other_readings_of_a_table_are_not_counted_as_printed(tmp_path):
    experiment = fill("real-data", tmp_path)
    html = write_experiment_page(
        collect(experiment, out=tmp_path, repetitions=2)
    ).read_text()
    counts = re.findall(r"(\d+) printed means", html)
    assert counts == ["16", "12", "7"]


def test_differences_are_shown_in_standard_errors(tmp_path):
    experiment = fill("real-data", tmp_path)
    table = experiment.summarise(collect(experiment, out=tmp_path, repetitions=2).frame)
    row = table["real_data"].set_index(["table", "model"]).loc[("wine", "DR-MSVM")]
    assert row["published"] == 95.92
    expected = (row["ours_sd"] ** 2 / 2 + 2.33**2 / 50) ** 0.5
    assert row["standard_error"] == pytest.approx(expected)
    assert row["in_errors"] == pytest.approx((row["ours"] - 95.92) / expected)
