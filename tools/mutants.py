"""``make mutants``: change the code on purpose and see whether a test notices.

A seeded sample of the mutations of some folders, as many a module as its share of all.
The folders are those of the formulas and, apart, those of the kernels.  For each mutant,
the tests that run the changed line, nearest and fastest first, until one fails; a test
that does not end counts too.  Changed kernels run uncompiled, so that no compiled function
of the right code stands in for a wrong one.  Results are kept in ``.mutants``: a second run
judges only what is new, and the survivors again.

This is not left to mutmut.  It leaves out functions with a decorator, which here are all
compiled ones and properties, and everything outside functions; and it judges all mutants or
those named, not a seeded sample.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import resource
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple, TypeAlias
from xml.etree import ElementTree

from .mutations import Mutation, mutations

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "wdrsvm"
KEPT = ROOT / ".mutants"
RESULTS = KEPT / "results.jsonl"
# Seconds of tests that a mutant must survive, how many times as long it may take, and what
# pytest may take to import the tests of a whole folder.
TESTS_AT_MOST, PATIENCE, IMPORTS_AT_MOST = 6.0, 2.0, 20.0
# Seconds that all variants of these tests may take.
VARIANTS_AT_MOST = 60.0
KILLED, SURVIVED, UNTESTED = "killed", "survived", "untested"
# A test failed, a module could not be imported, or the time was over.
FOUND = (1, 2, -signal.SIGXCPU, -signal.SIGKILL, -signal.SIGALRM)
# pytest knows no test of this name.
UNKNOWN_TEST = 4
# Compiled code divides by zero in silence, and what calls it knows.  Elsewhere a warning is
# an error, as in all tests.
SILENCE = ("-W", "ignore::RuntimeWarning")
QUIET = ("-x", "-q", "-p", "no:cacheprovider", "-W", "ignore:Module already imported")
# Imported once, before forking, with whatever the package imports.
HEAVY = ("cvxpy", "dask.array", "hypothesis", "pandas", "polars", "pytest", "sklearn.svm")

TestTimes: TypeAlias = dict[str, float]


class Suite(NamedTuple):
    """Folders whose code is changed, and tests that may notice and take little time."""

    name: str
    folders: tuple[str, ...]
    tests: tuple[str, ...]
    marked: str
    uncompiled: bool

    def folder_of(self, module: str) -> str:
        """The one of the folders that a module is in, at any depth."""
        within = Path(module).relative_to(PACKAGE.relative_to(ROOT))
        return next(name for name in self.folders if within.is_relative_to(name))

    def narrowed(self, folder: str) -> Suite:
        """One folder, judged by its own tests alone."""
        return Suite(
            f"{self.name}-{folder}", (folder,), (folder,), self.marked, self.uncompiled
        )

    @property
    def environment(self) -> dict[str, str]:
        """Kernels that are changed run from their sources, others as usual."""
        return {"WDRSVM_CPU": "python" if self.uncompiled else ""}

    @property
    def warnings(self) -> tuple[str, ...]:
        """The options of pytest about warnings."""
        return SILENCE if self.uncompiled else ()

    @property
    def coverage(self) -> Path:
        """The lines that each test runs."""
        return KEPT / f"{self.name}-coverage"

    @property
    def report(self) -> Path:
        """The seconds that each test takes."""
        return KEPT / f"{self.name}-report.xml"


SUITES = (
    Suite(
        "formulas",
        ("inputs", "problem", "robustness", "rows"),
        (
            "agreement/test_bounded.py",
            "estimators/fitting/test_lazy.py",
            "inputs",
            "problem",
            "properties/test_defaults.py",
            "properties/test_oracles.py",
            "robustness",
            "rows",
            "solvers/interior_point/bounded",
            "solvers/test_label_noise.py",
        ),
        "not slow",
        uncompiled=False,
    ),
    Suite(
        "kernels",
        tuple(
            f"solvers/{family}/native"
            for family in ("cones", "first_order", "newton", "smooth_error", "subgradient")
        ),
        ("solvers",),
        "tiny",
        uncompiled=True,
    ),
)


def measure_tests(suite: Suite) -> None:
    """Run the tests once on the right code: which lines each runs, how long it takes."""
    KEPT.mkdir(exist_ok=True)
    folders = [f"--cov=src/wdrsvm/{folder}" for folder in suite.folders]
    tests = [f"tests/{name}" for name in suite.tests]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        "auto",
        "-m",
        suite.marked,
        *suite.warnings,
    ]
    options = ["--cov-context=test", "--cov-report=", f"--junitxml={suite.report}"]
    subprocess.run(
        [*command, *folders, *options, *tests],
        cwd=ROOT,
        env={**os.environ, **suite.environment, "COVERAGE_FILE": str(suite.coverage)},
        check=True,
    )


def test_times(suite: Suite) -> TestTimes:
    """Seconds of each test, under the name that coverage has for it."""
    times = {}
    for case in ElementTree.parse(suite.report).iter("testcase"):
        times[f"{case.attrib['classname']}.{case.attrib['name']}"] = float(
            case.attrib["time"]
        )
    return times


def spoken(test: str) -> str:
    """``tests/a/test_b.py::test_c`` as the report names it."""
    file, _, rest = test.partition("::")
    parents, bracket, parameters = rest.partition("[")
    dotted = file.removesuffix(".py").replace("/", ".")
    return f"{dotted}.{parents.replace('::', '.')}{bracket}{parameters}"


@cache
def tests_by_line(suite: Suite, module: str) -> dict[int, set[str]]:
    """For every line of a module the tests that run it.

    A module that nothing but imports runs, such as settings, has the tests of its folder.
    """
    by_line = _contexts(suite, module)
    if any(by_line.values()):
        return by_line
    folder = sorted((ROOT / module).parent.rglob("*.py"))
    inside = [_contexts(suite, path.relative_to(ROOT).as_posix()) for path in folder]
    return {0: set().union(*(tests for lines in inside for tests in lines.values()))}


def _contexts(suite: Suite, module: str) -> dict[int, set[str]]:
    """The tests that were seen to run each line."""
    from coverage import CoverageData

    data = CoverageData(str(suite.coverage))
    data.read()
    (file,) = [name for name in data.measured_files() if name.endswith(module)] or [""]
    return {
        line: {name.partition("|")[0] for name in names if name}
        for line, names in data.contexts_by_lineno(file).items()
    }


def chosen_tests(
    mutation: Mutation, by_line: dict[int, set[str]], times: TestTimes
) -> list[str]:
    """Tests of the line, those of the same name and the fastest first, few seconds.

    A line within a statement is the statement's; one run by imports is every test's.
    """
    above = max((line for line in by_line if line <= mutation.line), default=0)
    # A test that was the first to import the module is not the only one of its constants.
    on_line = set() if mutation.at_import else by_line.get(above)
    on_line = on_line or set().union(*by_line.values())
    stem = Path(mutation.module).stem.strip("_")
    variants: Counter[str] = Counter()
    ranked = []
    for test in sorted(on_line, key=lambda test: (times.get(spoken(test), 1.0), test)):
        function = test.partition("[")[0]
        ranked.append((variants[function], f"/test_{stem}.py" not in test, test))
        variants[function] += 1
    # One variant of each test, then a second one of each.
    chosen: list[str] = []
    seconds = 0.0
    for _, _, test in sorted(ranked, key=lambda rank: rank[:2]):
        seconds += times.get(spoken(test), 1.0)
        if chosen and seconds > TESTS_AT_MOST:
            break
        chosen.append(test)
    return chosen


def sample(suite: Suite, per_thousand: int, seed: int) -> list[Mutation]:
    """A share of every module's mutations."""
    chosen: list[Mutation] = []
    for folder in suite.folders:
        for path in sorted((PACKAGE / folder).rglob("*.py")):
            module = path.relative_to(ROOT).as_posix()
            found = sorted(
                mutations(module, path.read_text()), key=lambda one: one.order(seed)
            )
            chosen += found[: -(-len(found) * per_thousand // 1000)]
    return sorted(chosen, key=lambda one: one.order(seed))


class Changed(SourceFileLoader):
    """Imports one module as its mutant and leaves the others to Python."""

    def __init__(self, mutation: Mutation) -> None:
        path = ROOT / mutation.module
        # A package is imported by the name of its folder.
        self.inside = [str(path.parent)] if path.stem == "__init__" else None
        named = path.parent if self.inside else path.with_suffix("")
        name = ".".join(named.relative_to(PACKAGE.parent).parts)
        SourceFileLoader.__init__(self, name, str(path))
        self.code = compile(mutation.applied(path.read_text()), str(path), "exec")

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        # The file itself and not ``path``: an editable install has a finder of its own.
        if name != self.name:
            return None
        return spec_from_file_location(
            name, self.path, loader=self, submodule_search_locations=self.inside
        )

    def get_code(self, fullname: str) -> CodeType:
        return self.code


def judged(suite: Suite, mutation: Mutation, tests: list[str], seconds: float) -> str:
    """What becomes of a mutant, in a process of its own."""
    if not tests:
        return UNTESTED
    code = _exit_code(suite, mutation, tests, seconds)
    if code == UNKNOWN_TEST:
        # The change renames variants, such as those named by a default that is another.
        functions = [*dict.fromkeys(test.partition("[")[0] for test in tests)]
        code = _exit_code(suite, mutation, functions, VARIANTS_AT_MOST)
    if code in FOUND:
        return KILLED
    if code != 0:
        raise RuntimeError(f"Tests of {mutation.name} ended with {code}.")
    return SURVIVED


def _exit_code(suite: Suite, mutation: Mutation, tests: list[str], seconds: float) -> int:
    """How the tests of a mutant end."""
    child = os.fork()
    if child == 0:
        os.environ.update(suite.environment)
        _run_tests(suite, mutation, tests, seconds)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _run_tests(suite: Suite, mutation: Mutation, tests: list[str], seconds: float) -> None:
    """Never returns: the process ends with 0 if no test noticed, within its time."""
    limit = int(IMPORTS_AT_MOST + PATIENCE * seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    # Threads that wait for each other use no processor.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(20 * limit)
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    import pytest

    code = 3
    try:
        sys.meta_path.insert(0, Changed(mutation))
        code = int(pytest.main([*QUIET, *suite.warnings, *tests]))
    finally:
        os._exit(code)


def import_what_is_imported() -> None:
    """Load other libraries once for all mutants; the package itself is forgotten."""
    for name in HEAVY:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    sys.path.insert(0, str(ROOT / "src"))
    for path in PACKAGE.glob("[epsr]*s/*.py"):
        importlib.import_module(f"wdrsvm.{path.parent.name}.{path.stem}")
    for name in [name for name in sys.modules if name.partition(".")[0] == "wdrsvm"]:
        del sys.modules[name]


def earlier() -> dict[str, str]:
    """Fates of mutants from former runs."""
    if not RESULTS.exists():
        return {}
    lines = map(json.loads, RESULTS.read_text().splitlines())
    return {line["name"]: line["fate"] for line in lines}


def fates(
    suite: Suite, chosen: list[Mutation], again: bool
) -> Iterator[tuple[Mutation, str]]:
    """Each mutant and its fate; known kills are not repeated unless asked."""
    known, times = earlier(), test_times(suite)
    for mutation in chosen:
        if known.get(mutation.name) == KILLED and not again:
            yield mutation, KILLED
            continue
        tests = chosen_tests(mutation, tests_by_line(suite, mutation.module), times)
        seconds = sum(times.get(spoken(test), 1.0) for test in tests)
        fate = judged(suite, mutation, tests, seconds)
        with RESULTS.open("a") as file:
            print(json.dumps({"name": mutation.name, "fate": fate}), file=file)
        yield mutation, fate


def judge(suite: Suite, arguments: argparse.Namespace) -> float:
    """Judge a sample; the least share of killed mutants of a folder."""
    if not suite.coverage.exists():
        measure_tests(suite)
    chosen = sample(suite, arguments.per_thousand, arguments.seed)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for mutation, fate in fates(suite, chosen, arguments.again):
        counts[suite.folder_of(mutation.module)][fate] += 1
        if fate != KILLED:
            print(f"{fate}: {mutation.name}", flush=True)
    shares = []
    for folder, count in sorted(counts.items()):
        shares.append(count[KILLED] / count.total())
        print(f"{folder}: {count[KILLED]} of {count.total()} killed, {shares[-1]:.1%}")
    return min(shares)


def main() -> int:
    """Judge a sample; 1 if less than the asked share is killed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--per-thousand", type=int, default=50, help="share of mutations")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--at-least", type=float, default=0.85, help="share to be killed")
    parser.add_argument("--again", action="store_true", help="judge the killed again")
    parser.add_argument("--only", choices=[suite.name for suite in SUITES])
    parser.add_argument(
        "--folder", choices=SUITES[0].folders, help="one folder, judged by its own tests"
    )
    arguments = parser.parse_args()
    import_what_is_imported()
    asked = [suite for suite in SUITES if arguments.only in (None, suite.name)]
    if arguments.folder:
        asked = [SUITES[0].narrowed(arguments.folder)]
    return int(min(judge(suite, arguments) for suite in asked) < arguments.at_least)


if __name__ == "__main__":
    raise SystemExit(main())
