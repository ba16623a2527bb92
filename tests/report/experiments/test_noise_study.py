"""The page of the study of noise."""

import re

import pytest

from wdrsvm.experiments import collect, noise_study
from wdrsvm.report.experiments import noise_study as noise_page
from wdrsvm.report.experiments import write_experiment_page

from ..made_up import fill

pytest.importorskip("matplotlib")
pandas = pytest.importorskip("pandas")


def test_labels_of_a_crowd_have_no_error_over_tables(tmp_path, monkeypatch):
    monkeypatch.setattr(noise_study, "QUICK_TABLES", ("music_genre", "wine"))
    experiment = fill("noise-study", tmp_path)
    html = write_experiment_page(
        collect(experiment, out=tmp_path, repetitions=2)
    ).read_text()
    assert "crowd random" in html
    assert "nan" not in re.sub(r'src="[^"]*"', "", html)


@pytest.mark.parametrize(("behind", "worst", "good"), [(0, 0.1, True), (1, 0.1, False)])
def test_a_model_holds_where_it_is_nowhere_behind(behind, worst, good):
    row = {"model": "ours", "metric": "accuracy", "weights": "none", "condition": "clean"}
    row |= {"difference": worst, "standard_error": 0.1, "tables": 3}
    row |= {"worst_difference": -1.0, "worst_error": 0.2, "worst_table": "wine"}
    table = pandas.DataFrame([row | {"tables_behind": behind}])
    verdict = noise_page._verdict(table, "ours", "none", "accuracy")
    assert verdict.good is good
    assert "-1.0 (0.2) on wine" in verdict.text
