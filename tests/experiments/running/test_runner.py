"""A run that is killed goes on where it was, and finds the same."""

import importlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
import warnings
from contextlib import closing

import pytest
from sklearn.exceptions import ConvergenceWarning

from wdrsvm.experiments import Experiment, collect, run_experiment
from wdrsvm.experiments.running.store import FILE, Store

pytest.importorskip("pandas")

# Tasks that tell when they run: which were run, and how often, is in a file.
SCRIPT = """
import random, sys, time
from wdrsvm.experiments import Experiment, run_experiment

def tasks(preset, repetitions):
    return [{"x": x, "repetition": x % 2} for x in range(12)]

def run(task):
    with open(sys.argv[2], "a") as log:
        log.write(f"{task['x']}\\n")
    time.sleep(float(sys.argv[3]))
    return [{"value": random.Random(task["x"]).random()}, {"value": 1.0}]

numbers = Experiment("numbers", "Numbers", 1, tasks, run, lambda frame: {})
run_experiment(numbers, out=sys.argv[1], jobs=int(sys.argv[4]))
"""


def start(folder, log, pause, jobs=1):
    script = log.parent / "script.py"
    script.write_text(SCRIPT)
    arguments = [str(script), str(folder), str(log), str(pause), str(jobs)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen([sys.executable, *arguments], env=environment)


def test_a_killed_run_repeats_nothing_and_finds_the_same(tmp_path):
    log, whole_log = tmp_path / "log", tmp_path / "whole-log"
    process = start(tmp_path / "killed", log, 0.2)
    folder = tmp_path / "killed" / "numbers-quick"
    tasks = [{"x": x, "repetition": x % 2} for x in range(12)]
    while len(Store(folder, 1).records(tasks)) < 6:
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    store = Store(folder, 1)
    done = [task["x"] for task in tasks if task in store]
    assert 3 <= len(done) < 12
    assert start(tmp_path / "killed", log, 0.0).wait() == 0
    assert start(tmp_path / "whole", whole_log, 0.0, jobs=2).wait() == 0
    results = [
        (tmp_path / name / "numbers-quick" / "results.csv").read_text()
        for name in ("killed", "whole")
    ]
    assert results[0] == results[1]
    assert results[0].count("\n") == 1 + 24
    runs = log.read_text().split()
    # At most the task that was killed in the middle is run twice.
    assert len(runs) <= 13
    assert all(runs.count(str(x)) == 1 for x in done)


def counting(run=lambda task: [{"value": task["x"]}], protocol=1):
    tasks = [{"x": x, "repetition": 0} for x in range(4)]
    return Experiment(
        "counting", "Counting", protocol, lambda preset, repetitions: tasks, run, dict
    )


def test_progress_counts_what_was_done_before(tmp_path):
    told = []
    run_experiment(counting(), out=tmp_path, progress=told.append)
    assert [each.done for each in told] == [0, 1, 2, 3, 4]
    assert told[0].seconds_left is None
    assert told[-1].seconds_left == 0
    run_experiment(counting(), out=tmp_path, progress=told.append)
    assert told[-1] == (4, 4, 0.0, 0)


def test_a_failure_names_its_task_and_keeps_the_others(tmp_path):
    def run(task):
        if task["x"] == 2:
            raise ArithmeticError("two")
        return [{"value": task["x"]}]

    with pytest.raises(ArithmeticError) as caught:
        run_experiment(counting(run), out=tmp_path)
    assert "'x': 2" in caught.value.__notes__[0]
    assert collect(counting(), out=tmp_path).frame["value"].tolist() == [0, 1]


def test_a_full_disk_loses_nothing(tmp_path, monkeypatch):
    def run(task):
        return [{"value": task["x"], "text": "long" * 5000 * (task["x"] == 2)}]

    class Full(sqlite3.Connection):
        """SQLite itself finds no room beyond so many pages."""

        def __init__(self, *given):
            super().__init__(*given)
            self.execute("PRAGMA max_page_count = 4")

    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", Full)
        with pytest.raises(OSError, match="disk is full"):
            run_experiment(counting(run), out=tmp_path)
    store = Store(tmp_path / "counting-quick", 1)
    assert [{"x": x, "repetition": 0} in store for x in range(4)] == [True] * 2 + [
        False
    ] * 2
    results = run_experiment(counting(run), out=tmp_path)
    assert results.frame["value"].tolist() == [0, 1, 2, 3]


def test_results_of_another_protocol_are_refused(tmp_path):
    run_experiment(counting(), out=tmp_path)
    with pytest.raises(ValueError, match="protocol 1, this is 2"):
        run_experiment(counting(protocol=2), out=tmp_path)


def test_a_file_that_is_no_database_is_named(tmp_path):
    folder = tmp_path / "counting-quick"
    folder.mkdir()
    (folder / FILE).write_text("no database" * 100)
    with pytest.raises(ValueError, match=rf"{FILE} cannot be used \(.*delete that file"):
        run_experiment(counting(), out=tmp_path)


def test_a_row_that_was_changed_is_run_again(tmp_path):
    runs = []

    def run(task):
        runs.append(task["x"])
        return [{"value": task["x"]}]

    run_experiment(counting(run), out=tmp_path)
    with closing(sqlite3.connect(tmp_path / "counting-quick" / FILE)) as database, database:
        change = "UPDATE outcomes SET outcome = replace(outcome, '2', '7')"
        database.execute(f"{change} WHERE key LIKE '%\"x\":2%'")
    assert collect(counting(), out=tmp_path).about["missing"] == 1
    results = run_experiment(counting(run), out=tmp_path)
    assert runs == [0, 1, 2, 3, 2]
    assert results.frame["value"].tolist() == [0, 1, 2, 3]


def test_the_file_of_an_earlier_version_is_refused(tmp_path):
    folder = tmp_path / "counting-quick"
    folder.mkdir()
    (folder / "tasks.jsonl").write_text("")
    with pytest.raises(ValueError, match=r"tasks\.jsonl has results of an earlier version"):
        run_experiment(counting(), out=tmp_path)


def test_a_kill_before_the_first_row_leaves_an_empty_store(tmp_path):
    (tmp_path / "counting-quick").mkdir()
    (tmp_path / "counting-quick" / FILE).touch()
    assert run_experiment(counting(), out=tmp_path).about["missing"] == 0


def test_results_are_read_while_another_process_adds(tmp_path):
    seen = []

    def run(task):
        seen.append(collect(counting(), out=tmp_path).about["missing"])
        return [{"value": task["x"]}]

    run_experiment(counting(run), out=tmp_path)
    assert seen == [4, 3, 2, 1]


def test_two_processes_do_not_share_a_folder(tmp_path):
    with Store(tmp_path / "counting-quick", 1).locked():
        with pytest.raises(RuntimeError, match="Another process"):
            run_experiment(counting(), out=tmp_path)


def test_unconverged_fits_are_counted_and_not_shown(tmp_path):
    def run(task):
        warnings.warn("gap", ConvergenceWarning, stacklevel=2)
        return [{"value": 1}]

    assert run_experiment(counting(run), out=tmp_path).about["unconverged"] == 4


def test_both_kinds_of_files_hold_the_records(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    results = run_experiment(counting(), out=tmp_path)
    for frame in (
        pandas.read_csv(results.folder / "results.csv"),
        pandas.read_parquet(results.folder / "results.parquet"),
    ):
        assert frame.to_dict("list") == results.frame.to_dict("list")


def test_an_unknown_preset_is_refused(tmp_path):
    with pytest.raises(ValueError, match="preset must be one of quick, full"):
        run_experiment(counting(), "slow", tmp_path)


@pytest.mark.parametrize("options", [{"repetitions": 0}, {"repetitions": 1.5}, {"jobs": 0}])
def test_numbers_that_make_no_sense_are_refused(options, tmp_path):
    ((name, value),) = options.items()
    with pytest.raises(ValueError, match=rf"{name} must be an integer >= 1.*got {value}"):
        run_experiment(counting(), out=tmp_path, **options)
    assert list(tmp_path.iterdir()) == []


def test_a_dask_client_gives_the_same(tmp_path):
    distributed = pytest.importorskip("distributed")
    with (
        warnings.catch_warnings(),
        distributed.Client(
            processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None
        ) as client,
    ):
        found = run_experiment(counting(), out=tmp_path / "dask", client=client)
    alone = run_experiment(counting(), out=tmp_path / "alone")
    assert found.frame.equals(alone.frame)


def test_the_runner_needs_no_dask():
    module = importlib.import_module("wdrsvm.experiments.running.runner")
    assert not hasattr(module, "distributed")


DEAF = """
import signal, sys
from wdrsvm.experiments import Experiment, run_experiment

def tasks(preset, repetitions):
    return [{"x": x} for x in range(4)]

def run(task):
    return [{"deaf": signal.getsignal(signal.SIGINT) is signal.SIG_IGN}]

def hear(number, frame):
    pass

signal.signal(signal.SIGINT, hear)
hearing = Experiment("hearing", "Hearing", 1, tasks, run, lambda frame: {})
found = run_experiment(hearing, out=sys.argv[1], jobs=2)
print(found.frame["deaf"].tolist(), signal.getsignal(signal.SIGINT) is hear)
"""


def test_only_the_process_that_runs_the_experiment_hears_an_interrupt(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(DEAF)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(script), str(tmp_path)]
    told = subprocess.run(command, env=environment, capture_output=True, check=True)
    assert told.stdout == b"[True, True, True, True] True\n"
