"""Pages of the experiments, from made-up records."""

import re

import pytest

from wdrsvm.experiments import EXPERIMENTS, collect, noise_study
from wdrsvm.report.experiments import PAGES, simulation, write_experiment_page
from wdrsvm.report.experiments import noise_study as noise_page

from ..made_up import fill

pytest.importorskip("matplotlib")
pandas = pytest.importorskip("pandas")


@pytest.fixture(autouse=True)
def few_panels(monkeypatch):
    """Figures of the simulation have eight panels a class count; four are enough here."""
    monkeypatch.setattr(simulation, "CLASSES", (4,))
    monkeypatch.setattr(simulation, "FEATURES", (3, 5))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_page_has_verdicts_figures_and_what_was_run(name, tmp_path):
    experiment = fill(name, tmp_path)
    page = write_experiment_page(collect(experiment, out=tmp_path, repetitions=2))
    html = page.read_text()
    assert "verdict" in html
    assert "What was run" in html
    assert "nan" not in re.sub(r'src="[^"]*"', "", html)
    figures = sorted(path.stem for path in page.parent.glob("*.svg"))
    assert len(figures) == html.count("<figure>") > 0
    assert figures == sorted(path.stem for path in page.parent.glob("*.png"))
    assert list(page.parent.glob("summary-*.csv"))


def test_every_experiment_has_a_page():
    assert set(PAGES) == set(EXPERIMENTS)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_page_of_an_unfinished_run_shows_its_whole_repetitions(name, tmp_path):
    experiment = fill(name, tmp_path, repetitions=1)
    done = len(experiment.tasks("quick", 1))
    html = write_experiment_page(
        collect(experiment, out=tmp_path, repetitions=2)
    ).read_text()
    assert f"<dd>{done} of {2 * done}</dd>" in html
    assert "verdict" in html


@pytest.mark.parametrize("every", [1000, 2])
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_page_without_a_whole_repetition_says_what_was_run(name, every, tmp_path):
    experiment = fill(name, tmp_path, every=every)
    html = write_experiment_page(
        collect(experiment, out=tmp_path, repetitions=2)
    ).read_text()
    assert "What was run" in html
    assert "verdict" not in html.partition("</style>")[2]


def test_nothing_done_has_a_page_too(tmp_path):
    experiment = EXPERIMENTS["simulation"]
    page = write_experiment_page(collect(experiment, out=tmp_path))
    assert "0 of" in page.read_text()


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


def test_ratios_are_geometric_means_and_bounds_are_marked(tmp_path):
    experiment = fill("scalability", tmp_path)
    ratios = experiment.summarise(collect(experiment, out=tmp_path, repetitions=2).frame)[
        "ratios"
    ]
    assert ratios["ratio"].between(50, 200).all()
    assert (ratios["lower_bound"] == (ratios["solver"] == "clarabel")).all()


@pytest.mark.parametrize(
    ("leads", "errors", "good"),
    [
        ([5.0, -0.2], [0.5, 0.5], True),
        ([5.0, -2.0], [0.5, 0.5], False),
        ([5.0, 0.2], [0.5, 0.5], True),
        ([0.2, -0.2], [0.5, 0.5], None),
        ([20.0, 1.0], [0.5, 0.5], False),
        ([5.0, 1.0], [float("nan")] * 2, None),
    ],
)
def test_a_lead_within_two_standard_errors_has_no_sign(leads, errors, good):
    peaks = pandas.DataFrame(
        {"balance": "balanced", "lead": leads, "standard_error": errors, "n_features": 3}
    )
    verdict = simulation._verdict(peaks, "balanced", 0.02, 5.40)
    assert verdict.good is good
    assert f"{min(leads):.2f} to {max(leads):.2f}" in verdict.text


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_one_repetition_has_no_verdict(name, tmp_path):
    """Without a standard error nothing holds, and nothing fails to hold."""
    experiment = fill(name, tmp_path, repetitions=1)
    html = write_experiment_page(
        collect(experiment, out=tmp_path, repetitions=1)
    ).read_text()
    body = html.partition("</style>")[2]
    assert "one repetition has no standard error, so there is no verdict" in body
    assert "verdict good" not in body
    assert "verdict bad" not in body


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_unfinished_run_says_so(name, tmp_path):
    experiment = fill(name, tmp_path, repetitions=1)
    n_tasks, n_all = (len(experiment.tasks("quick", n)) for n in (1, 2))
    collected = collect(experiment, out=tmp_path, repetitions=2)
    html = write_experiment_page(collected).read_text()
    assert f"{n_tasks} of {n_all} tasks are done; what follows is of the 1" in html
    html = write_experiment_page(collect(experiment, out=tmp_path, repetitions=1))
    assert "Not finished" not in html.read_text()
