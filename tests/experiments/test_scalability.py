"""Solvers are timed, and peers agree."""

import pytest

from wdrsvm.experiments import scalability


@pytest.mark.parametrize("kind", ["linear", "kernel"])
def test_solvers_are_timed_and_peers_agree(kind):
    pytest.importorskip("highspy")
    pytest.importorskip("clarabel")
    task = {"kind": kind, "model": "WDR", "radius": 1e-2, "N": 24, "P": 3, "C": 3}
    records = scalability.run(task | {"peers": True, "repetition": 0})
    assert [each["solver"] for each in records] == ["ours", *scalability.PEERS[kind]]
    assert all(each["seconds"] > 0 for each in records)
    assert all(each["gap"] < 1e-4 for each in records)
    (alone,) = scalability.run(task | {"peers": False, "repetition": 0})
    assert alone["solver"] == "ours"


@pytest.mark.parametrize("kind", ["linear", "kernel"])
def test_peers_run_at_both_radii(kind):
    chosen = [task for task in scalability.tasks("full", None) if task["kind"] == kind]
    with_peers = [task for task in chosen if task["peers"]]
    assert {task["radius"] for task in with_peers} == set(scalability.RADII)
    n_cases = len({(task["N"], task["P"], task["C"]) for task in chosen}) * 4
    assert len(with_peers) == scalability.PEER_REPETITIONS[kind] * n_cases
