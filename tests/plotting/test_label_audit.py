"""The display of an audit."""

import sys

import numpy as np
import pytest

from wdrsvm import LabelAudit
from wdrsvm.plotting import LabelAuditDisplay

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")


def small_audit():
    return LabelAudit(
        row=np.array([4, 0, 2]),
        given=np.array(["ash", "birch", "ash"]),
        suggested=np.array(["birch", "ash", "birch"]),
        gain=np.array([3.0, 1.0, -np.inf]),
        margin=np.array([-1.0, 0.5, 1.0]),
        exposure=np.array([0.1, 0.2, 0.0]),
        wrong_probability=np.array([0.9, 0.3, 0.1]),
        n_suspects=1,
        wrong_share=0.4,
        wrong_share_interval=(0.1, 0.7),
    )


def test_bars_are_the_gains_of_the_first_labels():
    display = LabelAuditDisplay.from_audit(small_audit(), n_labels=2)
    assert [bar.get_width() for bar in display.ax_.patches] == [3.0, 1.0]
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert names == ["row 4: ash, or birch?", "row 0: birch, or ash?"]


def test_arguments_go_to_the_bars():
    bars = LabelAuditDisplay.from_audit(small_audit(), n_labels=2, height=0.5).ax_.patches
    assert [bar.get_height() for bar in bars] == [0.5, 0.5]


def test_it_draws_on_the_axes_it_is_given():
    _, ax = matplotlib.pyplot.subplots()
    display = LabelAuditDisplay(small_audit()).plot(n_labels=1, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"wdrsvm\[plot\]"):
        LabelAuditDisplay.from_audit(small_audit())
