"""Parts of the walk over radii and label costs, each against what it is made of."""

from itertools import product

import numpy as np
import pytest

from wdrsvm import WassersteinBall
from wdrsvm.problem import Certificate, RobustProblem
from wdrsvm.problem.certificate.radius_envelope import DualPoint, envelope
from wdrsvm.robustness.paths import plane
from wdrsvm.robustness.paths.plane import (
    _Candidate,
    _Column,
    _Envelopes,
    _Plane,
    solve_plane,
)
from wdrsvm.robustness.radius.radius_max import limit_classifier
from wdrsvm.solvers import SolverResult, SolverSettings, SolverStatus
from wdrsvm.solvers.neighbours import Neighbour

rng = np.random.default_rng(0)
Y = np.arange(9) % 3
X = rng.normal(size=(9, 2)) + 3.0 * np.eye(3)[Y][:, :2]
MATRIX = np.array([[0, 1, 2], [0.5, 0, 1], [2, 1, 0.0]])
COEF, INTERCEPT = rng.normal(size=(3, 2)), rng.normal(size=3)
# Better than a constant.
GOOD = np.array([[1.0, -0.5], [-0.5, 1.0], [-0.5, -0.5]])


def problem_of(**changes):
    ball = WassersteinBall(0.7, 5.0, **changes)
    return RobustProblem.of(X, Y, np.full(9, 1 / 9), ball, 3)


def place(problem):
    return problem.radius, problem.ball.label_cost


def column(cost, **changes):
    return _Column(problem_of(**changes), cost)


def result_of(coef=COEF, intercept=INTERCEPT, objective=1.0, bound=0.5, lam=0.1, dual=None):
    certificate = Certificate(objective, bound, lam)
    return SolverResult(
        coef,
        intercept,
        certificate,
        None,
        SolverStatus.CONVERGED,
        3,
        "told",
        dual_point=dual,
    )


class Told:
    """A chain that answers with given bounds, and remembers what it was asked."""

    def __init__(self, bound=0.0, lam=0.1, dual=None):
        self.bound, self.lam, self.dual = bound, lam, dual
        self.asked = []

    def solve(self, problem, neighbours):
        self.asked.append((problem, list(neighbours)))
        result = result_of(bound=self.bound, lam=self.lam, dual=self.dual)
        return Neighbour(problem, result)

    @property
    def points(self):
        return [
            (problem.radius, float(problem.label_cost[0, 1])) for problem, _ in self.asked
        ]


def plane_of(costs, radii=(0.2, 0.1), tol=1e-6, **told):
    columns = [column(cost) for cost in costs]
    return _Plane(list(radii), columns, Told(**told), tol)


def test_a_column_has_its_label_cost_at_every_radius():
    problem = column(3.0).at(0.25)
    assert place(problem) == (0.25, 3.0)
    assert problem.X is X
    assert column(3).scale == 3.0
    assert column(MATRIX).scale is None
    assert column(np.inf).limit.risk == limit_classifier(column(np.inf).at(1.0)).risk


@pytest.mark.parametrize(
    ("cost", "priced"), [(0.0, False), (1e-9, True), (2.0, True), (np.inf, False)]
)
def test_flips_are_priced_at_finite_positive_costs(cost, priced):
    assert column(cost).is_priced is priced
    assert not column(MATRIX).is_priced


@pytest.mark.parametrize("cost", [0.0, 0.3, 1.0, 2.5, np.inf, MATRIX], ids=str)
@pytest.mark.parametrize("radius", [0.0, 0.05, 1.0])
def test_a_candidates_risk_is_that_of_the_problem(cost, radius):
    unit = column(1.0).at(0.0)
    problem = column(cost).at(radius)
    expected = problem.risk(COEF, INTERCEPT)
    for known in (unit, None):
        found = _Candidate(result_of(), known).risk(problem, column(cost))
        assert found == pytest.approx(expected, rel=1e-12)


def test_a_candidate_looks_at_its_flips_once(monkeypatch):
    asked = []
    original = RobustProblem.flip_choices
    monkeypatch.setattr(
        RobustProblem,
        "flip_choices",
        lambda *args: asked.append(1) or original(*args),
    )
    candidate = _Candidate(result_of(), column(1.0).at(0.0))
    for cost in (0.3, 1.0, 2.0):
        candidate.risk(column(cost).at(0.1), column(cost))
    assert len(asked) == 1


COSTS = [0.0, 0.5, 1.0, 2.0, np.inf, MATRIX]
POINT = DualPoint(1.0, 0.25, 0.5)


def spending_by_hand(j, k, known):
    """Moves cost the same everywhere, flips in proportion to their price."""
    mine, other = COSTS[j], COSTS[k]
    if j == k:
        return 0.75
    if np.ndim(mine) or np.ndim(other) or mine == 0:
        return np.inf
    if known and mine < np.inf:
        return np.inf if other == np.inf else 0.25 + 0.5 * other / mine
    return 0.75 if other <= mine else np.inf


@pytest.mark.parametrize("known", [True, False])
def test_what_multipliers_spend_at_other_label_costs(known):
    envelopes = _Envelopes([column(cost) for cost in COSTS])
    for j, k in product(range(len(COSTS)), repeat=2):
        found = envelopes._spending(j, k, POINT, known)
        assert found == spending_by_hand(j, k, known), (j, k)
    twins = _Envelopes([column(2.0), column(2.0), column(np.inf), column(np.inf)])
    assert twins._spending(0, 1, POINT, known) == 0.75
    assert twins._spending(2, 3, POINT, known) == 0.75


def test_floors_are_envelopes_of_all_that_was_added():
    envelopes = _Envelopes([column(1.0), column(2.0)])
    assert envelopes.at(0, 0.3) == 0.0
    envelopes.add(0, 0.5, result_of(bound=0.4, dual=DualPoint(0.8, 0.5, 0.5)))
    envelopes.add(1, 0.2, result_of(bound=0.3))
    envelopes.add(0, 0.1, result_of(bound=-np.inf))
    envelopes.add(1, 0.1, result_of(bound=np.nan))
    values = np.array([0.8, 0.3])
    for radius in (0.0, 0.1, 0.4, 1.0, 3.0):
        by_first = envelope(np.array([1.0, 0.2]), values, radius)
        by_second = envelope(np.array([1.5, 0.2]), values, radius)
        assert envelopes.at(0, radius) == by_first
        assert envelopes.at(1, radius) == by_second


def test_multipliers_that_prove_less_than_the_bound_are_not_used():
    """The bound may come from elsewhere: then it is all that is known."""
    for value, kept in ((0.8, True), (0.8 * (1 - 1e-13), True), (0.79, False)):
        envelopes = _Envelopes([column(1.0)])
        envelopes.add(0, 0.5, result_of(bound=0.4, dual=DualPoint(value, 0.5, 0.5)))
        assert envelopes.values == [value if kept else 0.4]
        assert envelopes.spending[0].tolist() == [1.0 if kept else 0.5]


def test_columns_are_sorted_by_cost_and_matrices_stand_apart():
    found = plane_of([2.0, MATRIX, 0.5, np.inf])
    assert found.rising == [2, 0, 3]
    assert found.others == [1]
    assert found.shared
    assert place(found.unit) == (0.0, 1.0)
    assert found.unit.X is X
    assert plane_of([0.0, np.inf]).unit is None
    assert _Plane([0.1], [], Told(), 1e-6).solve() == {}
    boxed = [column(1.0, support=(-9.0, 9.0))]
    assert not _Plane([0.1], boxed, Told(), 1e-6).shared


def test_every_point_is_visited_in_its_order():
    """Radii descend; label costs rise; matrices come last."""
    found = plane_of([np.inf, MATRIX, 0.5], radii=(0.1, 0.4, 0.2))
    assert set(found.solve()) == set(product(range(3), range(3)))
    radii = [radius for radius, _ in found.chain.points]
    assert radii == sorted(radii, reverse=True)
    assert found.chain.points[:3] == [(0.4, 0.5), (0.4, np.inf), (0.4, 1.0)]


@pytest.mark.parametrize(("n_radii", "extra"), [(9, 0), (10, 1)])
def test_a_large_grid_begins_without_a_budget(n_radii, extra):
    radii = np.linspace(0.1, 0.2, n_radii)
    found = plane_of([0.5, 1.0, 2.0, 3.0, 4.0], radii=radii)
    begun = []
    found._solve = lambda *args: begun.append(args[1:]) or _Plane._solve(found, *args)
    assert plane.LARGE_GRID == 50
    found.solve()
    assert len(found.chain.asked) == 5 * n_radii + extra
    first, neighbours = found.chain.asked[0]
    assert (first.radius == 0) == bool(extra)
    if extra:
        assert first.ball.label_cost == 4.0
        assert neighbours == []
        assert begun[0] == (4, [])
        # A problem without a budget is no neighbour of others.
        assert found.chain.asked[1][1] == []


def test_neighbours_are_the_last_radius_and_the_last_label_cost():
    found = plane_of([0.5, 1.0, 2.0], radii=(0.2, 0.1, 0.0))
    found.solve()
    asked = [
        (point, {place(each.problem) for each in near})
        for point, (_, near) in zip(found.chain.points, found.chain.asked, strict=True)
    ]
    assert asked[0] == ((0.2, 0.5), set())
    # The largest label cost comes first: where no flip pays it answers for the others.
    assert asked[1] == ((0.2, 2.0), set())
    assert asked[2] == ((0.2, 1.0), {(0.2, 0.5)})
    assert asked[3] == ((0.1, 2.0), {(0.2, 1.0), (0.2, 2.0)})
    # The first label cost of a later radius: its own column, nothing to the left.
    assert asked[4] == ((0.1, 0.5), {(0.2, 0.5)})
    assert asked[5] == ((0.1, 1.0), {(0.1, 0.5), (0.2, 1.0)})
    # Without a budget a problem has no neighbours.
    assert [near for _, near in asked[6:]] == [set(), set(), set()]


@pytest.mark.parametrize(("lam", "radius", "near"), [(0.1, 0.2, 1), (0, 0.2, 0), (1, 0, 0)])
def test_only_points_with_a_price_and_a_budget_are_neighbours(lam, radius, near):
    found = plane_of([1.0], radii=(radius,), lam=lam)
    found.solve()
    assert len(found.near) == near
    assert len(found.candidates) == 1
    assert found.envelopes.values == [0.0]


def test_beyond_radius_max_the_constant_is_known_without_a_solve():
    dual = DualPoint(1.0, 0.1, 0.1)
    found = plane_of([0.5, 1.0], radii=(3.0, 2.0, 1.0), bound=1.0, lam=0.0, dual=dual)
    results = found.solve()
    assert found.chain.points == [(3.0, 0.5)]
    assert sorted(each.solver for each in results.values()) == ["path"] * 5 + ["told"]
    for (i, j), each in results.items():
        problem = found.columns[j].at(found.radii[i])
        risk = problem.risk(each.coef, each.intercept).value
        assert each.certificate.objective == pytest.approx(risk)


def known(found, radius, j=0, nearby=()):
    return found._known(found.columns[j].at(radius), j, list(nearby))


@pytest.mark.parametrize(("missing", "is_known"), [(0.5, True), (2.0, False)])
def test_the_limit_is_known_where_the_floor_is_within_the_gap(missing, is_known):
    found = plane_of([1.0], tol=1e-3)
    floor = 1.0 - missing * 1e-3
    found.envelopes.add(0, 0.1, result_of(bound=floor))
    reused = known(found, 0.1)
    assert (reused is not None) is is_known
    if is_known:
        assert reused.certificate == Certificate(1.0, floor, 0.0)
        assert not reused.coef.any()
        assert (reused.status, reused.n_iter) == (SolverStatus.CONVERGED, 0)
        assert reused.dual_point is None
    # Without a budget the constant is not what is asked for.
    found.envelopes.add(0, 0.1, result_of(bound=1.0, dual=DualPoint(1.0, 0.0, 0.0)))
    assert known(found, 0.0) is None
    assert known(found, 0.1) is not None


def test_gaps_of_just_what_is_allowed_are_allowed():
    found = plane_of([1.0], tol=0.5)
    found.envelopes.add(0, 0.1, result_of(bound=0.5))
    assert known(found, 0.1).certificate == (1.0, 0.5, 0.0)
    found = plane_of([1.0], tol=1.0)
    found.candidates = {0: _Candidate(result_of(GOOD, np.zeros(3)), found.unit)}
    assert known(found, 0.0).coef is GOOD


def test_a_candidate_is_known_where_its_risk_is_within_the_gap():
    found = plane_of([1.0, 2.0, 3.0], tol=1e-2)
    problem = found.columns[0].at(0.01)
    value, lam = problem.risk(GOOD, np.zeros(3))
    assert value < 0.9
    candidate = _Candidate(result_of(GOOD, np.zeros(3)), found.unit)
    for share, is_known in ((1 - 0.9e-2, True), (1 - 1.1e-2, False)):
        found.envelopes = _Envelopes(found.columns)
        found.envelopes.add(0, 0.01, result_of(bound=share * value))
        found.candidates = {1: candidate}
        assert known(found, 0.01) is None
        reused = known(found, 0.01, nearby=[1])
        # The classifier of the largest label cost is always looked at.
        found.candidates = {2: candidate}
        assert (known(found, 0.01) is not None) == is_known
        found.candidates = {0: candidate}
        own = known(found, 0.01)
        assert (reused is not None) == (own is not None) == is_known
        if is_known:
            assert reused.certificate == pytest.approx((value, share * value, lam))
            assert reused.coef is GOOD


def test_a_floor_above_the_risk_is_rounding_and_is_cut():
    found = plane_of([1.0])
    value = found.columns[0].at(0.01).risk(GOOD, np.zeros(3)).value
    found.candidates = {0: _Candidate(result_of(GOOD, np.zeros(3)), found.unit)}
    found.envelopes.add(0, 0.01, result_of(bound=value * (1 + 1e-9)))
    reused = known(found, 0.01)
    assert reused.certificate.dual_bound == reused.certificate.objective


@pytest.mark.parametrize(("value", "allowed"), [(2.0, 2e-3), (1e-2, 1e-5), (0.0, 1e-5)])
def test_gaps_are_relative_but_for_small_risks(value, allowed):
    assert plane_of([1.0], tol=1e-3)._allowed(value) == pytest.approx(allowed)


def test_what_is_found_is_not_looked_for_again():
    found = plane_of([1.0])
    assert not found._settle(0, 0, [])
    assert not found._settle(0, 0, [])
    assert len(found.chain.asked) == 1
    far = plane_of([1.0], bound=1.0)
    assert far._settle(0, 0, [])


EDGES = [
    # Up to where the constant is optimal, where the walk begins, where it ends.
    (3, 3, 3),
    (2, 3, 2),
    (1, 3, 1),
    (0, 3, 0),
    (-1, 3, -1),
    (1, 1, 1),
    (2, 1, 1),
    (1, 0, 0),
    (3, -1, -1),
]


@pytest.mark.parametrize(("edge", "begun", "ended"), EDGES)
def test_a_row_walks_down_to_the_last_constant(edge, begun, ended):
    """The dearest label cost first, for what proves it there proves the cheaper ones."""
    found = plane_of([0.5, 1.0, 2.0, 3.0], radii=(0.3,))
    asked = []
    found._settle = lambda i, j, nearby: asked.append((j, list(nearby))) or j <= edge
    assert found._rising_row(0, begun) == ended
    assert asked[-4:] == [(3, [2, 3]), (0, [0]), (1, [0, 1]), (2, [1, 2])]
    walk = asked[:-4]
    assert walk[:1] == ([(0, [0, 1])] if begun >= 0 else [])
    down = list(range(begun, max(edge, 1) - 1, -1)) or [begun]
    walked = down if begun > 0 and edge >= 0 else []
    assert [j for j, _ in walk[1:]] == walked
    for j, nearby in walk[1:]:
        assert nearby == [k for k in (j - 1, j, j + 1) if k < 4]


def test_a_row_of_one_label_cost_or_none():
    found = plane_of([0.5], radii=(0.3,))
    found._settle = lambda i, j, nearby: True
    assert found._rising_row(0, 0) == 0
    found.rising = []
    assert found._rising_row(0, -1) == -1


def test_rows_go_on_where_the_last_one_ended():
    found = plane_of([0.5, 1.0, 2.0], radii=(0.1, 0.3, 0.2))
    rows = []
    found._rising_row = lambda i, last: rows.append((i, last)) or last - 1
    found.solve()
    assert rows == [(1, 2), (2, 1), (0, 0)]


def test_constants_lean_and_others_do_not(monkeypatch):
    found = plane_of([1.0], tol=1e-3)
    leaning = []
    monkeypatch.setattr(plane, "break_ties", lambda *args: leaning.append(args) or "leaned")
    problem, of_cost = found.columns[0].at(0.2), found.columns[0]
    low, high = result_of(bound=0.5), result_of(bound=1.0)
    assert found._untied(problem, of_cost, low) is low
    assert found._untied(problem, of_cost, high) == "leaned"
    (given,) = leaning
    nominal = found._nominal.result
    risk = problem.risk(nominal.coef, nominal.intercept).value
    assert given[:2] == (problem, high)
    assert given[2] is of_cost.limit
    assert given[3] is nominal
    assert given[4] == 1e-3
    assert given[5] == pytest.approx(risk)


def test_boxes_share_nothing():
    columns = [column(1.0, support=(-9.0, 9.0))]
    found = _Plane([0.2, 0.1], columns, Told(bound=1.0), 1e-6)
    found._untied = lambda problem, column, result: result
    found.solve()
    assert len(found.chain.asked) == 2


def test_a_small_grid_is_solved_to_its_tolerance():
    radii, costs = [0.3, 0.05], [0.5, np.inf]
    found = solve_plane(problem_of(), radii, costs, settings=SolverSettings(tol=1e-4))
    for (i, j), result in found.items():
        problem = column(costs[j]).at(radii[i])
        risk = problem.risk(result.coef, result.intercept).value
        objective, bound, _ = result.certificate
        assert objective == pytest.approx(risk, rel=1e-9)
        assert 0 <= objective - bound <= 1.01e-4 * max(risk, 1e-2)
    assert solve_plane(problem_of(), radii, []) == {}


def test_the_chain_is_told_all(monkeypatch):
    told = []
    original = plane.chain_of
    monkeypatch.setattr(
        plane, "chain_of", lambda *args: told.append(args) or original(*args)
    )
    settings = SolverSettings(tol=1e-3)
    solve_plane(problem_of(), [0.1, 0.3], [2.0], "interior-point", settings, True)
    solve_plane(problem_of(), [0.1, 0.3], [2.0])
    middle, *given = told[0]
    assert place(middle) == (0.3, 2.0)
    assert given == ["interior-point", settings, True]
    assert told[1][1:] == ("auto", SolverSettings(), False)
