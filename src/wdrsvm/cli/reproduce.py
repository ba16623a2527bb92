"""``wdrsvm reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from ..experiments import EXPERIMENTS, PRESETS, Experiment, run_experiment
from ..report.experiments import write_experiment_page
from .progress import Bar

NAMES = (*EXPERIMENTS, "all")


def register(app: Any) -> None:
    """Add the command."""
    app.command("reproduce")(reproduce)


def reproduce(
    experiment: Annotated[str, typer.Argument(help=f"One of {', '.join(NAMES)}.")],
    preset: Annotated[str, typer.Option(help=f"One of {', '.join(PRESETS)}.")] = "quick",
    out: Annotated[Path, typer.Option(help="Folder of results and pages.")] = Path(
        "reproduce"
    ),
    jobs: Annotated[int, typer.Option(help="Processes; -1 is one a processor.")] = 1,
    repetitions: Annotated[
        int | None, typer.Option(help="In place of the preset's own number.")
    ] = None,
) -> None:
    """Repeat an experiment of the paper and write its page.

    Stop it at any time; the same command goes on where it was.
    """
    console = Console()
    for each in _chosen(experiment):
        with Bar(each.title, console) as bar:
            results = run_experiment(
                each, preset, out, jobs=jobs, repetitions=repetitions, progress=bar.show
            )
        page = write_experiment_page(results)
        console.print(f"{each.title}: {page}", soft_wrap=True, highlight=False)


def _chosen(name: str) -> list[Experiment]:
    if name not in NAMES:
        raise ValueError(f"experiment must be one of {', '.join(NAMES)}, got {name!r}.")
    return list(EXPERIMENTS.values()) if name == "all" else [EXPERIMENTS[name]]
