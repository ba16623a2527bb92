"""The tools that judge the tests do what they say."""

import ast
from pathlib import Path

import noxfile
import pytest
from tools import mutants
from tools.mutants import SUITES, Changed, judged, sample, spoken
from tools.mutations import mutations

SOURCE = '''
"""A module."""
__all__ = ["f"]
Kind = Literal["kind"]
Any = TypeVar("Any", bound="many")


def f(a: int = 1, *, flag=True):
    """A docstring."""
    if a < 2 and flag:
        raise ValueError("left alone", 3)
    a = not flag or a in "abc" or a > 1e60
    return g(a, 4.5, key="k") if a is None else -a
'''


def changed():
    return {(one.before, one.after) for one in mutations("m.py", SOURCE)}


@pytest.mark.parametrize(
    "change",
    [
        ("a < 2", "a <= 2"),
        ("2", "3"),
        ("1e+60", "2e+60"),
        ("True", "False"),
        ("a < 2 and flag", "a < 2 or flag"),
        ("not flag", "flag"),
        ("-a", "a"),
        ("a is None", "a is not None"),
        ("'k'", "'k!'"),
        ("'abc'", "'bc'"),
        ("g(a, 4.5, key='k')", "g(a, key='k')"),
        ("g(a, 4.5, key='k')", "g(a, 4.5)"),
        (
            "g(a, 4.5, key='k') if a is None else -a",
            "-a if a is None else g(a, 4.5, key='k')",
        ),
    ],
)
def test_careless_changes_are_made(change):
    assert change in changed()


def test_texts_errors_and_names_are_left_alone():
    touched = {before for before, _ in changed()}
    assert touched.isdisjoint({"'left alone'", "3", "'f'", "'A docstring.'", "int"})


def test_what_only_a_type_checker_reads_is_left_alone():
    assert not {before for before, _ in changed() if "kind" in before or "many" in before}


def test_a_mutant_differs_in_one_place_from_the_code_that_stays_as_it_was():
    right = ast.unparse(ast.parse(SOURCE))
    for one in mutations("m.py", SOURCE):
        wrong = ast.unparse(one.applied(SOURCE))
        assert wrong != right
        lines = zip(right.splitlines(), wrong.splitlines(), strict=True)
        assert sum(before != after for before, after in lines) == 1
        compile(one.applied(SOURCE), "m.py", "exec")
    assert ast.unparse(ast.parse(SOURCE)) == right


def test_constants_and_defaults_are_changed_at_import():
    source = "A = 1\nclass B:\n    c = 2\n    def d(self, e=3):\n        return 4\n"
    found = {one.before: one.at_import for one in mutations("m.py", source)}
    assert found == {"1": True, "2": True, "3": True, "return 4": False, "4": False}


def test_every_test_of_a_module_may_notice_a_constant():
    inside, outside = sorted(
        mutations("m.py", "A = 1\ndef f():\n    return A + 2\n"),
        key=lambda one: one.at_import,
    )[-2:]
    lines = {1: {"first"}, 3: {"first", "second"}}
    times = {"first.": 0.1, "second.": 0.1}
    assert mutants.chosen_tests(outside, lines, times) == ["first", "second"]
    only = {1: {"first"}, 3: {"second"}}
    assert mutants.chosen_tests(inside, only, times) == ["second"]


def test_equal_changes_of_two_places_have_two_names():
    one, other = mutations("m.py", "a = [1, 1]")
    assert (one.before, one.after) == (other.before, other.after)
    assert one.name != other.name


def test_the_order_of_a_sample_depends_on_its_seed_alone():
    found = [*mutations("m.py", SOURCE)]
    orders = [sorted(found, key=lambda one, s=seed: one.order(s)) for seed in (0, 0, 1)]
    assert [one.name for one in orders[0]] == [one.name for one in orders[1]]
    assert [one.name for one in orders[0]] != [one.name for one in orders[2]]


def test_a_sample_has_the_modules_of_inner_folders_too():
    formulas = SUITES[0]
    modules = {one.module for one in sample(formulas, 1, seed=0)}
    inner = "src/wdrsvm/robustness/promises/errors/worst_case_error.py"
    assert inner in modules
    assert formulas.folder_of(inner) == "robustness"
    assert {formulas.folder_of(module) for module in modules} == set(formulas.folders)


def test_one_folder_is_judged_by_its_own_tests():
    problem = SUITES[0].narrowed("problem")
    assert problem.tests == ("problem",)
    assert problem.coverage != SUITES[0].coverage
    assert {problem.folder_of(one.module) for one in sample(problem, 1, seed=0)} == {
        "problem"
    }


def test_warnings_are_errors_but_where_kernels_run_uncompiled():
    assert [bool(suite.warnings) for suite in SUITES] == [False, True]
    assert [suite.uncompiled for suite in SUITES] == [False, True]


def test_a_module_that_only_imports_run_has_the_tests_of_its_folder(monkeypatch):
    seen = {
        "src/wdrsvm/rows/blocks.py": {3: {"tests/a.py::test_b"}, 4: set()},
        "src/wdrsvm/rows/reduce.py": {1: {"tests/c.py::test_d"}},
    }
    monkeypatch.setattr(mutants, "_contexts", lambda suite, module: seen.get(module, {}))
    tests_by_line = mutants.tests_by_line.__wrapped__
    for module, lines in seen.items():
        assert tests_by_line(SUITES[0], module) == lines
    found = tests_by_line(SUITES[0], "src/wdrsvm/rows/__init__.py")
    assert found == {0: {"tests/a.py::test_b", "tests/c.py::test_d"}}


def test_a_mutant_takes_the_place_of_its_module_in_every_kind_of_install():
    module = "src/wdrsvm/solvers/cones/native/rows.py"
    source = (Path(__file__).parents[1] / module).read_text()
    loader = Changed(next(mutations(module, source)))
    spec = loader.find_spec("wdrsvm.solvers.cones.native.rows", ["not a folder"])
    assert spec is not None
    assert spec.loader is loader
    assert loader.find_spec("wdrsvm.solvers.cones.native.cone", None) is None


def test_variants_that_a_change_renames_are_judged_by_their_test(monkeypatch):
    asked = []

    def exit_code(suite, mutation, tests, seconds):
        asked.append(tests)
        return mutants.UNKNOWN_TEST if len(asked) == 1 else 1

    monkeypatch.setattr(mutants, "_exit_code", exit_code)
    one = next(mutations("m.py", SOURCE))
    variants = ["tests/test_a.py::test_b[1.0]", "tests/test_a.py::test_b[2.0]"]
    assert judged(SUITES[0], one, variants, 1.0) == mutants.KILLED
    assert asked == [variants, ["tests/test_a.py::test_b"]]


def test_a_mutant_takes_the_place_of_a_package():
    module = "src/wdrsvm/robustness/__init__.py"
    path = Path(__file__).parents[1] / module
    loader = Changed(next(mutations(module, path.read_text())))
    spec = loader.find_spec("wdrsvm.robustness", None)
    assert spec is not None
    assert spec.submodule_search_locations == [str(path.parent)]
    assert loader.find_spec("wdrsvm.robustness.frames", None) is None


def test_tests_have_the_names_of_the_report():
    assert spoken("tests/a/test_b.py::test_c[x::y.z]") == "tests.a.test_b.test_c[x::y.z]"
    assert spoken("tests/test_b.py::TestC::test_d") == "tests.test_b.TestC.test_d"


def test_lines_of_the_table_are_replaced_not_repeated(tmp_path, monkeypatch):
    table = tmp_path / "table.csv"
    monkeypatch.setattr(noxfile, "RESULTS", table)
    table.write_text(",".join(noxfile.COLUMNS) + "\n")
    line = dict.fromkeys(noxfile.COLUMNS, "1")
    for python, passed in (("3.12", "5"), ("3.11", "6"), ("3.12", "7")):
        noxfile.noted({**line, "python": python, "passed": passed})
    head, *lines = table.read_text().splitlines()
    assert head == ",".join(noxfile.COLUMNS)
    assert [each.split(",")[0] for each in lines] == ["3.11", "3.12"]
    assert lines[1].split(",")[noxfile.COLUMNS.index("passed")] == "7"


def test_counts_come_from_the_report(tmp_path):
    report = tmp_path / "report.xml"
    counts = 'tests="9" skipped="2" failures="1" errors="1"'
    report.write_text(f"<testsuites><testsuite {counts}/></testsuites>")
    assert noxfile.counts(report) == {"passed": 5, "skipped": 2, "failed": 2}
