"""``wdrsvm reproduce``."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from ...experiments import (
    EXPERIMENTS,
    PRESETS,
    Experiment,
    Results,
    collect,
    run_experiment,
)
from ...experiments.running.runner import check_data, waiting_tasks
from ...report.experiments import write_experiment_page
from ..progress import Bar

NAMES = (*EXPERIMENTS, "all")

EXAMPLES = """Examples:

wdrsvm reproduce simulation

wdrsvm reproduce all --preset full --jobs -1 --out results

wdrsvm reproduce real-data --repetitions 5
"""


def register(app: Any) -> None:
    """Add the command."""
    app.command("reproduce", epilog=EXAMPLES)(reproduce)


def reproduce(
    experiment: Annotated[str, typer.Argument(help=f"One of {', '.join(NAMES)}.")],
    preset: Annotated[str, typer.Option(help=f"One of {', '.join(PRESETS)}.")] = "quick",
    out: Annotated[Path, typer.Option(help="Folder of results and pages.")] = Path(
        "reproduce"
    ),
    jobs: Annotated[int, typer.Option(help="Processes; -1 is one per processor.")] = 1,
    repetitions: Annotated[
        int | None,
        typer.Option(help="Number of repetitions; that of the preset if not given."),
    ] = None,
) -> None:
    """Repeat an experiment of the paper and write its page.

    It can be stopped at any time.  The page then shows the results so far, and the same
    command continues the run.
    """
    asked = Asked(preset, out, jobs, repetitions)
    chosen, console = _chosen(experiment), Console()
    with _told_once(console):
        for each in chosen:
            check_data(each, asked.waiting(each))
        for each in chosen:
            _reproduce(each, asked, console)


@dataclass(frozen=True)
class Asked:
    """The options of the user."""

    preset: str
    out: Path
    jobs: int
    repetitions: int | None

    def waiting(self, experiment: Experiment) -> list[Any]:
        return waiting_tasks(
            experiment, self.preset, self.out, repetitions=self.repetitions
        )

    def run(self, experiment: Experiment, bar: Bar) -> Results:
        return run_experiment(
            experiment,
            self.preset,
            self.out,
            jobs=self.jobs,
            repetitions=self.repetitions,
            progress=bar.show,
        )

    def so_far(self, experiment: Experiment) -> Results:
        return collect(experiment, self.preset, self.out, repetitions=self.repetitions)


def _reproduce(experiment: Experiment, asked: Asked, console: Console) -> None:
    """Run an experiment and write its page, also if the run is interrupted."""
    try:
        with Bar(experiment.title, console) as bar:
            results = asked.run(experiment, bar)
    except KeyboardInterrupt:
        results = asked.so_far(experiment)
        about = results.about
        done = f"{about['tasks'] - about['missing']} of {about['tasks']} tasks"
        _name_page(f"{experiment.title}, {done}", results, console)
        raise
    _name_page(experiment.title, results, console)


def _name_page(what: str, results: Results, console: Console) -> None:
    page = write_experiment_page(results)
    console.print(f"{what}: {page}", soft_wrap=True, highlight=False)


@contextmanager
def _told_once(console: Console) -> Iterator[None]:
    """Print warnings as notes at the end, each of them once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            yield
        finally:
            for note in dict.fromkeys(str(each.message) for each in caught):
                console.print(f"Note: {note}", soft_wrap=True, highlight=False)


def _chosen(name: str) -> list[Experiment]:
    if name not in NAMES:
        raise ValueError(f"experiment must be one of {', '.join(NAMES)}, got {name!r}.")
    return list(EXPERIMENTS.values()) if name == "all" else [EXPERIMENTS[name]]
