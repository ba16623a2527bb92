"""What all displays have in common: they are told apart without colour, on any ground."""

from itertools import combinations

import numpy as np
import pytest

from wdrsvm.plotting import PathDisplay, SearchDisplay, _style

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")

# Linear RGB as seen without cones for green (Machado, Oliveira and Fernandes, 2009).
WITHOUT_GREEN_CONES = np.array(
    [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ]
)


def linear(colour):
    rgb = np.array(matplotlib.colors.to_rgb(colour))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def contrast(first, second):
    """Ratio of luminances, as the guidelines for accessible pages define it."""
    light = sorted(linear(each) @ [0.2126, 0.7152, 0.0722] for each in (first, second))
    return (light[1] + 0.05) / (light[0] + 0.05)


def test_the_first_colours_are_seen_on_white_and_on_black():
    for colour in _style.COLOURS[:4]:
        assert min(contrast(colour, "white"), contrast(colour, "black")) >= 3


def test_colours_differ_without_green_cones():
    seen = [WITHOUT_GREEN_CONES @ linear(colour) for colour in _style.COLOURS[:4]]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 0.1


def test_lines_differ_in_more_than_colour():
    looks = [_style.line_style(k, {}) for k in range(35)]
    pairs = {(look["color"], look["linestyle"]) for look in looks}
    assert len(pairs) == 35
    assert len({look["linestyle"] for look in looks[:5]}) == 5


def test_what_is_given_wins_by_any_of_its_names():
    look = _style.line_style(0, {"c": "red", "lw": 3}, marker="o")
    assert look == {"color": "red", "linestyle": "-", "linewidth": 3, "marker": "o"}


def test_ink_is_the_colour_of_text():
    with matplotlib.pyplot.style.context("dark_background"):
        _, dark = matplotlib.pyplot.subplots()
    _, light = matplotlib.pyplot.subplots()
    assert matplotlib.colors.to_hex(_style.ink(dark)) == "#ffffff"
    assert matplotlib.colors.to_hex(_style.ink(light)) == "#000000"


def test_lines_of_displays_differ_in_more_than_colour(search, path):
    for ax in (
        SearchDisplay.from_search(search).ax_,
        PathDisplay(path).plot_objective().ax_,
    ):
        first, second = ax.lines[:2]
        assert first.get_linestyle() != second.get_linestyle()
        assert first.get_marker() != second.get_marker()
