"""One version, one set of lower bounds, and releases that hold what they should."""

import re
import tomllib
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

import wdrsvm

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def requirements(lines):
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


def test_the_version_stands_once():
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert metadata.version("wdrsvm") == wdrsvm.__version__
    texts = [
        path.read_text()
        for path in (ROOT / "src").rglob("*.py")
        if path.name != "version.py"
    ]
    assert not any(re.search(r'version = "\d+\.\d', text) for text in texts)


def test_the_citation_has_the_version():
    (cited,) = re.findall(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.M)
    assert cited == wdrsvm.__version__


def test_the_recipe_has_the_version_and_the_requirements():
    recipe = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text()
    assert f'version: "{wdrsvm.__version__}"' in recipe
    for line in requirements(PROJECT["project"]["dependencies"]):
        assert f"- {line.name} {line.specifier}\n" in recipe


def test_lower_bounds_are_the_oldest_versions_tested():
    pinned = {}
    for line in requirements((ROOT / "tools" / "oldest.txt").read_text().splitlines()):
        (pin,) = line.specifier
        assert pin.operator == "=="
        pinned.setdefault(line.name, []).append(Version(pin.version))
    declared = {}
    core = PROJECT["project"]["dependencies"]
    for line in requirements(core + PROJECT["project"]["optional-dependencies"]["test"]):
        if line.name in pinned or line.name in {one.name for one in requirements(core)}:
            (bound,) = line.specifier
            assert bound.operator == ">="
            declared[line.name] = Version(bound.version)
    assert declared == {name: min(versions) for name, versions in pinned.items()}


def test_every_supported_python_is_tested():
    from noxfile import PYTHONS

    assert PROJECT["project"]["requires-python"] == f">={PYTHONS[0]}"
