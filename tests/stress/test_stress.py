"""A small part of ``make stress``: what was hard once stays solved, what is said holds."""

import importlib
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(
    not (ROOT / "benchmarks").is_dir(), reason="benchmarks are not part of a source package"
)
pytest.importorskip("highspy")
pytest.importorskip("clarabel")

# Each of these failed once, or stands for a family.
INTERIOR_POINT = [
    ("units", "l1-1e12-ball-not"),
    ("units", "l2-1e-12"),
    ("column units", "linf-1e12-intercept"),
    ("column units", "l1-1e12-no-intercept"),
    ("offsets", "l2-1e9"),
    ("collinear columns", "l2-1e-14-intercept"),
    ("repeated rows, columns", "linf-contradictions"),
    ("constant columns", "l1-zeros-intercept"),
    ("ties", "l1-near-margin"),
    ("few rows", "l2-one-row"),
    ("few rows", "linf-5-classes"),
    ("many classes", "l2-empty-trusted"),
    ("one feature", "l1-2-no-intercept"),
    ("wide", "l2-2000-1e-06"),
    ("radii", "linf-1e-12"),
    ("label costs", "l2-1e-12"),
    ("label cost matrices", "l1-1e12"),
    ("weights", "linf-1e12"),
    ("label trust", "l2-1e6"),
    ("feature costs", "linf-1e12"),
    ("kernels", "triangle-1e-06-tiny-radius"),
    ("boxes", "0-2-1e-06"),
    ("ends of the numbers", "l1-1e15"),
    ("ends of the numbers", "linf-subnormal"),
    ("medleys", "25"),
]
OTHERS = [
    ("newton", "column units", "l2-1e12-intercept"),
    ("newton", "smooth losses", "l2-0.0001"),
    ("newton", "medleys", "1"),
    ("first-order", "constant columns", "l2-columns-no-intercept"),
    ("subgradient", "units", "l1-1e12"),
    ("stochastic", "weights", "l2-1e12"),
]
ESTIMATORS = [
    ("offsets", "l2-1e12"),
    ("weights", "l1-zeros"),
    ("label cost matrices", "linf-free"),
    ("kernels", "exact-1e-06-tiny-radius"),
    ("smooth losses", "linf-logistic-0.1-columns"),
    ("boxes", "1-inf-0.05"),
    ("medleys", "3"),
    ("boxes of other scales", "1000-50-2"),
    ("hundreds of classes", "l2-inf-100-rows"),
    ("very wide", "l1-inf"),
    ("shared inputs", "l2-2"),
    ("shared inputs", "l1-inf-processes"),
]


@pytest.fixture
def stress(monkeypatch):
    """The modules of the suite."""
    monkeypatch.syspath_prepend(ROOT)
    names = ("families", "run", "judge", "contestants", "report", "files", "__main__")
    modules = {name: importlib.import_module(f"benchmarks.stress.{name}") for name in names}
    return modules


def attempted(stress, contestant, family, name):
    instance = {i.name: i for i in stress["families"].instances(family)}[name]
    record = stress["run"].attempt(instance, contestant)
    return stress["run"].verdicts([record])[0]


@pytest.mark.parametrize(("family", "name"), INTERIOR_POINT)
def test_interior_points_are_found(stress, family, name):
    verdict = attempted(stress, "interior-point", family, name)
    assert verdict.honest, verdict
    assert verdict.solved, verdict


@pytest.mark.parametrize(("contestant", "family", "name"), OTHERS)
def test_other_solvers_end_honestly(stress, contestant, family, name):
    assert attempted(stress, contestant, family, name).honest


@pytest.mark.parametrize(("family", "name"), ESTIMATORS)
def test_estimators_end_honestly(stress, family, name):
    assert attempted(stress, "auto", family, name).honest


def test_steep_kernel_functions_are_told(stress):
    """Dual coefficients of 1e12 leave no digits: the gap asked for is not claimed."""
    verdict = attempted(stress, "auto", "kernels", "exact-1e-06-tiny-radius")
    assert not verdict.record.answer.claims


def test_the_judge_counts_as_the_library_does(stress):
    """Two ways to one number, wherever double precision is enough for it."""
    for family in ("label cost matrices", "label trust", "boxes", "smooth losses"):
        instance = stress["families"].instances(family)[0]
        problem = instance.problem()
        rng = np.random.default_rng(0)
        coef = rng.normal(size=(problem.n_classes, problem.n_features))
        intercept = rng.normal(size=problem.n_classes)
        expected = problem.risk(coef, intercept).value
        found = stress["judge"].exact_risk(instance, coef, intercept)
        assert found == pytest.approx(expected, rel=1e-12)


def test_threads_that_disagree_are_told(stress, monkeypatch):
    """Fits of shared rows must be the same, to the last bit."""
    module, numbers = stress["contestants"], iter(range(9))
    instance = stress["families"].instances("shared inputs")[0]
    fitted = module._fitted

    def moved(given):
        model = fitted(given)
        model.coef_ = model.coef_ + next(numbers)
        return model

    monkeypatch.setattr(module, "_fitted", moved)
    with pytest.raises(ArithmeticError, match="threads found different"):
        module.fitted(instance)


def test_rows_of_processes_stay_in_their_files(stress, tmp_path):
    instance = stress["families"].instances("shared inputs")[-1]
    np.save(tmp_path / "X.npy", instance.X)
    np.save(tmp_path / "y.npy", instance.y)
    mapped = stress["contestants"].mapped(instance, str(tmp_path))
    np.testing.assert_array_equal(mapped.X, instance.X)
    for rows in (mapped.X, mapped.y):
        assert isinstance(rows, np.memmap)
        assert not rows.flags.writeable


def test_large_instances_are_for_some_contestants_only(stress):
    takes_part = stress["contestants"].takes_part
    (instance, *_) = stress["families"].instances("very wide")
    assert takes_part("auto", instance)
    assert not takes_part("clarabel", instance)


def test_instances_are_frozen(stress):
    families = stress["families"]
    assert len(families.all_instances()) == 420
    for family in families.FAMILIES:
        one, other = families.instances(family), families.instances(family)
        assert [i.name for i in one] == [i.name for i in other]
        assert len({i.name for i in one}) == len(one)
        np.testing.assert_array_equal(one[-1].X, other[-1].X)


def answer(stress, objective, bound, exact, claims=True):
    return stress["contestants"].Answer(objective, bound, exact, 0.0, claims, 0.0)


def judged(stress, *answers):
    """Verdicts on answers to one instance."""
    record = stress["run"].Record
    names = ("interior-point", "newton", "first-order")
    told = zip(names, answers, strict=False)
    return stress["run"].verdicts([record("family", "one", *pair) for pair in told])


@pytest.mark.parametrize(
    ("claimed", "honest", "solved"),
    [
        ((0.5, 0.5, 0.5), True, True),
        ((0.5, 0.4, 0.5), False, False),  # claims a gap that it does not have
        ((0.5, 0.4, 0.5, False), True, False),  # says so
        ((0.5, 0.5, 0.6), False, False),  # not the risk of its classifier
        ((0.6, 0.6, 0.6), False, False),  # a bound above what another one attains
        ((np.nan, 0.5, 0.5), False, False),
        ((0.5, np.nan, 0.5, False), False, False),
    ],
)
def test_false_claims_are_found(stress, claimed, honest, solved):
    right = answer(stress, 0.5, 0.5, 0.5)
    verdict = judged(stress, answer(stress, *claimed), right)[0]
    assert (verdict.honest, verdict.solved) == (honest, solved)


def test_records_are_kept_and_told(stress, tmp_path, capsys):
    record = stress["run"].Record
    told = "weights", "l1-zeros", "interior-point"
    right = answer(stress, 0.5, 0.5, 0.5)
    failed = record("weights", "l1-zeros", "newton", None, "no end")
    path = tmp_path / "records.jsonl"
    for each in (record(*told, None, "cut short"), failed, record(*told, right)):
        stress["files"].keep(each, path)
    assert stress["files"].kept(path) == [record(*told, right), failed]
    table = stress["report"].shares(stress["run"].verdicts(stress["files"].kept(path)))
    stress["report"].write_csv(table, tmp_path / "table.csv")
    by_name = {row[0]: dict(zip(table[0], row, strict=True)) for row in table}
    assert by_name["weights"]["interior-point"] == "1/1"
    assert by_name["share honest"]["newton"] == "0.0 %"
    assert "no end" in stress["report"].faults(stress["run"].verdicts([failed]))[0]
    assert (tmp_path / "table.csv").read_text().startswith("family,auto,interior-point")


@pytest.mark.slow
def test_a_solver_that_does_not_end_is_ended(stress):
    """In a process of its own, by the processor's clock."""
    worker = stress["run"].Worker(time_limit=0.01)
    try:
        record = worker.ask("many classes", 0, "clarabel")
    finally:
        worker.close()
    assert record.answer is None
    assert "no end" in record.trouble
