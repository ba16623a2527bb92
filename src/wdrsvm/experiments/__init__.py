"""The paper's experiments as lists of tasks, and one runner for all of them."""

from .claims import EXPERIMENT as CLAIMS
from .noise_study import EXPERIMENT as NOISE_STUDY
from .real_data import EXPERIMENT as REAL_DATA
from .running.runner import Progress, Results, collect, run_experiment
from .running.spec import PRESETS, Experiment
from .scalability import EXPERIMENT as SCALABILITY
from .simulation import EXPERIMENT as SIMULATION
from .subgradient import EXPERIMENT as SUBGRADIENT

_ALL = (SIMULATION, REAL_DATA, SCALABILITY, SUBGRADIENT, NOISE_STUDY, CLAIMS)
EXPERIMENTS = {each.name: each for each in _ALL}

__all__ = [
    "EXPERIMENTS",
    "PRESETS",
    "Experiment",
    "Progress",
    "Results",
    "collect",
    "run_experiment",
]
