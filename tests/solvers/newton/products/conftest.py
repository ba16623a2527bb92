"""Both ways to look for the length of a step, also on the few rows of tests."""

from dataclasses import replace

import pytest

from wdrsvm.solvers.newton.products import design
from wdrsvm.solvers.newton.products.settings import PRODUCTS


@pytest.fixture(params=[0, PRODUCTS.least_kept_scores], ids=["kept scores", "passes"])
def both_searches(request, monkeypatch):
    limits = replace(PRODUCTS, least_kept_scores=request.param)
    monkeypatch.setattr(design, "PRODUCTS", limits)
