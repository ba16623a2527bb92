"""The paper's experiments as lists of tasks, and one runner for all of them."""

from .real_data import EXPERIMENT as REAL_DATA
from .runner import Progress, Results, collect, run_experiment
from .spec import PRESETS, Experiment

EXPERIMENTS = {each.name: each for each in (REAL_DATA,)}

__all__ = [
    "EXPERIMENTS",
    "PRESETS",
    "Experiment",
    "Progress",
    "Results",
    "collect",
    "run_experiment",
]
