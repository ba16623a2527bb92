"""The house has one direction: imports point down, and importing it is light."""

import ast
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from tools import house

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "wdrsvm"

# A room may import from its own floor and from those below.
FLOORS = [
    ["arrays", "cached", "files", "lazy_names", "saved_names", "version"],
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
TESTS = ROOT / "tests"

# Inside the solvers a part may import from itself and from the floors below it.
SOLVER_FLOORS = [
    [
        *("compiling", "descent_settings", "neighbours", "result"),
        *("runtime", "scaling", "size", "trials"),
    ],
    ["cones"],
    ["interior_point"],
    ["newton"],
    ["registry"],
    ["first_order", "subgradient", "reference"],
    [
        *(
            "__init__",
            "auto",
            "chain",
            "label_noise",
            "ramp",
            "shortcuts",
            "smooth_error",
            "solve",
        ),
        "unreachable_classes",
    ],
]
SOLVER_FLOOR_OF = {part: i for i, parts in enumerate(SOLVER_FLOORS) for part in parts}
FAMILIES = ("cones", "first_order", "interior_point", "newton", "reference", "subgradient")
SOLVERS = sorted((PACKAGE / "solvers").rglob("*.py"))
LONGEST = 350
MOST_MODULES = 14


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


def part_of(path):
    return path.relative_to(PACKAGE / "solvers").with_suffix("").parts[0]


def imported_parts(path, source=None):
    """Parts of the solvers named by imports, without the part that imports them."""
    for module in imported_modules(path, source):
        names = module.split(".")
        if names[:2] == ["wdrsvm", "solvers"] and len(names) > 2:
            if names[2] in SOLVER_FLOOR_OF and names[2] != part_of(path):
                yield names[2]


def too_high(path, source=None):
    """Parts that a module of the solvers may not import: those above, or beside it."""
    own = SOLVER_FLOOR_OF[part_of(path)]
    beside = part_of(path) in FAMILIES
    return {
        part
        for part in imported_parts(path, source)
        if SOLVER_FLOOR_OF[part] > own or (beside and SOLVER_FLOOR_OF[part] == own)
    }


def test_every_part_of_the_solvers_has_a_floor():
    assert {part_of(path) for path in SOLVERS} <= set(SOLVER_FLOOR_OF)


@pytest.mark.parametrize("path", SOLVERS, ids=name_of)
def test_imports_inside_the_solvers_point_one_way(path):
    assert too_high(path) == set()


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("interior_point/loop.py", "from ..chain import Chain"),
        ("interior_point/loop.py", "from ..newton.hinge import smoothing_newton"),
        ("first_order/loop.py", "from ..reference import peers"),
        ("first_order/norms/l1.py", "from ...subgradient.stream import Moments"),
        ("cones/choice.py", "def late():\n    from wdrsvm.solvers import solve"),
    ],
)
def test_an_import_of_a_higher_part_of_the_solvers_is_seen(module, source):
    assert too_high(PACKAGE / "solvers" / module, source)


def private_of_scikit_learn(path, source=None):
    for module in imported_modules(path, source):
        top, *names = module.split(".")
        if top == "sklearn" and any(name.startswith("_") for name in names):
            yield module


def test_nothing_private_of_scikit_learn_is_imported():
    found = {name_of(path): [*private_of_scikit_learn(path)] for path in MODULES}
    assert {name: private for name, private in found.items() if private} == {}


@pytest.mark.parametrize(
    "source",
    [
        "from sklearn.utils.validation import _num_samples",
        "from sklearn.metrics._scorer import check_scoring",
        "import sklearn.utils._tags",
    ],
)
def test_a_private_import_is_seen(source):
    assert list(private_of_scikit_learn(PACKAGE / "demo.py", source))


def test_no_module_is_too_long_to_read():
    lengths = {name_of(path): path.read_bytes().count(b"\n") for path in MODULES}
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}


def crowded(paths):
    """Folders with more modules than one can take in at a glance."""
    counts = Counter(path.parent for path in paths if path.name != "__init__.py")
    return {str(folder) for folder, count in counts.items() if count > MOST_MODULES}


def test_no_folder_is_a_drawer():
    assert crowded(path.relative_to(PACKAGE) for path in MODULES) == set()


def test_a_drawer_is_found():
    paths = [Path("full") / f"{k}.py" for k in range(MOST_MODULES + 1)]
    assert crowded([*paths, Path("few") / "one.py"]) == {"full"}


# Folders inside the estimators, from the lowest to the highest.
ESTIMATOR_FLOORS = ["fitting", "search", "sets"]


def test_folders_of_the_estimators_import_one_way():
    for floor, folder in enumerate(ESTIMATOR_FLOORS):
        higher = {f"wdrsvm.estimators.{name}" for name in ESTIMATOR_FLOORS[floor + 1 :]}
        for path in (PACKAGE / "estimators" / folder).rglob("*.py"):
            modules = {".".join(name.split(".")[:3]) for name in imported_modules(path)}
            assert modules.isdisjoint(higher), path


# Public names of two packages: records of a solver, and the state of a run.
HOMONYMS = {"Progress"}


def repeated_classes(sources):
    """Names of classes that several modules define."""
    names = Counter(
        node.name
        for source in sources
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef)
    )
    return {name for name, count in names.items() if count > 1}


def test_the_name_of_a_class_means_one_thing():
    assert repeated_classes(path.read_text() for path in MODULES) == HOMONYMS


def test_a_class_that_two_modules_define_is_found():
    assert repeated_classes(["class One: ...", "class One: ...", "class Two: ..."]) == {
        "One"
    }


SETTINGS = sorted(
    path
    for path in PACKAGE.rglob("*.py")
    if path.stem in ("settings", "descent_settings", "auto")
    or path.match("solvers/shortcuts/[a-z]*.py")
)


def undocumented(source):
    """Numbers of frozen classes that the docstring of the class does not list, and classes
    of numbers that are not frozen."""
    for node in ast.parse(source).body:
        if not isinstance(node, ast.ClassDef):
            continue
        if "frozen=True" not in "".join(ast.unparse(each) for each in node.decorator_list):
            yield node.name
        listed = re.findall(r"^([a-z][\w, ]*?)(?: :.*)?$", ast.get_docstring(node), re.M)
        known = {name for names in listed for name in names.split(", ")}
        fields = (each.target.id for each in node.body if isinstance(each, ast.AnnAssign))
        yield from (name for name in fields if name not in known)


@pytest.mark.parametrize("path", SETTINGS, ids=name_of)
def test_every_tuning_number_is_frozen_and_documented(path):
    assert list(undocumented(path.read_text())) == []


def test_a_tuning_number_that_is_not_documented_is_found():
    source = '''
@dataclass(frozen=True)
class Known:
    """Doc.

    Parameters
    ----------
    one, two : float
        Of a word: three.
    """

    one: int = 1
    two: int = 2
    three: int = 3

@dataclass
class Loose:
    """Doc."""
'''
    assert list(undocumented(source)) == ["three", "Loose"]


ROOMS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
MIRRORED = sorted(path for room in ROOMS for path in (TESTS / room).rglob("test_*.py"))


def module_of(path):
    """The module, private or not, or the package that a file of tests is named after."""
    folder = PACKAGE / path.relative_to(TESTS).parent
    name = path.stem.removeprefix("test_")
    places = [f"{name}.py", f"_{name}.py", f"{name}/__init__.py"]
    return next((folder / each for each in places if (folder / each).is_file()), None)


def test_every_room_has_tests():
    assert {path.relative_to(TESTS).parts[0] for path in MIRRORED} == set(ROOMS)


@pytest.mark.parametrize("path", MIRRORED, ids=lambda path: str(path.relative_to(TESTS)))
def test_tests_are_named_after_the_module_that_they_test(path):
    assert module_of(path) is not None


@pytest.mark.parametrize("name", ["problem/test_extremes.py", "solvers/test_loop.py"])
def test_tests_of_no_module_are_seen(name):
    assert module_of(TESTS / name) is None


def test_the_map_of_the_house_is_that_of_the_code():
    """``python -m tools.house`` draws it again."""
    assert house.PICTURE.read_text(encoding="utf-8") == house.drawn()


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
