"""What tests and doctests share."""

import sys

import pytest


@pytest.fixture(autouse=True)
def _pictures_are_closed():
    """pyplot keeps its figures, and warns of more than twenty."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")
