"""Curves of convergence."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

from wdrsvm import RobustLinearSVC, RobustSVC
from wdrsvm.plotting import ConvergenceDisplay
from wdrsvm.solvers import Progress

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")

X, y = load_iris(return_X_y=True)
X = scale(X)
HISTORY = [
    Progress(1, 2.0, -np.inf, 0.1),
    Progress(2, 1.0, 0.5, 0.2),
    Progress(4, 0.8, 0.7, 0.4),
]


def test_gaps_are_to_the_best_bound_in_units_of_the_tolerance():
    line = ConvergenceDisplay(HISTORY).plot().line_
    assert line.get_xdata() == pytest.approx([1, 2, 4])
    assert line.get_ydata() == pytest.approx(np.array([1.3, 0.3, 0.1]) / 0.8)
    known = ConvergenceDisplay(HISTORY, bound=0.75).plot(against="seconds").line_
    assert known.get_xdata() == pytest.approx([0.1, 0.2, 0.4])
    assert known.get_ydata()[-1] == pytest.approx(0.05 / 0.8)


def test_objective_and_bound_are_two_lines_of_one_colour():
    ax = ConvergenceDisplay(HISTORY, name="a").plot(metric="objective").ax_
    ConvergenceDisplay(HISTORY, name="b").plot(metric="objective", ax=ax)
    above, below, second, _ = ax.lines
    assert above.get_ydata() == pytest.approx([2.0, 1.0, 0.8])
    assert below.get_ydata() == pytest.approx([np.nan, 0.5, 0.7], nan_ok=True)
    assert above.get_color() == below.get_color() != second.get_color()
    assert above.get_linestyle() != below.get_linestyle()


def test_the_last_gap_is_what_the_fit_promises():
    estimator = RobustLinearSVC(0.1, solver="interior-point", tol=1e-7)
    display = ConvergenceDisplay.from_estimator(estimator, X, y)
    assert not hasattr(estimator, "n_features_in_")
    fitted = estimator.fit(X, y)
    gaps = display.line_.get_ydata()
    assert np.nanmin(gaps) <= 1e-7
    assert display.history[-1].objective == pytest.approx(fitted.objective_, abs=1e-6)
    assert display.ax_.get_legend().get_texts()[0].get_text() == "interior-point"


def test_pipelines_and_kernels_are_watched_in_their_last_step():
    pipeline = make_pipeline(StandardScaler(), RobustSVC(0.05, tol=1e-4)).fit(X, y)
    display = ConvergenceDisplay.from_estimator(pipeline, X, y, color="red")
    assert display.line_.get_color() == "red"
    assert len(display.history) >= 1


@pytest.mark.parametrize("argument", ["metric", "against"])
def test_unknown_axes_are_an_error(argument):
    with pytest.raises(ValueError, match=f"{argument} must be one of"):
        ConvergenceDisplay(HISTORY).plot(**{argument: "pie"})


def test_what_has_no_gap_says_so():
    with pytest.raises(ValueError, match="give bound"):
        ConvergenceDisplay(HISTORY[:1]).plot()
    with pytest.raises(ValueError, match="at least one record"):
        ConvergenceDisplay([])
