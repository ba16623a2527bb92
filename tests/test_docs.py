"""The documentation is complete, and what it shows runs."""

import ast
import doctest
import importlib
import re
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS, EXAMPLES = ROOT / "docs", ROOT / "examples"
SCRIPTS = sorted(EXAMPLES.rglob("*.py"))
PACKAGES = [
    "wdrsvm",
    "wdrsvm.datasets",
    "wdrsvm.experiments",
    "wdrsvm.kernels",
    "wdrsvm.plotting",
    "wdrsvm.problem",
    "wdrsvm.report",
    "wdrsvm.robustness",
    "wdrsvm.solvers",
]


def documented():
    """Names that the reference describes, with their modules."""
    entries = r"^(?:\.\. autodata:: |   )([\w.]+)$"
    names = re.findall(entries, (DOCS / "api.rst").read_text(), re.MULTILINE)
    return {name if name.startswith("wdrsvm.") else f"wdrsvm.{name}" for name in names}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_in_the_reference(package):
    """A name that two packages have is described once, under either."""
    known = [object_of(*name.rpartition(".")[::2]) for name in documented()]
    public = set(importlib.import_module(package).__all__) - {"__version__"}
    wanted = {name: object_of(package, name) for name in public}
    assert [n for n, each in wanted.items() if not any(each is k for k in known)] == []


def object_of(module, name):
    return getattr(importlib.import_module(module), name)


@pytest.mark.parametrize(
    ("page", "least"), [("extending.rst", 30), ("index.rst", 10), ("tutorial.rst", 30)]
)
def test_the_page_runs_and_prints_what_it_shows(page, least):
    flags = doctest.NORMALIZE_WHITESPACE
    result = doctest.testfile(str(DOCS / page), module_relative=False, optionflags=flags)
    assert result.attempted > least
    assert result.failed == 0


def test_the_page_on_extensions_names_files_and_tables_that_exist():
    text = (DOCS / "extending.rst").read_text()
    for path in re.findall(r"``((?:problem|solvers|robustness)/\w+\.py)``", text):
        if path != "solvers/your_solver.py":
            assert (ROOT / "src" / "wdrsvm" / path).exists(), path
    for table, path in re.findall(r"``([A-Z_]{4,})``\s+in\s+``(\w+/\w+\.py)``", text):
        source = (ROOT / "src" / "wdrsvm" / path).read_text()
        assert re.search(rf"^{table}\b.*=", source, re.MULTILINE), (table, path)


# Pages whose code needs a cluster or files of many gigabytes: it is compiled, not run.
NOT_RUN = {"dask.rst", "solvers.rst"}
# What the code of a page takes as given.
GIVEN = """
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler
from wdrsvm import *
from wdrsvm.problem import RobustProblem
X, y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
weight = np.full(len(y), 1 / len(y))
problem = RobustProblem.of(X, y, weight, WassersteinBall(0.05, 2.0, norm="l1"), 3)
class encoder:
    encode = staticmethod(lambda texts: X)
texts, labels, X_new, labels_new, y_new = None, y, X, y, y
model = RobustLinearSVC(feature_cost="std").fit(X, y)
"""
BLOCK = re.compile(
    r"^(\.\. code-block:: python|(?!\.\. ).*::)\n\n((?:   .*\n|\n)+)", re.MULTILINE
)


def code_of(page):
    """Blocks that are marked as Python, and literal blocks that are Python."""
    for mark, block in BLOCK.findall(page.read_text()):
        code = textwrap.dedent(block)
        if mark.startswith("..") or is_python(code):
            yield code


def is_python(text):
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


PAGES = [path for path in sorted(DOCS.glob("*.rst")) if any(code_of(path))]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("agg")
    if "penguins.csv" in page.read_text():
        penguins = pytest.importorskip("palmerpenguins").load_penguins()
        penguins.to_csv(tmp_path / "penguins.csv", index=False)
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(GIVEN, names)
    for block in code_of(page):
        code = compile(block, str(page), "exec")
        if page.name not in NOT_RUN:
            exec(code, names)


def test_literal_blocks_are_seen(tmp_path):
    page = tmp_path / "page.rst"
    page.write_text(
        "This::\n\n   x = 1\n\nand::\n\n   wdrsvm fit a.csv\n\n"
        ".. math::\n\n   y = 1\n\n.. code-block:: python\n\n   z = 1\n"
    )
    assert [code.strip() for code in code_of(page)] == ["x = 1", "z = 1"]


def test_there_are_examples_enough():
    assert len(SCRIPTS) >= 10


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_an_example_has_a_title_and_needs_no_files(script):
    """They run when the documentation is built."""
    source = script.read_text()
    title, line, *_ = ast.get_docstring(ast.parse(source)).splitlines()
    assert line == "=" * len(title)
    assert "# %%" in source
    assert "WDRSVM_DATA" not in source
    assert script.parent.parent == EXAMPLES


@pytest.mark.parametrize("folder", [d for d in EXAMPLES.iterdir() if d.is_dir()])
def test_every_folder_of_examples_has_a_place_in_the_gallery(folder):
    if folder.name != "__pycache__":
        assert (folder / "GALLERY_HEADER.rst").exists()
        assert f'"{folder.name}"' in (DOCS / "conf.py").read_text()
