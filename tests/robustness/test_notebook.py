"""Results say in a line what they are, and in a notebook show what matters."""

import re

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.preprocessing import scale

import wdrsvm
from wdrsvm.robustness.notebook import LEFT, html_facts, html_result, html_table

X, y = load_iris(return_X_y=True)
X, y = scale(X)[::3], np.array(["<a>", "b", "c"])[y][::3]
BALL = wdrsvm.WassersteinBall(0.1)
MODEL = wdrsvm.RobustLinearSVC(0.1, 0.6).fit(X, y)
COSTS = [1.0, np.ones((3, 3)) - np.eye(3)]


def curve():
    return wdrsvm.error_curve(MODEL, X, y, BALL)


VOTES = ([0, 0, 1, 2], ["a", "b", "a", "b"], ["cat", "cat", "dog", "cat"])
RESULTS = {
    "WorstCaseDistribution": lambda: MODEL.worst_case_distribution(X, y),
    "ErrorCurve": curve,
    "ClassErrorCurves": lambda: curve().by_class,
    "LabelAudit": lambda: wdrsvm.audit_labels(X, y, n_splits=2, n_repeats=1),
    "RobustPath": lambda: wdrsvm.robust_path(X, y, [0.01, 0.1], COSTS),
    "Tradeoff": lambda: wdrsvm.tradeoff({"<m>": MODEL}, X, y, BALL),
    "ObservedRadius": lambda: wdrsvm.observed_radius(X[::2], X[1::2], n_splits=2),
    "LabelNoiseTest": lambda: wdrsvm.label_noise_test(X, y, n_draws=19),
    "VotedLabels": lambda: wdrsvm.trust_from_votes(*VOTES),
    "RadiusChoice": lambda: wdrsvm.RadiusChoice(0.5, np.array([0.1, 0.5]), np.ones(2)),
}

TABLES = {
    "WorstCaseDistribution": (
        "Atoms that the adversary changes, heaviest first",
        ["source", "kind", "weight", "label"],
    ),
    "ErrorCurve": ("Radius that allows it", ["share wrong", "radius"]),
    "ClassErrorCurves": (
        "Worst-case errors within each class",
        ["class", "share of the rows", "wrong now", "wrong at most", "radius"],
    ),
    "LabelAudit": ("Suspicious labels", ["row", "given", "suggested", "doubt"]),
    "RobustPath": ("Worst-case risks", ["radius", "label cost 1", "label cost matrix"]),
    "Tradeoff": (
        "Models that no other model beats in both errors, in a ball of radius 0.1",
        ["model", "wrong now", "wrong at most"],
    ),
    "ObservedRadius": ("Observed radius", ["radius", "noise floor", "drift"]),
    "LabelNoiseTest": (
        "Estimated probabilities of the given labels",
        ["true label", "given &lt;a&gt;", "given b", "given c"],
    ),
}


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_says_in_a_line_what_it_is(name):
    text = repr(RESULTS[name]())
    assert text.startswith(f"{name}(")
    assert "\n" not in text
    assert "array(" not in text
    assert len(text) < 250


def test_results_with_tables_are_these():
    with_html = {name for name in RESULTS if hasattr(getattr(wdrsvm, name), "_repr_html_")}
    assert with_html == TABLES.keys()


@pytest.mark.parametrize("name", TABLES)
def test_every_result_has_a_table_without_markup_of_values(name):
    html = RESULTS[name]()._repr_html_()
    caption, header = TABLES[name]
    assert f">{caption}</caption>" in html
    assert re.findall(r"<th [^>]*>([^<]*)</th>", html) == header
    assert html.startswith(("<div><p>", "<table>"))
    assert set(re.findall(r' style="([^"]*)"', html)) == {
        "text-align: left",
        "text-align: left; white-space: nowrap",
    }
    for value in ("<a>", "<m>"):
        assert value not in html
    assert html.count("<tr>") == html.count("</tr>")


def test_the_worst_case_says_its_masses():
    worst = MODEL.worst_case_distribution(X, y)
    mass = 100 * worst.weight[worst.kind == "flipped"].sum()
    assert f"{mass:.3g} % flipped" in repr(worst)
    assert f"risk {worst.risk:.4g} of at most {worst.supremum:.4g}" in repr(worst)
    heaviest = worst.weight[worst.kind != "kept"].max()
    assert f">{heaviest:.4g}</td>" in worst._repr_html_().partition("</tr><tr>")[0]


def test_a_curve_shows_the_radius_of_each_level():
    html = curve()._repr_html_()
    assert curve().sentence() in html
    for level in (0.05, 0.1, 0.2, 0.5):
        radius = f"{curve().budget_for(level):.4g}"
        assert f">{100 * level:g} %</td><td {LEFT}>{radius}</td>" in html


def test_the_audit_names_its_first_suspects():
    wrong = y.copy()
    wrong[0] = "c"
    audit = wdrsvm.audit_labels(X, wrong, n_splits=2, n_repeats=1)
    assert f"row {audit.row[0]} ({audit.given[0]}, perhaps {audit.suggested[0]})" in repr(
        audit
    )
    calm = wdrsvm.audit_labels(
        X, y, n_splits=2, n_repeats=1, label_trust=np.full(50, np.inf)
    )
    assert repr(calm) == "LabelAudit(50 labels, 0 suspicious)"


def test_a_path_shows_each_risk():
    path = wdrsvm.robust_path(X, y, [0.01, 0.1], COSTS)
    assert "label costs 1, matrix" in repr(path)
    for risk in path.objective.ravel():
        assert f">{risk:.4g}</td>" in path._repr_html_()
    machines = wdrsvm.one_vs_rest_path(X, y, [0.1], [2.0])
    assert f">{machines.objective.max():.4g}</td>" in machines._repr_html_()


def test_a_tradeoff_shows_measured_errors_rounded_and_promises_rounded_up():
    errors, worst = np.array([0.0133]), np.array([0.2001])
    found = wdrsvm.Tradeoff(["m"], errors, worst, np.array([0]), BALL)
    assert repr(found).endswith("'m': 1.3 % wrong, at most 20.1 %)")
    assert all(f">{each} %</td>" in found._repr_html_() for each in (1.3, 20.1))


def test_a_table_says_how_many_rows_it_leaves_out():
    assert "Rows, the first 1 of 3" in html_table("Rows", ["n"], [[1]], 3)
    assert ">Rows</caption>" in html_table("Rows", ["n"], [[1]], 1)
    assert ">Rows</caption>" in html_table("Rows", ["n"], [])


def test_nothing_stands_between_the_cells_and_lines_of_a_table():
    html = html_table("Rows", ["n", "m"], [[1, 2], [3, 4]])
    html += html_facts("Facts", {"a": 1, "b": 2}) + html_result(
        "Told", "<i></i>", "<b></b>"
    )
    between = re.findall(r">([^<]*)<", html)
    told = ["Rows", "n", "m", "1", "2", "3", "4", "Facts", "a", "1", "b", "2", "Told"]
    assert [each for each in between if each] == told


@pytest.mark.parametrize("n_rows", [1, 2, 3])
def test_a_table_says_when_a_single_row_is_left_out(n_rows):
    html = html_table("Sizes", ["name"], [["a"], ["b"]], n_rows)
    assert (f"Sizes, the first 2 of {n_rows}<" in html) == (n_rows > 2)


def test_a_worst_case_says_how_many_atoms_it_leaves_out():
    n = 12
    worst = wdrsvm.WorstCaseDistribution(
        X=np.zeros((n, 1)),
        y=np.zeros(n, dtype=int),
        weight=np.arange(1.0, n + 1),
        source=np.arange(n),
        kind=np.array(["kept", *["moved"] * (n - 1)]),
        transport_cost=0.1,
        risk=0.5,
        supremum=0.5,
        feature_names=["x0"],
    )
    html = worst._repr_html_()
    assert "heaviest first, the first 10 of 11</caption>" in html
    cells = re.findall(r"<td [^>]*>([^<]*)</td>", html)
    assert cells[:4] == ["11", "moved", "12", "0"]
    assert repr(worst).startswith("WorstCaseDistribution(12 atoms of 12 rows: ")
