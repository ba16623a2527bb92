"""The benchmarks stay alive: every family runs, tiny, and writes what it measured."""

import importlib
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from wdrsvm.experiments.claims import worst_case

ROOT = Path(__file__).parents[1]
# Read from the folder, so that a family that is not registered is missed.
FAMILIES = [
    path.stem.partition("_")[0]
    for path in sorted((ROOT / "benchmarks" / "families").glob("b*_*.py"))
]
# Algorithm 1 stops after a number of steps, wherever it is.
WITHOUT_A_GAP = {"b7"}

pytestmark = pytest.mark.skipif(
    not (ROOT / "benchmarks").is_dir(), reason="benchmarks are not part of a source package"
)


@pytest.fixture
def main(monkeypatch, tmp_path):
    """The entry point of ``python -m benchmarks``, writing to ``tmp_path``."""
    monkeypatch.syspath_prepend(ROOT)
    report = importlib.import_module("benchmarks.report")
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    return importlib.import_module("benchmarks.__main__").main


def refuse(constant):
    raise AssertionError(f"{constant} is not JSON")


def read_results(path):
    return json.loads(path.read_text(), parse_constant=refuse)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_family_runs_tiny(family, main, tmp_path, capsys):
    assert main([family, "--tiny"]) == 0
    content = read_results(tmp_path / f"{family}-tiny.json")
    assert content["family"] == family
    assert content["options"]["tiny"]
    assert len(content["records"]) > 0
    reached = [record["reached"] for record in content["records"]]
    assert all(reached) or family in WITHOUT_A_GAP
    assert content["title"] in capsys.readouterr().out


@pytest.mark.slow
def test_a_peer_out_of_time_gives_a_lower_bound(main, tmp_path):
    assert main(["b3", "--tiny", "--time-limit", "1e-9"]) == 0
    (record,) = read_results(tmp_path / "b3-tiny.json")["records"]
    assert record["lower_bound"]
    assert record["peer"] == 1e-9


@pytest.fixture
def peers(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module("benchmarks.peers")


@pytest.mark.parametrize(
    ("reached", "expected"), [(True, [100.0, 10.5, 10.5]), (False, [100.0, 100.0, 100.0])]
)
def test_a_peer_slower_than_one_that_arrived_is_stopped(
    peers, monkeypatch, reached, expected
):
    given = []

    def time_peer(name, problem, program, tol, bound, options):
        given.append(options.time_limit)
        return peers.Timing(3.0, 1.0, 1.0, reached, not reached, 7.0 + len(given) - 1)

    ours = peers.Timing(0.1, 1.0, 1.0, True)
    monkeypatch.setattr(peers, "time_ours", lambda *arguments: ours)
    monkeypatch.setattr(peers, "time_peer", time_peer)
    problem = SimpleNamespace(ball=SimpleNamespace(norm="l1"))
    options = peers.Options(time_limit=100.0, processor=True)
    peers.versus(problem, list(peers.PEERS), "compact", 1e-5, options)
    assert given == expected


@pytest.mark.parametrize(("processor", "expected"), [(True, 3.0), (False, 9.0)])
def test_times_are_those_of_the_clock_that_is_asked_for(
    peers, monkeypatch, processor, expected
):
    found = SimpleNamespace(seconds=9.0, processor_seconds=3.0, limited=False)
    found.coef = found.intercept = found.multipliers = None
    monkeypatch.setitem(peers.PEERS, "clarabel", lambda *arguments: found)
    monkeypatch.setattr(peers, "judge", lambda *arguments: (1.0, 1.0))
    options = peers.Options(processor=processor)
    timing = peers.time_peer("clarabel", None, "paper", 1e-6, 0.0, options)
    assert (timing.seconds, timing.on_the_wall) == (expected, 9.0)
    measure = importlib.import_module("benchmarks.measure")
    asleep = measure.median_seconds(lambda: time.sleep(0.1), 1, options.clock)
    assert (asleep < 0.1) == processor


def test_growth_is_fitted_and_drawn(main, tmp_path):
    pytest.importorskip("matplotlib")
    growth = importlib.import_module("benchmarks.families.b8_growth")
    options = importlib.import_module("benchmarks.family").Options(tiny=True)
    measured = {"tiny": True, "reached": True, "data_mb": 8.0, "memory_mb": 2.0}
    records = [
        case._asdict()
        | measured
        | dict.fromkeys(("seconds", "cpu_seconds"), case.N**0.5 * case.P**2)
        for case in growth.cases(options)
    ]
    summary = growth.summarise(records)
    found = [summary[f"exponent_{name}"] for name in "NPC"]
    assert found == pytest.approx([0.5, 2.0, 0.0], abs=1e-9)
    assert (tmp_path / summary["plot"]).read_bytes().startswith(b"\x89PNG")


def test_missing_data_are_a_reason_to_skip(main, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("WDRSVM_DATA", str(tmp_path))
    assert main(["b4"]) == 0
    assert "skipped: there is no" in capsys.readouterr().out
    assert read_results(tmp_path / "b4.json")["records"] == []


def test_unknown_family_is_a_clear_error():
    command = [sys.executable, "-m", "benchmarks", "b0"]
    found = subprocess.run(
        command, cwd=ROOT, env=os.environ, capture_output=True, text=True, check=False
    )
    assert found.returncode == 2
    assert "unknown family 'b0'; there are b1, b2, b3" in found.stderr
    assert "Traceback" not in found.stderr


@pytest.mark.skipif("WDRSVM_DATA" not in os.environ, reason="needs WDRSVM_DATA")
def test_the_study_of_worst_case_errors_runs_tiny(monkeypatch, capsys, tmp_path):
    monkeypatch.syspath_prepend(ROOT)
    study = importlib.import_module("benchmarks.studies.worst_case_error.study")
    monkeypatch.setattr(worst_case, "RADII", {"l2": (0.01, 0.03, 0.1)})
    monkeypatch.setattr(worst_case, "STRENGTHS", (0.01, 1.0))
    given = ["--tiny", "--csv", str(tmp_path / "found.csv"), "--out", str(tmp_path)]
    found = study.main(given)
    assert {each.table for each in found} == {"contraceptive", "acsf1"}
    assert len(found) == 2 * 3 * 6
    for each in found:
        assert 0 <= each.plain <= each.worst_case <= 1
    assert "reached" in (tmp_path / "worst-case-verdicts.csv").read_text()
    assert "mean" in capsys.readouterr().out
    # What is done is not done again.
    monkeypatch.setattr(study, "judged", None)
    assert len(study.main(given)) == len(found)


def test_verdicts_on_worst_case_errors_are_paired(monkeypatch):
    """Differences are taken table by table; the ramp is not among the others."""
    monkeypatch.syspath_prepend(ROOT)
    report = importlib.import_module("benchmarks.studies.worst_case_error.report")
    study = importlib.import_module("benchmarks.studies.worst_case_error.study")

    def judged(worst, plain):
        """Ramp, LogisticRegression and one more on two tables; in points."""
        return [
            study.Judged(table, 0, "l2", 0.1, method, 0.5 + w / 100, 0.3 + p / 100, 1.0)
            for table, shift in (("one", 0.0), ("two", 20.0))
            for method, w, p in (
                (report.RAMP, shift + worst, shift + plain + shift / 10),
                (report.TUNED, shift, shift),
                ("convex, accuracy", shift + 5, shift - 3),
            )
        ]

    verdict = report.judge(judged(0.4, -5.0))
    assert verdict.best == report.TUNED
    assert verdict.above_best == pytest.approx((0.4, 0.0))
    assert verdict.below_logistic == pytest.approx((4.0, 1.0))
    assert verdict.withstands
    assert verdict.is_accurate
    failed = report.judge(judged(0.6, -3.9), ("l2", 0.1))
    assert not failed.withstands
    assert not failed.is_accurate
    assert report.verdicts(judged(0.4, -3.9))[1] == [
        "all",
        "0.4 (0.0)",
        "yes",
        *("2.9 (1.0)", "failed"),
    ]


def test_the_study_of_sets_keeps_its_promises(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(ROOT)
    study = importlib.import_module("benchmarks.studies.sets.study")
    monkeypatch.setattr(study, "SOURCES", ["3 classes, far"])
    monkeypatch.setattr(study, "RADII", (0.0, 0.05))
    lines = study.main(["--calibrations", "20", "--csv", str(tmp_path / "sets.csv")])
    assert len(lines) == 5
    assert all(line[5] == "yes" for line in lines[1:] if line[1] != "0")


@pytest.fixture
def soak(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module("benchmarks.soak")


def test_the_soak_notices_growing_memory_and_wrong_results(soak):
    flat = soak.Phase("flat", memory=[100, 200, 201, 200, 202, 200, 201, 200])
    assert flat.is_good
    assert not soak.Phase("leak", memory=[100, 200, 210, 220, 230, 240, 250, 260]).is_good
    assert not soak.Phase("wrong", memory=[1], wrong=["l1"]).is_good


@pytest.mark.parametrize(
    ("nanny", "process", "expected"),
    [
        ("running", "running", True),
        ("starting", "starting", False),
        ("running", "starting", False),
        ("running", None, False),
    ],
)
def test_the_soak_kills_workers_that_have_started(soak, nanny, process, expected):
    """Dask does not replace a worker that dies while it starts: the fit would wait."""

    def with_status(name, **more):
        return SimpleNamespace(status=SimpleNamespace(name=name), **more)

    inner = None if process is None else with_status(process)
    assert soak._is_up(with_status(nanny, process=inner)) == expected


@pytest.mark.slow
@pytest.mark.parametrize("forgets", [True, False])
def test_the_soak_can_make_dask_forget_what_it_computed(soak, forgets):
    """Dask keeps a span of each computation for ever, which is no leak of this package."""
    lazy_arrays = pytest.importorskip("dask.array")
    pytest.importorskip("distributed")
    told = (soak.FORGETFUL, {"extensions": soak._without_spans()}) if forgets else ({}, {})
    with soak._two_workers(*told) as cluster, cluster.get_client():
        for n in range(3):
            assert lazy_arrays.full(10, n, chunks=5).sum().compute() == 10 * n
        assert bool(cluster.scheduler.extensions["spans"].spans) != forgets


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
def test_the_soak_compares_every_task_with_its_result_alone(soak, monkeypatch):
    answers = {"right": iter(lambda: 1, 0), "wrong": iter(range(10**9))}
    monkeypatch.setattr(
        soak, "WORK", {name: partial(next, it) for name, it in answers.items()}
    )
    with ThreadPoolExecutor(2) as pool:
        phase = soak.in_pool("two", pool, 2, {"right": 1, "wrong": 0}, 0.2)
    assert phase.n_tasks > 10
    assert set(phase.wrong) == {"wrong"}
    assert not phase.record()["good"]
