"""A descent, and both ways to look for the length of a step on the few rows of tests."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from wdrsvm.solvers.newton.products import design
from wdrsvm.solvers.newton.products.design import Design, in_columns
from wdrsvm.solvers.newton.products.diameter import PairDiameter
from wdrsvm.solvers.newton.products.settings import PRODUCTS
from wdrsvm.solvers.newton.products.steps import Descent
from wdrsvm.solvers.scaling import Scaling

from .test_loop import blobs


@pytest.fixture(params=[0, PRODUCTS.least_kept_scores], ids=["kept scores", "passes"])
def both_searches(request, monkeypatch):
    limits = replace(PRODUCTS, least_kept_scores=request.param)
    monkeypatch.setattr(design, "PRODUCTS", limits)


@pytest.fixture
def descent():
    problem = blobs(n_rows=200, n_features=6, n_classes=5)
    scaling = Scaling.of(problem)
    prepared = problem.by_chunks(partial(in_columns, scaling, np.float64))
    with prepared.reduction() as reduction:
        coef = np.random.default_rng(0).normal(size=(5, scaling.n_columns))
        diameter = PairDiameter.of(5, scaling.n_touchable)
        yield Descent(Design(scaling, reduction), diameter, 0.05, 0.1 * coef)
