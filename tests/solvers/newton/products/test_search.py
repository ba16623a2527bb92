"""How far steps go."""

from dataclasses import replace

import numpy as np
import pytest

from wdrsvm.solvers.newton.products import search
from wdrsvm.solvers.newton.products.settings import PRODUCTS
from wdrsvm.solvers.newton.products.steps import Descent


@pytest.fixture
def kept(descent):
    """The same descent with kept scores."""
    design = replace(descent.design, keeps_scores=True)
    return Descent(design, descent.diameter, descent.radius, descent.coef)


def steepest(descent):
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


def test_without_kept_scores_the_first_fall_is_taken(descent):
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


def test_both_searches_lead_to_the_same_least_risk(kept, descent):
    for each in (kept, descent):
        for _ in range(60):
            each.step()
    assert kept.smooth_risk == pytest.approx(descent.smooth_risk, rel=1e-6)
    assert kept.n_iter == descent.n_iter


def kept_scores_are_those_of(descent, coef):
    problem = descent.design.problem_of_rows
    return all(
        np.allclose(descent.line.here[rows], coef @ problem.X[rows].T, rtol=1e-9)
        for rows in problem.blocks()
    )


def test_kept_scores_follow_every_step_and_jump(kept):
    kept.step()
    assert kept_scores_are_those_of(kept, kept.coef)
    assert kept.jump(kept.coef + steepest(kept)[0], kept.diameter, 0.0) is not None
    assert kept_scores_are_those_of(kept, kept.coef)
    before = kept.coef
    assert not kept.jump(before + 0.1 * kept.gradient, kept.diameter, promised=0.0)
    assert kept.coef is before
    assert kept_scores_are_those_of(kept, before)


def test_a_length_at_which_the_risk_has_risen_is_halved_at_least():
    low, steep = search.End(0.0, -1.0), search.End(1.0, 0.1, has_risen=True)
    assert search._between(low, steep) == 0.5
    assert search._between(low, steep._replace(has_risen=False)) == 1 - PRODUCTS.least_cut
    assert search._between(low, steep._replace(slope=3.0)) == 0.25
    assert search._between(search.End(0.4, -1.0), None) == 0.4 * PRODUCTS.longer


def test_a_level_risk_suffices_where_its_slope_is_smaller():
    risk, slope = 0.4, -1e-8
    level = 0.5 * PRODUCTS.risk_rounding * risk
    assert search._suffices(level, risk, 0.5e-8, slope, 1.0)
    assert not search._suffices(level, risk, 0.9e-8, slope, 1.0)
    assert not search._suffices(4 * level, risk, 0.0, slope, 1.0)
    assert search._suffices(2 * PRODUCTS.least_gain * slope, risk, 1.0, slope, 1.0)
