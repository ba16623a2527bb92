"""How far steps go."""

from dataclasses import replace

import numpy as np
import pytest

from wdrsvm.solvers.newton.products import search
from wdrsvm.solvers.newton.products.settings import PRODUCTS
from wdrsvm.solvers.newton.products.steps import Descent

from .test_steps import descent  # noqa: F401


@pytest.fixture
def kept(descent):  # noqa: F811
    """The same descent with kept scores."""
    design = replace(descent.design, keeps_scores=True)
    return Descent(design, descent.diameter, descent.radius, descent.coef)


def steepest(descent):  # noqa: F811
    """A direction and its slope; much too long, or much too short."""
    step = -descent.precondition(descent.gradient)
    return step, float(np.vdot(descent.gradient, step))


@pytest.mark.parametrize("scale", [0.3, 1.0, 30.0])
def test_along_kept_scores_the_slope_becomes_small(kept, scale):
    step, slope = steepest(kept)
    place = search.along_line(kept.line, kept, scale * step, scale * slope)
    after = kept.gradient_of(place.smoothed, place.sums)
    assert abs(np.vdot(after, step)) <= 1.001 * PRODUCTS.flat * -slope
    assert kept.smooth_risk_of(place.smoothed, place.sums) < kept.smooth_risk


def test_without_kept_scores_the_first_fall_is_taken(descent):  # noqa: F811
    step, slope = steepest(descent)
    place = search.backtrack(descent, 0.05 * step, 0.05 * slope)
    np.testing.assert_array_equal(place.coef, descent.coef + 0.05 * step)
    place = search.backtrack(descent, 30 * step, 30 * slope)
    assert descent.smooth_risk_of(place.smoothed, place.sums) < descent.smooth_risk


def test_no_place_where_the_risk_rises_at_once(kept):
    step, slope = steepest(kept)
    before = kept.line.here.flat.copy()
    assert search.along_line(kept.line, kept, -step, slope) is None
    np.testing.assert_array_equal(kept.line.here.flat, before)


def test_both_searches_lead_to_the_same_least_risk(kept, descent):  # noqa: F811
    for each in (kept, descent):
        for _ in range(60):
            each.step()
    assert kept.smooth_risk == pytest.approx(descent.smooth_risk, rel=1e-6)
    assert kept.n_iter == descent.n_iter
