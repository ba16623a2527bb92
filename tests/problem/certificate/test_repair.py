"""The repair of multipliers: sums over all rows, and equalities that hold afterwards."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from wdrsvm import WassersteinBall
from wdrsvm.problem import Multipliers, RobustProblem
from wdrsvm.problem.certificate import repair
from wdrsvm.problem.certificate.equalities import Equalities
from wdrsvm.problem.certificate.joint import JointRows
from wdrsvm.problem.certificate.multipliers import RowMultipliers, one_by_one
from wdrsvm.problem.certificate.repair import Repair, repaired
from wdrsvm.problem.certificate.settings import CERTIFICATE
from wdrsvm.problem.certificate.smooth import RowTangents, Tangents
from wdrsvm.problem.certificate.trusted import TrustedTangents
from wdrsvm.problem.certificate.trusted_masses import RowMasses
from wdrsvm.problem.loss import Loss

from ...agreement.instances import random_problem
from ...rows.chunked import chunked


def two_rows():
    ball = WassersteinBall(0.1)
    return RobustProblem.of(np.eye(2)[:, :1], np.arange(2), np.full(2, 0.5), ball, 2)


@pytest.mark.parametrize("seed", range(4))
def test_sums_are_those_of_every_row(seed):
    """Restored and tilted twice, then added up: value, spending, G, sums on columns."""
    problem = random_problem(seed)
    rng = np.random.default_rng(seed)
    masses = Multipliers(*rng.exponential(size=(3, problem.n_rows, problem.n_classes)))
    equalities = Equalities.of(problem, np.arange(problem.n_features) % 2 == 0)
    tilts = [0.1 * rng.normal(size=equalities.aim.shape) for _ in range(2)]
    found = Repair(problem, masses, equalities, 0.5, tilts=tuple(tilts))._summed(True, True)
    every = slice(0, problem.n_rows)
    cost = problem.attainable_flip_cost()
    part = masses.rows(problem, every).restored(problem.weight, problem.y, cost, 0.5)
    columns = equalities.rows(problem, every)
    for each in tilts:
        part = part.tilted(columns @ each.T)
    slopes = part.slopes(problem.y)
    totals = found.totals
    assert totals.value == pytest.approx(part.value(problem.weight, problem.y))
    assert found.on_flips == pytest.approx(part.spending(cost))
    np.testing.assert_allclose(totals.gradient, slopes.T @ problem.X, atol=1e-12)
    np.testing.assert_allclose(found.on_columns, slopes.T @ columns, atol=1e-12)
    sizes = sum(np.abs(np.outer(g, e)) for g, e in zip(slopes, columns, strict=True))
    np.testing.assert_allclose(totals.sizes, sizes, atol=1e-12)
    np.testing.assert_allclose(found.system, part.curvature(columns), atol=1e-12)
    bare = Repair(problem, masses, equalities, 0.5, tilts=tuple(tilts))._summed(
        False, False
    )
    assert bare.system is None
    assert bare.totals is None


@pytest.mark.parametrize(("more", "waits"), [(0, False), (1, True)])
def test_totals_of_many_features_wait_where_rows_are_in_memory(more, waits, monkeypatch):
    """On a cluster a second pass over the rows costs more than the totals.

    Rows that are kept need no second pass: their totals wait in any case.
    """
    n_features = CERTIFICATE.few_features + more
    problem = RobustProblem.of(
        np.zeros((4, n_features)),
        np.arange(4) % 2,
        np.full(4, 0.25),
        WassersteinBall(0.1),
        2,
    )
    equalities = Equalities.of(problem, np.zeros(n_features, dtype=bool))
    masses = Multipliers(*np.full((3, 4, 2), 0.1))
    assert Repair(problem, masses, equalities)._totals_wait
    monkeypatch.setattr(repair, "CERTIFICATE", replace(CERTIFICATE, max_kept_entries=0))
    assert Repair(problem, masses, equalities)._totals_wait is waits
    assert Repair(chunked(problem), masses, equalities)._totals_wait is False


@pytest.mark.parametrize("solver", ["dense", "products"])
def test_balanced_sums_vanish_where_they_must(solver):
    rng = np.random.default_rng(0)
    problem = random_problem(3)
    problem = replace(problem, fit_intercept=True).with_radius(0.1)
    masses = Multipliers(*rng.exponential(size=(3, problem.n_rows, problem.n_classes)))
    found = repaired(problem, masses, solver)
    fixed = np.isinf(problem.feature_cost)
    np.testing.assert_allclose(found.totals.gradient[:, fixed], 0.0, atol=1e-10)
    np.testing.assert_allclose(found.sums.on_columns, 0.0, atol=1e-12)
    without = Multipliers(np.array([[0.0, 0.5], [0.0, 0.5]]), *np.zeros((2, 2, 2)))
    one_class = two_rows().with_rows(y=np.zeros(2, int))
    # Only loosened masses can go back to the label that all rows have.
    assert repaired(one_class, without, solver).totals.value == pytest.approx(0, abs=1e-8)


def wide(n_features=80):
    """Many features that cannot be moved, in a sparse X."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((300, n_features + 20), density=0.2, rng=rng, format="csr")
    cost = np.ones(n_features + 20)
    cost[:n_features] = np.inf
    y, weight = np.arange(300) % 3, np.full(300, 1 / 300)
    problem = RobustProblem.of(
        X, y, weight, WassersteinBall(0.1, 0.5, feature_cost=cost), 3
    )
    return problem, Multipliers(*rng.uniform(0.8, 1.0, size=(3, 300, 3)))


def test_both_linear_solves_repair_many_columns_alike():
    problem, masses = wide()
    dense, products = (repaired(problem, masses, how) for how in ("dense", "products"))
    assert dense.totals.value == pytest.approx(products.totals.value, rel=1e-6)
    for found in (dense, products):
        slopes = found.rows().slopes(problem.y)
        np.testing.assert_allclose(problem.X[:, :80].T @ slopes, 0.0, atol=1e-12)
        gradient = found.totals.gradient
        np.testing.assert_allclose(gradient, (problem.X.T @ slopes).T, atol=1e-13)


def test_rows_that_are_not_kept_give_the_same_sums(monkeypatch):
    problem, masses = wide(8)
    kept = repaired(problem, masses)
    monkeypatch.setattr(repair, "CERTIFICATE", replace(CERTIFICATE, max_kept_entries=0))
    repeated = repaired(problem, masses)
    assert kept._kept is not None
    assert repeated._kept is None
    assert kept.sums.totals is None
    assert repeated.sums.totals is not None
    for one, other in zip(kept.totals, repeated.totals, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    assert kept.sums.on_flips == pytest.approx(repeated.sums.on_flips)
    np.testing.assert_allclose(kept.sums.on_columns, repeated.sums.on_columns, atol=1e-12)


def test_rows_are_kept_up_to_the_largest_number_of_entries(monkeypatch):
    """Three multipliers for each class and the columns of the strict equalities."""
    problem, masses = wide(8)
    equalities = Equalities.of(problem, np.isinf(problem.feature_cost))
    most = 300 * (3 * 3 + len(equalities.strict))
    for entries, is_kept in ((most, True), (most - 1, False)):
        settings = replace(CERTIFICATE, max_kept_entries=entries)
        monkeypatch.setattr(repair, "CERTIFICATE", settings)
        assert (Repair(problem, masses, equalities)._kept is not None) == is_kept


@pytest.mark.parametrize("solver", ["dense", "products"])
def test_tilts_are_solved_for_as_they_are_asked_to_be(solver, monkeypatch):
    used = set()

    def noted(name):
        solve = getattr(repair, name)
        return lambda *given: used.add(name) or solve(*given)

    for name in ("solve_dense", "solve_by_products"):
        monkeypatch.setattr(repair, name, noted(name))
    problem, masses = wide(8)
    assert repaired(problem, masses, solver).is_feasible
    assert used == {{"dense": "solve_dense", "products": "solve_by_products"}[solver]}


@pytest.mark.parametrize("solver", ["dense", "products"])
def test_a_system_that_is_solved_densely_is_summed_at_once_for_many_rows(
    solver, monkeypatch
):
    problem, masses = wide(8)
    equalities = Equalities.of(problem, np.isinf(problem.feature_cost))
    for few_rows, many in ((299, True), (300, False)):
        settings = replace(CERTIFICATE, few_rows=few_rows)
        monkeypatch.setattr(repair, "CERTIFICATE", settings)
        sums = Repair(problem, masses, equalities, solver=solver).sums
        assert (sums.system is not None) == (many and solver == "dense")


def test_a_tilt_that_did_nearly_all_lends_its_system_to_the_next_one(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X, weight = rng.normal(size=(90, 2)), np.full(90, 1 / 90)
    loss = Loss(1.0, 0.0)
    problem = RobustProblem.of(X, y, weight, WassersteinBall(0.1), 3, loss=loss)
    source = Tangents(loss, 0.3 * rng.normal(size=(90, 3)), weight[:, None] * np.eye(3)[y])
    summed, counts, values = Repair._summed, [], []

    def counted(self, with_system, with_totals):
        counts[-1] += with_system
        return summed(self, with_system, with_totals)

    monkeypatch.setattr(Repair, "_summed", counted)
    for quick in (0.0, CERTIFICATE.quick):
        settings = replace(CERTIFICATE, quick=quick)
        monkeypatch.setattr(repair, "CERTIFICATE", settings)
        counts.append(0)
        found = repaired(problem, source)
        assert found.is_feasible
        values.append(found.totals.value)
    assert 0 < counts[1] < counts[0]
    assert values[0] == pytest.approx(values[1], rel=1e-12)


@pytest.mark.parametrize("kind", ["pieces", "joint", "smooth"])
def test_a_response_is_what_the_curvature_says_of_one_row(kind):
    rng = np.random.default_rng(3)
    masses, y = RowMultipliers(*rng.exponential(size=(3, 4, 3))), np.array([0, 2, 1, 0])
    masses = masses.restored(np.full(4, 0.25), y, np.where(np.eye(3)[y], np.inf, 1.0), 1.0)
    smooth = RowTangents(Loss(0.5, 1.0), rng.normal(size=(4, 3)), masses.alpha)
    rows = {"pieces": masses, "joint": JointRows(masses, y), "smooth": smooth}[kind]
    columns, tilt = rng.normal(size=(4, 2)), rng.normal(size=(3, 2))
    expected = np.einsum("idje,je->id", rows.curvature(columns), tilt)
    np.testing.assert_allclose(rows.response(columns @ tilt.T).T @ columns, expected)


@pytest.mark.parametrize("kind", ["pieces", "trusted", "joint", "smooth", "tangents"])
def test_the_own_response_is_that_to_a_pull_on_one_class(kind):
    rng = np.random.default_rng(3)
    masses, y = RowMultipliers(*rng.exponential(size=(3, 4, 3))), np.array([0, 2, 1, 0])
    weight, points = np.full(4, 0.25), rng.normal(size=(4, 3))
    masses = masses.restored(weight, y, np.where(np.eye(3)[y], np.inf, 1.0), 1.0)
    rows = {
        "pieces": masses,
        "trusted": RowMasses(masses.alpha),
        "joint": JointRows(masses, y),
        "smooth": RowTangents(Loss(0.5, 1.0), points, masses.alpha),
        "tangents": TrustedTangents.at(Loss(0.5, 1.0), points, y, weight),
    }[kind]
    found = one_by_one(rows, (4, 3))
    assert (found > 0).all()
    np.testing.assert_allclose(rows.own_response(), found, atol=1e-12)


def test_products_have_the_diagonal_of_their_system():
    problem, masses = wide(5)
    equalities = Equalities.of(problem, np.isinf(problem.feature_cost))
    product, diagonal = Repair(problem, masses, equalities)._products
    for place in np.ndindex(diagonal.shape):
        unit = np.zeros(diagonal.shape)
        unit[place] = 1.0
        assert product(unit)[place] == pytest.approx(diagonal[place])


def test_all_flips_are_kept_unless_a_share_is_asked_for():
    problem, masses = wide(5)
    equalities = Equalities.of(problem, np.isinf(problem.feature_cost))
    whole = Repair(problem, masses, equalities).sums.on_flips
    assert whole == Repair(problem, masses, equalities, 1.0).sums.on_flips
    assert Repair(problem, masses, equalities, 0.25).sums.on_flips < 0.5 * whole
