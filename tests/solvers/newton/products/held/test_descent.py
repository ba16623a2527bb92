"""When steps know how much the norm holds each coefficient."""

from dataclasses import replace

import pytest

from wdrsvm.solvers.newton.products.held.descent import knows_entries
from wdrsvm.solvers.newton.products.settings import PRODUCTS

from ..test_loop import blobs

SETTINGS = "wdrsvm.solvers.newton.products.held.descent.PRODUCTS"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, True),
        ({"n_rows": 1200}, False),
        ({"n_features": 60}, False),
        ({"n_features": 60, "ball": {"norm": "linf"}}, True),
        ({"ball": {"label_cost": 2.0}}, False),
    ],
    ids=str,
)
def test_it_is_used_for_many_rows_of_few_columns(monkeypatch, options, expected):
    least = 2000 * 20 * 8
    monkeypatch.setattr(SETTINGS, replace(PRODUCTS, least_work=least, most_columns=2))
    problem = blobs(**({"n_rows": 2000, "n_classes": 20} | options))
    assert knows_entries(problem, problem.n_features) is expected
    monkeypatch.setattr(SETTINGS, replace(PRODUCTS, least_work=8 * least, most_columns=2))
    assert not knows_entries(problem, problem.n_features)
