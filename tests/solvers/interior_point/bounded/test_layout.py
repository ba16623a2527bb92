"""The program by pairs: its constraints are those of the worst case."""

import numpy as np
import pytest

from wdrsvm.solvers import solve
from wdrsvm.solvers.interior_point.bounded.evaluation import BoundedEvaluation

from ...mixed_cases import mixed_problem, table_with_categories

L1_SEEDS = [seed for seed in range(12) if mixed_problem(seed).ball.norm == "l1"]


def layout_of(problem):
    evaluation = BoundedEvaluation.of(problem.without_idle_rows())
    return evaluation, evaluation.layout()


@pytest.mark.parametrize("seed", L1_SEEDS)
def test_the_least_own_variables_give_the_gains_of_the_worst_case(seed):
    """Losses of the program at its least own variables, against moves row by row."""
    evaluation, layout = layout_of(mixed_problem(seed))
    problem, rng = evaluation.normalised, np.random.default_rng(seed)
    coef = rng.normal(size=(problem.n_classes, layout.n_shared))
    plain = coef[:, : problem.n_features]
    lam = problem.moves.least_lam(plain) + 0.1
    own = layout.own_inside(coef, lam, 0.0)
    losses = layout.local(coef, lam, own) @ layout.design(problem.moves.rows).T
    for k, (j, c) in enumerate(zip(layout.winner, layout.label, strict=True)):
        slope = plain[j] - plain[c]
        expected = problem.moves.rows @ slope + problem.moves.gain(slope, lam)
        expected += (coef[j] - coef[c])[problem.n_features :].sum()
        np.testing.assert_allclose(losses[k], expected, atol=1e-9)


@pytest.mark.parametrize("seed", L1_SEEDS)
@pytest.mark.parametrize("slack", [1e-6, 0.1])
def test_own_variables_with_a_slack_are_inside_the_sides_of_categories(seed, slack):
    evaluation, layout = layout_of(mixed_problem(seed))
    problem, rng = evaluation.normalised, np.random.default_rng(seed)
    coef = rng.normal(size=(problem.n_classes, layout.n_shared))
    lam = problem.moves.least_lam(coef[:, : problem.n_features]) + 0.1
    local = layout.local(coef, lam * (1 + slack), layout.own_inside(coef, lam, slack))
    n_sides = 2 * sum(len(group.columns) for group in layout.groups)
    of_categories = layout.sides[len(layout.sides) - n_sides :]
    assert (local @ of_categories.T < 0).all()
    assert (local[:, layout.columns["lam"].start :] > 0).all()


def test_there_are_two_constraints_for_each_category():
    sizes = [layout_of(table_with_categories(30, k))[1].sides.shape[0] for k in (5, 25)]
    # The sign of its switch, leaving and entering.
    assert sizes[1] - sizes[0] == 3 * 20


def test_what_leaves_categories_enters_others():
    layout = layout_of(table_with_categories(30, 4))[1]
    mult = np.random.default_rng(0).exponential(size=(layout.n_pairs, len(layout.sides)))
    (switched,) = layout.switch_multipliers(mult)
    assert (np.einsum("kaa->ka", switched) == 0).all()
    leaving, entering = mult[:, -8:-4], mult[:, -4:]
    share = entering / entering.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(switched.sum(axis=2), leaving * (1 - share))


def test_hundreds_of_categories_are_solved():
    problem = table_with_categories(150, 120)
    one, other = (solve(problem, name) for name in ("interior-point", "newton"))
    assert one.certificate.holds(1e-6)
    assert other.certificate.holds(1e-6)
    assert one.n_iter < 60
    assert one.certificate.objective == pytest.approx(other.certificate.objective, rel=2e-6)
