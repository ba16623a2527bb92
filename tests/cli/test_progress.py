"""Commands show what they do, and for how long."""

import io
import time
from functools import partial
from types import SimpleNamespace

from rich.console import Console

from wdrsvm.cli import progress
from wdrsvm.cli.progress import Clock, fold_bar


def test_a_log_gets_a_line_from_time_to_time():
    log = io.StringIO()
    with Clock("Reporting", Console(file=log), seconds_between=0.02) as clock:
        clock.tell("Worst case")
        until = time.monotonic() + 20
        while log.getvalue().count("\n") < 2 and time.monotonic() < until:
            time.sleep(0.01)
    lines = log.getvalue().splitlines()
    assert lines[0] == "Reporting: Worst case, 0 seconds so far"
    assert len(lines) >= 2
    told = log.getvalue()
    time.sleep(0.1)
    assert log.getvalue() == told


def test_short_commands_print_nothing_to_a_log():
    log = io.StringIO()
    with Clock("Reporting", Console(file=log)) as clock:
        clock.tell("Worst case")
    assert log.getvalue() == ""


def test_a_terminal_shows_step_and_time():
    screen = io.StringIO()
    with Clock("Reporting", Console(file=screen, force_terminal=True)) as clock:
        clock.tell("Worst case")
        clock.bar.refresh()
    assert "Reporting: Worst case ..." in screen.getvalue()
    assert "0:00:00" in screen.getvalue()


def test_a_log_hears_of_folds_that_take_long(capsys, monkeypatch):
    monkeypatch.setattr(progress, "Clock", partial(Clock, seconds_between=0.02))
    told, until = "", time.monotonic() + 20
    with fold_bar(SimpleNamespace()):
        while not told and time.monotonic() < until:
            time.sleep(0.02)
            told = capsys.readouterr().err
    assert told.splitlines()[0] == "Cross-validation: at work, 0 seconds so far"
