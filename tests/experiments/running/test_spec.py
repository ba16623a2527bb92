"""Tasks of every experiment."""

import pytest

from wdrsvm.experiments import EXPERIMENTS
from wdrsvm.experiments.running.spec import key_of


@pytest.mark.filterwarnings("ignore:music_genre is left out")
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_tasks_differ_and_fewer_repetitions_are_the_first(name):
    experiment = EXPERIMENTS[name]
    keys = [key_of(task) for task in experiment.tasks("full", 2)]
    assert len(set(keys)) == len(keys)
    assert {key_of(task) for task in experiment.tasks("full", 1)} < set(keys)
    assert len(experiment.tasks("quick", None)) < len(experiment.tasks("full", None))
