"""An interrupt that compiled code wraps is unwrapped, and nothing else is."""

import pytest

from wdrsvm.solvers.registry import Address
from wdrsvm.solvers.solve import solve

from ..cases import rows_in_line


def solve_raising(error, cause, monkeypatch):
    def solver(problem, settings, start):
        raise error from cause

    monkeypatch.setattr(Address, "load", lambda _: solver)
    solve(rows_in_line())


def wrapped(cause, times):
    """The error that compiled functions which call each other make of it."""
    for _ in range(times):
        error = SystemError()
        error.__cause__ = cause
        cause = error
    return cause


@pytest.mark.parametrize("times", [0, 1, 5])
def test_a_wrapped_interrupt_comes_out_plain(times, monkeypatch):
    with pytest.raises(KeyboardInterrupt) as caught:
        solve_raising(SystemError(), wrapped(KeyboardInterrupt(), times), monkeypatch)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("cause", [None, ValueError()])
def test_other_errors_stay_what_they_are(cause, monkeypatch):
    with pytest.raises(SystemError) as caught:
        solve_raising(SystemError(), cause, monkeypatch)
    assert caught.value.__cause__ is cause
