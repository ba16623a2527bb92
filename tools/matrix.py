"""``make test-matrix``: the tests with the oldest and the newest versions we support.

One environment for every Python found and each of "oldest" (``tools/oldest.txt``) and
"newest" (whatever the package index has), kept in ``.matrix`` for the next time.  Results
go to ``docs/results/compatibility.csv``, one line an environment.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]
ENVIRONMENTS = ROOT / ".matrix"
RESULTS = ROOT / "docs" / "results" / "compatibility.csv"
OLDEST = ROOT / "tools" / "oldest.txt"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
VERSIONS = ("numpy", "scipy", "scikit-learn")
COLUMNS = ("python", "versions", *VERSIONS, "passed", "skipped", "failed", "minutes")
# An editable install builds at import, with what is installed beside it.
BUILD = ("cython>=3.1", "meson-python>=0.16", "ninja", "scipy")
EXTRAS = ".[test,reference,plot,cli,data,dask]"
# Every solver, checks of the estimators by scikit-learn, types of numbers and tables, saved
# models, and the formulas of the problem; `make test` runs the rest.
TESTS = (
    "estimators/test_linear.py",
    "estimators/test_logistic.py",
    "estimators/test_number_types.py",
    "estimators/test_one_vs_rest.py",
    "kernels",
    "problem/test_distributed.py",
    "problem/test_norms.py",
    "problem/test_objective.py",
    "robustness/test_certified.py",
    "robustness/test_distribution.py",
    "robustness/test_worst_case.py",
    "solvers/test_choose.py",
    "solvers/test_first_order.py",
    "test_model_files.py",
)


def interpreters() -> Iterator[tuple[str, str]]:
    """Version and path of every Python that runs here; a word for those that do not."""
    for version in PYTHONS:
        candidates = [shutil.which(f"python{version}"), *pyenv(version)]
        working = [path for path in candidates if path and says(path) == version]
        if working:
            yield version, working[0]
        else:
            print(f"Python {version}: not found here, left out.", flush=True)


def pyenv(version: str) -> list[str]:
    """Interpreters that pyenv has installed, newest first."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found = (root / "versions").glob(f"{version}.*/bin/python")
    return sorted(map(str, found), reverse=True)


def says(path: str) -> str:
    """The version that an interpreter says it is; nothing if it does not start."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([path, "-c", code], capture_output=True, text=True)
    return done.stdout.strip()


def environment(version: str, path: str, versions: str) -> Path:
    """The interpreter of an environment, made and filled unless it already is."""
    folder = ENVIRONMENTS / f"{version}-{versions}"
    python = folder / "bin" / "python"
    ready = folder / ".ready"
    asked = (ROOT / "pyproject.toml").read_text() + OLDEST.read_text()
    if not (ready.exists() and ready.read_text() == asked):
        constraints = ["--constraint", str(OLDEST)] if versions == "oldest" else []
        into = ["--python", str(python), "--quiet"]
        uv("venv", "--clear", "--quiet", "--python", path, str(folder))
        uv("pip", "install", *into, *constraints, *BUILD)
        build = ["--no-build-isolation", "--editable", EXTRAS]
        uv("pip", "install", *into, *constraints, *build)
        ready.write_text(asked)
    return python


def uv(*arguments: str) -> None:
    """uv, which settles old versions in seconds where pip tries one after another."""
    subprocess.run([sys.executable, "-m", "uv", *arguments], cwd=ROOT, check=True)


def tested(python: Path, workers: str) -> dict[str, object]:
    """Counts of one run, and the versions it ran with."""
    report = python.parents[1] / "report.xml"
    report.unlink(missing_ok=True)
    tests = [str(Path("tests") / name) for name in TESTS]
    command = [str(python), "-m", "pytest", "-q", "-n", workers, "-m", "not slow"]
    began = time.monotonic()
    subprocess.run([*command, f"--junitxml={report}", *tests], cwd=ROOT)
    minutes = (time.monotonic() - began) / 60
    return {**installed(python), **counts(report), "minutes": f"{minutes:.1f}"}


def installed(python: Path) -> dict[str, str]:
    """Versions of the libraries that we depend on."""
    code = (
        "import importlib.metadata as m, json, sys; "
        "print(json.dumps({name: m.version(name) for name in sys.argv[1:]}))"
    )
    done = subprocess.run(
        [python, "-c", code, *VERSIONS], capture_output=True, text=True, check=True
    )
    return dict(json.loads(done.stdout))


def counts(report: Path) -> dict[str, int]:
    """How many tests passed, were skipped, failed; a run that broke off is an error."""
    suite = next(ElementTree.parse(report).iter("testsuite"))
    total, skipped, failures, errors = (
        int(suite.attrib[name]) for name in ("tests", "skipped", "failures", "errors")
    )
    failed = failures + errors
    return {"passed": total - skipped - failed, "skipped": skipped, "failed": failed}


def noted(line: dict[str, object]) -> None:
    """Put a line into the table, in place of an older one of the same environment."""
    lines = []
    if RESULTS.exists():
        with RESULTS.open(newline="") as file:
            lines = [*csv.DictReader(file)]
    table = {(old["python"], old["versions"]): old for old in lines}
    table[str(line["python"]), str(line["versions"])] = {
        name: str(line[name]) for name in COLUMNS
    }
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(table[key] for key in sorted(table))


def main() -> int:
    """Every Python with both sets of versions; 1 if a test failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="part of a name, such as 3.12-oldest")
    parser.add_argument("--workers", default="auto", help="processes for the tests")
    arguments = parser.parse_args()
    failed = 0
    for version, path in interpreters():
        for versions in ("oldest", "newest"):
            if arguments.only not in f"{version}-{versions}":
                continue
            print(f"Python {version}, {versions} versions", flush=True)
            counted = tested(environment(version, path, versions), arguments.workers)
            line = {"python": version, "versions": versions, **counted}
            noted(line)
            failed += int(str(line["failed"]))
    print(RESULTS.read_text())
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
