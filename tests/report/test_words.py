"""Counts and shares in plain English."""

import pytest

from wdrsvm.report.words import counted, share


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 cells are"), (1, "1 cell is"), (2, "2 cells are")]
)
def test_one_is_singular(number, said):
    assert counted(number, "cell is", "cells are") == said


def test_shares_have_one_decimal():
    assert [share(part) for part in (0.0, 0.0406, 1.0)] == ["0 %", "4.1 %", "100 %"]
