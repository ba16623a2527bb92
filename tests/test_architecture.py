"""The house has one direction: imports point down, and importing it is light."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "wdrsvm"

# A room may import from its own floor and from those below.
FLOORS = [
    ["arrays", "files", "saved_names", "version"],
    ["rows"],
    ["problem"],
    ["inputs"],
    ["solvers", "kernels"],
    ["robustness"],
    ["estimators"],
    ["datasets", "experiments", "model_files", "onnx_export", "plotting", "report"],
    ["cli", "__init__", "__main__", "demo"],
]
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
MODULES = sorted(PACKAGE.rglob("*.py"))


def name_of(path):
    return str(path.relative_to(PACKAGE))


def room_of(path):
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return parts[0]


def absolute(node, path):
    """The module that a ``from ... import`` names, without its dots."""
    if node.level == 0:
        return node.module or ""
    parents = ("wdrsvm", *path.relative_to(PACKAGE).parent.parts)
    base = parents[: len(parents) - (node.level - 1)]
    return ".".join([*base, *([node.module] if node.module else [])])


def imported_modules(path, source=None):
    tree = ast.parse(path.read_text() if source is None else source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = absolute(node, path)
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def imported_rooms(path, source=None):
    """Rooms named by imports; a name from the package's top is its public face."""
    for module in imported_modules(path, source):
        top, _, rest = module.partition(".")
        if top == "wdrsvm" and rest:
            room = rest.split(".")[0]
            yield room if room in FLOOR_OF else "__init__"


def test_every_room_has_a_floor():
    assert {room_of(path) for path in MODULES} <= set(FLOOR_OF)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_point_down(path):
    floor = FLOOR_OF[room_of(path)]
    assert {room for room in imported_rooms(path) if FLOOR_OF[room] > floor} == set()


@pytest.mark.parametrize(
    "source",
    [
        "from ..estimators import RobustLinearSVC",
        "from .. import estimators",
        "import wdrsvm.estimators.linear",
        "from wdrsvm import RobustLinearSVC",
        "def late():\n    from wdrsvm.robustness import radius",
    ],
)
def test_an_import_that_points_up_is_seen(source):
    path = PACKAGE / "problem" / "ball.py"
    rooms = set(imported_rooms(path, source))
    assert any(FLOOR_OF[room] > FLOOR_OF["problem"] for room in rooms)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_only_estimators_know_the_base_classes(path):
    names = set(imported_modules(path))
    touches = any(
        name == "sklearn.base" or name.startswith("sklearn.base.") for name in names
    )
    assert not touches or room_of(path) == "estimators"


def python(code):
    """Output of a fresh interpreter that has not imported the package."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


HEAVY = [
    "cvxpy",
    "dask",
    "highspy",
    "matplotlib",
    "numba",
    "pandas",
    "polars",
    "skops",
    "torch",
]


def test_importing_the_package_is_light():
    """scikit-learn may load pandas where it is installed; the package adds nothing."""
    code = "import sys, sklearn; before = set(sys.modules); import wdrsvm; "
    added = python(code + "print(*(set(sys.modules) - before))").split()
    assert "wdrsvm" in added
    assert set(HEAVY).isdisjoint(added)
