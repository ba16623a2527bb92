"""The time left, from finished tasks of the same kind."""

import pytest

from wdrsvm.experiments import Experiment, run_experiment
from wdrsvm.experiments.running.pace import Pace
from wdrsvm.experiments.running.store import Outcome, Store


def tasks(repetitions=2):
    return [
        {"size": size, "model": model, "repetition": repetition}
        for repetition in range(repetitions)
        for size in (1, 100)
        for model in ("a", "b")
    ]


def test_repetitions_stand_for_each_other():
    waiting = tasks()
    pace = Pace(waiting, n_workers=1)
    assert pace.seconds_left() is None
    for task in waiting[:4]:
        pace.done(task, float(task["size"]))
    assert (pace.n_waiting, pace.n_unlike()) == (4, 0)
    assert pace.seconds_left() == 202.0
    for task in waiting[4:]:
        pace.done(task, float(task["size"]))
    assert pace.seconds_left() == 0.0


def test_the_most_alike_stand_for_what_was_never_done():
    waiting = tasks(1)
    pace = Pace(waiting, n_workers=1)
    pace.done(waiting[0], 1.0)
    pace.done(waiting[2], 100.0)
    assert pace.n_unlike() == 2
    # Each shares its size, or its model, with one that is done: the size is as good.
    pace.took({"size": 100, "model": "c"}, 90.0)
    assert pace.seconds_left() == pytest.approx(1.0 + 95.0)


def test_workers_share_tasks_but_not_one_task():
    pace = Pace(tasks(), n_workers=2)
    for task in tasks(1):
        pace.done(task, 1.0)
    assert pace.seconds_left() == 2.0
    pace = Pace([{"x": 0, "repetition": r} for r in range(2)], n_workers=4)
    pace.done({"x": 0, "repetition": 0}, 60.0)
    assert pace.seconds_left() == 60.0


def test_a_run_that_goes_on_knows_what_tasks_took(tmp_path):
    experiment = Experiment(
        "costs", "Costs", 1, lambda preset, n: tasks(), lambda task: [{"value": 1}], dict
    )
    store = Store(tmp_path / "costs-quick", 1)
    with store.locked():
        for task in tasks(1):
            store.add(task, Outcome([{"value": 1}], float(task["size"])))
    told = []
    run_experiment(experiment, out=tmp_path, progress=told.append)
    assert told[0] == (4, 8, 202.0, 0)
    assert told[-1].seconds_left == 0.0
