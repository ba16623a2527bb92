"""Pages of the experiments, from made-up records."""

import re

import pytest

from wdrsvm.experiments import EXPERIMENTS, collect
from wdrsvm.report.experiments import PAGES, simulation, write_experiment_page

from .made_up import fill

pytest.importorskip("matplotlib")
pytest.importorskip("pandas")


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
def test_a_page_of_an_unfinished_run_says_so_and_shows_its_whole_repetitions(
    name, tmp_path
):
    experiment = fill(name, tmp_path, repetitions=1)
    done, wanted = (len(experiment.tasks("quick", n)) for n in (1, 2))
    html = write_experiment_page(
        collect(experiment, out=tmp_path, repetitions=2)
    ).read_text()
    assert f"<dd>{done} of {wanted}</dd>" in html
    assert f"{done} of {wanted} tasks are done; what follows is of the 1" in html
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
    assert "Not finished" not in body
