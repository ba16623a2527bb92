"""One page per experiment: a verdict, published and our results, figures, facts."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from ...experiments import Results
from ...files import write_text
from ..page import Facts, Page, Section, Table, Text
from . import claims, noise_study, real_data, scalability, simulation, subgradient

# Number of records that are shown while no repetition is complete.
SHOWN_RECORDS = 20


class Kind(Protocol):
    """The interface of a page's module: the lead, the runs of each preset, the sections."""

    LEAD: str
    SIZES: dict[str, str]

    def sections(self, tables: dict[str, Any], folder: Path) -> list[Section]:
        """The sections, made from the summary tables; figures are saved in the folder."""


PAGES: dict[str, Kind] = {
    "simulation": simulation,
    "real-data": real_data,
    "scalability": scalability,
    "subgradient": subgradient,
    "noise-study": noise_study,
    "claims": claims,
}


def write_experiment_page(results: Results) -> Path:
    """Write the page of an experiment, its summary tables and its figures.

    Parameters
    ----------
    results : Results
        The results of a run, finished or not.  The page shows complete repetitions only.

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
    kind, frame = PAGES[results.experiment.name], _whole(results)
    parts = [] if frame.empty else _found(kind, results, frame)
    parts = [*_unfinished(results, frame), *parts, _what_was_run(results)]
    page = Page(results.experiment.title, kind.LEAD, parts)
    return page.write(results.folder / "index.html")


def _whole(results: Results) -> Any:
    """The records of complete repetitions; means over incomplete ones would mislead."""
    frame = results.frame
    if not results.about["missing"] or frame.empty:
        return frame
    return frame[frame["repetition"].isin(results.about["whole_repetitions"])]


def _unfinished(results: Results, whole: Any) -> list[Section]:
    """A note if a run is not finished; the last records if no repetition is complete."""
    about = results.about
    if not about["missing"]:
        return []
    done = f"{about['tasks'] - about['missing']} of {about['tasks']} tasks are done"
    if not whole.empty:
        n_whole = len(about["whole_repetitions"])
        shown = f"what follows is of the {n_whole} repetitions that are whole"
        return [Section("Not finished", [Text(f"{done}; {shown}.")])]
    parts: list[Any] = [Text(f"{done}; no repetition is whole, so nothing is judged yet.")]
    if not results.frame.empty:
        last = results.frame.tail(SHOWN_RECORDS)
        parts.append(Table.of_frame("The last records; results.csv has all", last))
    return [Section("Not finished", parts)]


def _found(kind: Kind, results: Results, frame: Any) -> list[Section]:
    """The sections of a page; also writes its summary tables and figures to the folder."""
    tables = results.experiment.summarise(frame)
    for name, table in tables.items():
        write_text(results.folder / f"summary-{name}.csv", table.to_csv(index=False))
    return kind.sections(tables, results.folder)


def _what_was_run(results: Results) -> Section:
    about = results.about
    facts = {
        "preset": results.preset,
        "sizes": PAGES[results.experiment.name].SIZES[results.preset],
        "whole repetitions": len(about["whole_repetitions"]),
        "tasks done": f"{about['tasks'] - about['missing']} of {about['tasks']}",
        "minutes, if tasks had run one after another": round(about["minutes"], 1),
        "fits that stopped early, including fits of peers": about["unconverged"],
        "seeds": "the number of the repetition",
        "machine, when this page was written": about["machine"],
        **about["versions"],
    }
    note = "The same command with the same folder does not repeat finished tasks."
    return Section("What was run", [Facts(facts), Text(note)])
