"""Malformed files and arguments: one sentence, no traceback, no hang, nothing elsewhere.

``make fuzz`` runs thousands: the environment variable WDRSVM_FUZZ is their number,
WDRSVM_FUZZ_FIRST leaves out as many that an earlier run has seen, and WDRSVM_FUZZ_SEED
makes them others.
"""

import os
import tempfile

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("skops")
pytest.importorskip("typer")
if os.name != "posix":
    pytest.skip("the time limit is a POSIX signal", allow_module_level=True)

from .cases import FAMILIES, Sandbox, complaints
from .watch import watched

N_INPUTS = int(os.environ.get("WDRSVM_FUZZ", "300"))
N_SEEN = int(os.environ.get("WDRSVM_FUZZ_FIRST", "0"))
SEED = int(os.environ.get("WDRSVM_FUZZ_SEED", "0"))
SHARES = {"tables": 0.5, "models": 0.25, "arguments": 0.1, "stores": 0.1, "caches": 0.05}


@pytest.fixture(scope="module")
def box(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzz") / "box"
    home, temporary = folder / "home", folder / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        patch.setenv("XDG_CACHE_HOME", str(home))
        patch.setattr(tempfile, "tempdir", str(temporary))
        yield Sandbox(folder)


# Parts of this many inputs, so that processes can share them.
PART = 500


def parts(n_seen=N_SEEN, n_inputs=N_INPUTS):
    """The next inputs of every family, after those of a run with ``n_seen`` inputs."""
    for family in FAMILIES:
        start, end = (round(SHARES[family] * n) for n in (n_seen, n_seen + n_inputs))
        for first in range(start, end, PART):
            yield family, range(first, min(first + PART, end))


@pytest.mark.parametrize(("family", "numbers"), list(parts()), ids=str)
def test_malformed_inputs(box, family, numbers):
    found = [each for number in numbers for each in complaints(box, family, number, SEED)]
    assert not found, f"{len(found)} complaints, the first: " + "\n".join(found[:5])


@pytest.mark.parametrize("n_seen", [0, 300, 1234])
def test_two_runs_share_no_input_and_leave_none_out(n_seen):
    def inputs(*given):
        return [(family, number) for family, numbers in parts(*given) for number in numbers]

    both = inputs(0, n_seen) + inputs(n_seen, 10_000)
    assert sorted(both) == sorted(inputs(0, n_seen + 10_000))


class TestTheWatchSees:
    """Otherwise the tests above prove less than they say."""

    def test_files(self, tmp_path):
        inside, outside = tmp_path / "inside", tmp_path / "outside"
        inside.mkdir()
        with watched(inside) as watch:
            (inside / "file").write_text("allowed")
            assert watch.deeds == []
            outside.write_text("not allowed")
            os.rename(outside, tmp_path / "elsewhere")
        assert [deed[0] for deed in watch.deeds] == ["open", "os.rename", "os.rename"]

    def test_processes_and_pickles(self, tmp_path):
        import pickle
        import subprocess

        with watched(tmp_path) as watch:
            subprocess.run(["true"], check=True)
            pickle.loads(pickle.dumps(os.getcwd))
        assert {"subprocess.Popen", "pickle.find_class"} <= {
            deed[0] for deed in watch.deeds
        }
