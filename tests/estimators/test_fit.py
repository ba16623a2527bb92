"""How RobustLinearSVC starts, reports and ends its solves."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

from wdrsvm import RadiusWarning, RobustLinearSVC
from wdrsvm.estimators import _base, _fit

X, y = load_iris(return_X_y=True)
X = scale(X)
NAMES = np.array(["setosa", "versicolor", "virginica"])


@pytest.fixture
def starts(monkeypatch):
    """Collects the starting points that solvers are given."""
    seen = []
    solve = _base.solve

    def spying_solve(problem, name, settings, start):
        seen.append(start)
        return solve(problem, name, settings, start)

    monkeypatch.setattr(_base, "solve", spying_solve)
    return seen


class TestSolving:
    def test_warm_start_finds_the_same_optimum(self):
        model = RobustLinearSVC(warm_start=True).fit(X, y)
        cold = model.objective_
        assert model.fit(X, y).objective_ == pytest.approx(cold, rel=1e-6)
        assert model.set_params(radius=0.06).fit(X, y).objective_ > cold

    def test_warm_start_from_data_of_another_shape(self):
        model = RobustLinearSVC(warm_start=True).fit(X, y)
        model.fit(X[:, :2], y)
        assert model.coef_.shape == (3, 2)
        assert model.fit(X, y > 0).coef_.shape == (1, 4)

    def test_warm_start_gives_the_solver_the_last_solution(self, starts):
        model = RobustLinearSVC(warm_start=True).fit(X, y > 0)
        coef, lam = model.coef_, model.lambda_
        model.fit(X, y > 0)
        assert starts[0] is None
        np.testing.assert_allclose(np.diff(starts[1].coef, axis=0), coef)
        assert starts[1].lam == lam

    def test_no_start_without_warm_start_or_for_other_classes(self, starts):
        RobustLinearSVC().fit(X, y).fit(X, y)
        RobustLinearSVC(warm_start=True).fit(X, y).fit(X, NAMES[y])
        assert starts == [None] * 4

    def test_verbose_prints_a_line_a_round(self, capsys):
        RobustLinearSVC(verbose=1).fit(X, y)
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) >= 2
        for word in ("iteration", "objective", "bound", "gap", " s"):
            assert all(word in line for line in lines)

    def test_silent_by_default(self, capsys):
        RobustLinearSVC().fit(X, y)
        assert capsys.readouterr() == ("", "")

    def test_too_few_iterations_is_a_convergence_warning(self):
        with pytest.warns(ConvergenceWarning, match=r"duality gap of .* Raise max_iter"):
            model = RobustLinearSVC(max_iter=2).fit(X, y)
        assert model.n_iter_ <= 2
        assert model.duality_gap_ > 1e-6

    def test_a_convergence_warning_points_at_the_call_of_fit(self):
        with pytest.warns(ConvergenceWarning) as caught:
            RobustLinearSVC(max_iter=2).fit(X, y)
        assert caught[0].filename == __file__

    def test_a_failed_fit_leaves_the_estimator_as_it_was(self):
        model = RobustLinearSVC().fit(pd.DataFrame(X, columns=list("abcd")), y)
        before = dict(vars(model))
        with pytest.raises(ValueError, match="sample_weight"):
            model.fit(X[:, :2], y, sample_weight=-np.ones(150))
        assert vars(model) == before

    def test_an_interrupted_fit_leaves_the_estimator_as_it_was(self, monkeypatch):
        def interrupt(*_):
            raise KeyboardInterrupt

        model = RobustLinearSVC().fit(X, y)
        before = dict(vars(model))
        monkeypatch.setattr(_base, "solve", interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X[:, :2], y > 0)
        assert vars(model) == before


class TestRadiusWarning:
    @pytest.mark.parametrize("label_cost", [2.0, np.inf])
    def test_names_the_radius_to_stay_below(self, label_cost):
        with pytest.warns(RadiusWarning, match=r"At radius=5 .* than a constant .* = \d"):
            RobustLinearSVC(5.0, label_cost).fit(X, y)

    def test_names_an_estimate_for_larger_data(self, monkeypatch):
        monkeypatch.setattr(_fit, "MAX_ENTRIES_FOR_RADIUS", 0)
        with pytest.warns(
            RadiusWarning, match=r"radius_max, about 0\.\d+ by a sample of 60 rows"
        ):
            RobustLinearSVC(5.0).fit(X, y)

    def test_a_classifier_on_untouchable_features_is_not_called_constant(self):
        cost = [1.0, 1.0, 1.0, np.inf]
        with pytest.warns(RadiusWarning, match="than one that ignores the features it can"):
            RobustLinearSVC(5.0, np.inf, feature_cost=cost).fit(X, y)

    def test_blames_a_label_cost_of_zero(self):
        with pytest.warns(RadiusWarning, match=r"Raise label_cost: wdrsvm.radius_max is 0"):
            RobustLinearSVC(label_cost=0.0).fit(X, y)

    def test_silent_without_an_adversary(self):
        RobustLinearSVC(0.0).fit(np.ones((6, 2)), [0, 1, 2] * 2)

    def test_silent_when_the_data_are_noise(self):
        rng = np.random.default_rng(0)
        noise = rng.normal(size=(200, 2))
        RobustLinearSVC().fit(noise, rng.integers(0, 3, 200))

    def test_silent_below_the_radius_it_names(self):
        with pytest.warns(RadiusWarning) as caught:
            RobustLinearSVC(5.0).fit(X, y)
        limit = float(str(caught[0].message).split("= ")[-1].rstrip("."))
        RobustLinearSVC(0.95 * limit).fit(X, y)
