"""Names become solvers, and a wrong name becomes one clear sentence."""

import os
import threading
import time
from types import SimpleNamespace

import pytest

from wdrsvm.solvers import SOLVERS, registry, solve

from .cases import rows_in_line


@pytest.mark.parametrize("name", SOLVERS)
def test_every_name_can_be_loaded(name):
    assert callable(SOLVERS[name].address.load())


@pytest.mark.parametrize("name", ["simplex", "", None, 1, ["auto"]])
def test_an_unknown_name_is_refused(name):
    with pytest.raises(ValueError, match="solver must be one of 'auto', 'interior-point'"):
        solve(rows_in_line(), name)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are of POSIX")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_waits_for_the_import_of_a_solver(monkeypatch):
    began, ended = threading.Event(), threading.Event()

    def slow_import(name, package):
        began.set()
        time.sleep(0.2)
        ended.set()
        return SimpleNamespace(solver=None)

    monkeypatch.setattr(registry, "import_module", slow_import)
    thread = threading.Thread(target=registry.Address("slow", "solver").load)
    thread.start()
    began.wait()
    child = os.fork()
    if not child:
        os._exit(0 if ended.is_set() else 1)
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
