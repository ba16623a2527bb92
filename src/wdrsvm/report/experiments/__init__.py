"""One page an experiment: published against ours, figures, what was run, a verdict."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...experiments import Results
from ...files import write_text
from ..page import Facts, Page, Section, Text
from . import noise_study, real_data, scalability, simulation, subgradient

# The sections of a page from the summary tables and the folder for figures.
Sections = Callable[[dict[str, Any], Path], list[Section]]

PAGES: dict[str, tuple[str, Sections]] = {
    "simulation": (simulation.LEAD, simulation.sections),
    "real-data": (real_data.LEAD, real_data.sections),
    "scalability": (scalability.LEAD, scalability.sections),
    "subgradient": (subgradient.LEAD, subgradient.sections),
    "noise-study": (noise_study.LEAD, noise_study.sections),
}


def write_experiment_page(results: Results) -> Path:
    """Write the page of an experiment, its summary tables and its figures.

    Parameters
    ----------
    results : Results
        What a run found, finished or not.

    Returns
    -------
    Path
        The page, ``index.html`` in the folder of the results.

    Examples
    --------
    >>> from wdrsvm.experiments import EXPERIMENTS, run_experiment
    >>> from wdrsvm.report.experiments import write_experiment_page
    >>> results = run_experiment(EXPERIMENTS["subgradient"])  # doctest: +SKIP
    >>> write_experiment_page(results)  # doctest: +SKIP
    PosixPath('reproduce/subgradient-quick/index.html')
    """
    tables = results.experiment.summarise(results.frame)
    for name, table in tables.items():
        write_text(results.folder / f"summary-{name}.csv", table.to_csv(index=False))
    lead, sections = PAGES[results.experiment.name]
    parts = [*sections(tables, results.folder), _what_was_run(results)]
    page = Page(results.experiment.title, lead, parts)
    return page.write(results.folder / "index.html")


def _what_was_run(results: Results) -> Section:
    about = results.about
    facts = {
        "preset": results.preset,
        "repetitions": about["repetitions"],
        "tasks done": f"{about['tasks'] - about['missing']} of {about['tasks']}",
        "processor minutes": round(about["minutes"], 1),
        "fits that stopped early, those of peers included": about["unconverged"],
        "seeds": "the number of the repetition",
        "machine": about["machine"],
        **about["versions"],
    }
    note = "The same command with the same folder repeats nothing that is done."
    return Section("What was run", [Facts(facts), Text(note)])
