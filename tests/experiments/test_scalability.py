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
