"""What tests and doctests share."""

import os
import sys
from collections import Counter

import pytest

# As they were before any test: a dask cluster of processes changes them, for good.
THREAD_LIMITS = {
    name: os.environ.get(name)
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
}


def pytest_addoption(parser):
    parser.addoption(
        "--counted-variants",
        type=int,
        default=sys.maxsize,
        help="with --cov, count lines only in so many variants of each test",
    )


def pytest_collection_modifyitems(config, items):
    """All variants run.  To count the lines of later ones takes time and finds few more."""
    most, seen = config.getoption("--counted-variants"), Counter()
    for item in items:
        function = item.nodeid.partition("[")[0]
        seen[function] += 1
        if seen[function] > most:
            item.add_marker("no_cover")


@pytest.fixture(autouse=True)
def _thread_limits_are_the_users(monkeypatch):
    """Tests of threads do not depend on the tests before them."""
    for name, limit in THREAD_LIMITS.items():
        if limit is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, limit)


@pytest.fixture(autouse=True)
def _pictures_are_closed():
    """pyplot keeps its figures, and warns of more than twenty."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")
