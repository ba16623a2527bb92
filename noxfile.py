"""``make test-matrix``: the tests with the oldest and the newest versions we support.

One session for each Python and each of "oldest" (``tools/oldest.txt``) and "newest"
(whatever the package index has); a Python that is neither here nor to be had is left out.
Results go to ``docs/results/compatibility.csv``, one line for each session.  One session
alone: ``nox -s "matrix-3.12(oldest)"``.
"""

from __future__ import annotations

import csv
import time
from pathlib import Path
from xml.etree import ElementTree

import nox

nox.options.default_venv_backend = "uv"
nox.options.error_on_missing_interpreters = False
nox.options.reuse_venv = "yes"

RESULTS = Path(__file__).parent / "docs" / "results" / "compatibility.csv"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
CONSTRAINTS = {"oldest": ["--constraint", "tools/oldest.txt"], "newest": ["--upgrade"]}
VERSIONS = ("numpy", "scipy", "scikit-learn")
COLUMNS = ("python", "versions", *VERSIONS, "passed", "skipped", "failed", "minutes")
EXTRAS = ".[test,reference,plot,cli,data,dask]"
# Every solver, checks of the estimators by scikit-learn, types of numbers and tables, saved
# models, and the formulas of the problem; `make test` runs the rest.
TESTS = (
    "tests/estimators/test_base.py",
    "tests/estimators/test_linear.py",
    "tests/estimators/test_logistic.py",
    "tests/estimators/test_one_vs_rest.py",
    "tests/kernels",
    "tests/problem/test_norms.py",
    "tests/problem/test_problem.py",
    "tests/problem/test_subgradient.py",
    "tests/robustness/promises/test_certified.py",
    "tests/robustness/promises/distributions/test_distribution.py",
    "tests/robustness/promises/test_worst_case.py",
    "tests/rows/test_dask_rows.py",
    "tests/solvers/first_order",
    "tests/solvers/test_auto.py",
    "tests/solvers/test_registry.py",
    "tests/solvers/test_solve.py",
    "tests/test_model_files.py",
)


@nox.session(python=PYTHONS)
@nox.parametrize("versions", [nox.param(each, id=each) for each in CONSTRAINTS])
def matrix(session: nox.Session, versions: str) -> None:
    """The tests with one Python and one set of versions; arguments go to pytest."""
    session.install(*CONSTRAINTS[versions], "--editable", EXTRAS)
    folder, began = Path(session.create_tmp()), time.monotonic()
    report = folder / "report.xml"
    report.unlink(missing_ok=True)
    options = ["-q", "-n", "auto", "-m", "not slow", f"--junitxml={report}"]
    command = ["python", "-m", "pytest", *options, *(session.posargs or TESTS)]
    session.run(*command, success_codes=[0, 1])
    minutes = f"{(time.monotonic() - began) / 60:.1f}"
    counted = counts(report)
    code = f"import importlib.metadata as m; print(*map(m.version, {VERSIONS}))"
    installed = str(session.run("python", "-c", code, silent=True)).split()
    line = {"python": session.python, "versions": versions, "minutes": minutes}
    if not session.posargs:
        noted({**line, **dict(zip(VERSIONS, installed, strict=True)), **counted})
    if counted["failed"]:
        session.error(f"{counted['failed']} tests failed.")


def counts(report: Path) -> dict[str, int]:
    """How many tests passed, were skipped, failed; a run that broke off is an error."""
    suite = next(ElementTree.parse(report).iter("testsuite"))
    total, skipped, failures, errors = (
        int(suite.attrib[name]) for name in ("tests", "skipped", "failures", "errors")
    )
    failed = failures + errors
    return {"passed": total - skipped - failed, "skipped": skipped, "failed": failed}


def noted(line: dict[str, object]) -> None:
    """Put a line into the table, in place of an older one of the same session."""
    with RESULTS.open(newline="") as file:
        table = {(old["python"], old["versions"]): old for old in csv.DictReader(file)}
    new = {name: str(line[name]) for name in COLUMNS}
    table[new["python"], new["versions"]] = new
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(table[key] for key in sorted(table))
