"""How a robust classifier starts, reports and ends its solves, on numbers of every type."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from wdrsvm import RobustLinearSVC
from wdrsvm.estimators.fitting import steps as _fit
from wdrsvm.rows import blocks, canonical

from .cases import IRIS, SPECIES

NAMES = np.array(["setosa", "versicolor", "virginica"])


@pytest.fixture
def starts(monkeypatch):
    """Collects the starting points that solvers are given."""
    seen = []
    solve = _fit.solve

    def spying_solve(problem, name, settings, start, of_kernel):
        seen.append(start)
        return solve(problem, name, settings, start, of_kernel)

    monkeypatch.setattr(_fit, "solve", spying_solve)
    return seen


class TestSolving:
    def test_warm_start_finds_the_same_optimum(self):
        model = RobustLinearSVC(warm_start=True).fit(IRIS, SPECIES)
        cold = model.objective_
        assert model.fit(IRIS, SPECIES).objective_ == pytest.approx(cold, rel=1e-6)
        assert model.set_params(radius=0.06).fit(IRIS, SPECIES).objective_ > cold

    def test_warm_start_from_data_of_another_shape(self):
        model = RobustLinearSVC(warm_start=True).fit(IRIS, SPECIES)
        model.fit(IRIS[:, :2], SPECIES)
        assert model.coef_.shape == (3, 2)
        assert model.fit(IRIS, SPECIES > 0).coef_.shape == (1, 4)

    def test_warm_start_gives_the_solver_the_last_solution(self, starts):
        model = RobustLinearSVC(warm_start=True).fit(IRIS, SPECIES > 0)
        coef, lam = model.coef_, model.lambda_
        model.fit(IRIS, SPECIES > 0)
        assert starts[0] is None
        np.testing.assert_allclose(np.diff(starts[1].coef, axis=0), coef)
        assert starts[1].lam == lam

    def test_no_start_without_warm_start_or_for_other_classes(self, starts):
        RobustLinearSVC().fit(IRIS, SPECIES).fit(IRIS, SPECIES)
        RobustLinearSVC(warm_start=True).fit(IRIS, SPECIES).fit(IRIS, NAMES[SPECIES])
        assert starts == [None] * 4

    def test_verbose_prints_a_line_a_round(self, capsys):
        RobustLinearSVC(verbose=1).fit(IRIS, SPECIES)
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) >= 2
        for word in ("iteration", "objective", "bound", "gap", " s"):
            assert all(word in line for line in lines)

    def test_silent_by_default(self, capsys):
        RobustLinearSVC().fit(IRIS, SPECIES)
        assert capsys.readouterr() == ("", "")

    def test_too_few_iterations_is_a_convergence_warning(self):
        with pytest.warns(ConvergenceWarning, match=r"duality gap of .* Raise max_iter"):
            model = RobustLinearSVC(max_iter=2).fit(IRIS, SPECIES)
        assert model.n_iter_ <= 2
        assert model.duality_gap_ > 1e-6

    def test_a_convergence_warning_points_at_the_call_of_fit(self):
        with pytest.warns(ConvergenceWarning) as caught:
            RobustLinearSVC(max_iter=2).fit(IRIS, SPECIES)
        assert caught[0].filename == __file__

    def test_a_failed_fit_leaves_the_estimator_as_it_was(self):
        model = RobustLinearSVC().fit(pd.DataFrame(IRIS, columns=list("abcd")), SPECIES)
        before = dict(vars(model))
        with pytest.raises(ValueError, match="sample_weight"):
            model.fit(IRIS[:, :2], SPECIES, sample_weight=-np.ones(150))
        assert vars(model) == before

    def test_an_interrupted_fit_leaves_the_estimator_as_it_was(self, monkeypatch):
        def interrupt(*_):
            raise KeyboardInterrupt

        model = RobustLinearSVC().fit(IRIS, SPECIES)
        before = dict(vars(model))
        monkeypatch.setattr(_fit, "solve", interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.fit(IRIS[:, :2], SPECIES > 0)
        assert vars(model) == before


NARROW = [np.float32, np.int8, np.uint8, np.int64]


SOLVERS = ["interior-point", "newton", "first-order", "subgradient", "stochastic"]


def rows(n_rows=700):
    """Whole numbers, so that every type holds them."""
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % 3
    X = 40 + 20 * np.eye(3, 5)[y] + 15 * rng.normal(size=(n_rows, 5))
    return np.clip(np.rint(X), 0, 127), y


@pytest.fixture
def large(monkeypatch):
    """Makes all data count as large, of several blocks."""
    monkeypatch.setattr(canonical, "MAX_ENTRIES", 0)
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 1000)


def fitted(X, y, solver="auto"):
    return RobustLinearSVC(1.0, 20.0, solver=solver, tol=1e-2).fit(X, y)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, *NARROW])
def test_large_data_are_read_where_they_are(dtype, order, large, tmp_path):
    X, y = rows()
    np.save(tmp_path / "X.npy", np.asarray(X, dtype=dtype, order=order))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    kept = RobustLinearSVC()._training_data(mapped, y, None, None).rows.X
    assert np.shares_memory(kept, mapped)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_number_types_change_nothing(solver, large):
    X, y = rows()
    expected = fitted(X, y, solver)
    for each in (X.astype(dtype) for dtype in NARROW):
        found = fitted(each, y, solver)
        np.testing.assert_array_equal(found.coef_, expected.coef_)
        assert found.objective_ == expected.objective_
        np.testing.assert_allclose(
            found.decision_function(each), found.decision_function(X)
        )


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_layout_changes_no_more_than_the_gap_allows(solver, large):
    X, y = rows()
    expected = fitted(X, y, solver)
    found = fitted(np.asfortranarray(X, dtype=np.float32), y, solver)
    assert found.dual_bound_ <= expected.objective_
    assert expected.dual_bound_ <= found.objective_


@pytest.mark.parametrize("order", ["C", "F"])
def test_small_data_have_one_form(order):
    X, y = rows(200)
    expected = fitted(X, y)
    found = fitted(np.asarray(X, dtype=np.float32, order=order), y)
    np.testing.assert_array_equal(found.coef_, expected.coef_)


@pytest.mark.parametrize("dtype", [np.float32, np.int8])
def test_sparse_data_of_narrow_numbers(dtype):
    X, y = rows(200)
    expected = fitted(sparse.csr_array(X), y)
    found = fitted(sparse.csr_array(X.astype(dtype)), y)
    np.testing.assert_array_equal(found.coef_, expected.coef_)


def test_scores_are_those_of_all_rows_at_once(large):
    X, y = rows()
    model = fitted(X, y)
    expected = X @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(X.astype(np.float32)), expected)
    np.testing.assert_allclose(model.decision_function(sparse.csr_array(X)), expected)
