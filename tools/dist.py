"""``make dist``: build the release, look into it, install it elsewhere, run it.

Order: sdist, and the wheel that the sdist builds, which on Linux is made to run on other
machines (manylinux); metadata; contents; an empty environment with the wheel and what it
asks for, and no compiler, where the version is the same everywhere and the demo runs.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "wdrsvm"
DIST = ROOT / "dist"
CACHES = ("__pycache__", ".pyc", ".hypothesis", ".coverage", "_build")
# What somebody who has only the sdist needs to test and document it.
NEEDED_IN_SDIST = {
    *("CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "Makefile", "PKG-INFO"),
    *("SECURITY.md", "conftest.py", "noxfile.py"),
    *(
        "README.md",
        "benchmarks/__main__.py",
        "docs/conf.py",
        "examples/labels/audit_labels.py",
    ),
    *("pyproject.toml", "src/wdrsvm/py.typed", "tests/test_readme.py", "tools/dist.py"),
    *("meson.build", "src/wdrsvm/meson.build", "tools/native/join.py"),
}
VERSIONS = """
import importlib.metadata, pathlib, sys, wdrsvm
assert pathlib.Path(wdrsvm.__file__).is_relative_to(sys.prefix), wdrsvm.__file__
assert importlib.metadata.version("wdrsvm") == wdrsvm.__version__
print(wdrsvm.__version__)
"""


def run(*command: object, path: Path | None = None, **settings: str | Path) -> str:
    """Output of a command that must succeed; the environment knows no other packages.

    ``path`` takes the place of all folders in which commands are looked for.
    """
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTHON")
    }
    if path is not None:
        environment["PATH"] = str(path)
    done = subprocess.run(
        [*map(str, command)],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        **settings,  # type: ignore[call-overload]
    )
    return str(done.stdout)


def demand(holds: bool, otherwise: str) -> None:
    """End with a sentence if a release is not what it should be."""
    if not holds:
        raise SystemExit(f"make dist: {otherwise}")


def build(target: Path) -> list[Path]:
    """The sdist and the wheel that it builds, alone in their folder."""
    for old in target.glob("wdrsvm-*"):
        old.unlink()
    run(sys.executable, "-m", "build", "--outdir", target, ROOT)
    return sorted(target.glob("wdrsvm-*"))


def repaired(wheel: Path, scratch: Path) -> Path:
    """The wheel under a name that tells which machines it runs on, in the same folder."""
    if not sys.platform.startswith("linux"):
        return wheel
    run(sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", scratch, wheel)
    (made,) = scratch.glob("wdrsvm-*.whl")
    wheel.unlink()
    return Path(shutil.move(made, wheel.parent / made.name))


def check_wheel(wheel: Path) -> None:
    """The package, all of it, its compiled kernels, its licence, and nothing else."""
    with zipfile.ZipFile(wheel) as archive:
        # auditwheel lists folders too.
        names = {name for name in archive.namelist() if not name.endswith("/")}
    info = "-".join(wheel.name.split("-")[:2]) + ".dist-info"
    parts = ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")
    source = {f"wdrsvm/{path.relative_to(PACKAGE).as_posix()}" for path in source_files()}
    expected = source | {f"{info}/{part}" for part in parts}
    compiled = {name for name in names if name.endswith((".so", ".pyd"))}
    names -= compiled
    demand(names == expected, f"wheel and source differ in {sorted(names ^ expected)}.")
    families = {Path(name).parent.name for name in compiled if "_native_" in name}
    missing = {path.parent.name for path in PACKAGE.rglob("kernels.py")} - families
    demand(not missing, f"the wheel has no compiled kernels of {sorted(missing)}.")
    demand("wdrsvm/py.typed" in names, "the wheel has no py.typed.")


def source_files() -> list[Path]:
    """What the package is made of, without what running it leaves behind."""
    files = (path for path in PACKAGE.rglob("*") if path.is_file())
    own = (path for path in files if path.name != "meson.build")
    return [path for path in own if not is_cache(path.as_posix())]


def check_sdist(sdist: Path) -> None:
    """Enough to build, test and document; no caches."""
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    missing = NEEDED_IN_SDIST - names
    demand(not missing, f"the sdist lacks {sorted(missing)}.")
    spoilt = [name for name in names if is_cache(name)]
    demand(not spoilt, f"the sdist holds {sorted(spoilt)}.")


def is_cache(name: str) -> bool:
    """Whether a path is something that running the code leaves behind."""
    return any(part in name for part in CACHES)


def check_installed(wheel: Path, folder: Path) -> None:
    """The wheel in an empty environment without a compiler: version, demo, command."""
    venv.create(folder / "environment", with_pip=True)
    python = next((folder / "environment").glob("[bS]*/python*"))
    bare = python.parent
    run(python, "-m", "pip", "install", "--quiet", wheel, path=bare)
    run(python, "-m", "pip", "check", path=bare)
    version = run(python, "-c", VERSIONS, cwd=folder, path=bare).strip()
    demand(version == wheel.name.split("-")[1], f"wheel {wheel.name} says {version}.")
    print(run(python, "-m", "wdrsvm.demo", cwd=folder, path=bare))
    run(python, "-m", "pip", "install", "--quiet", f"{wheel}[cli,plot]")
    run(python, "-m", "wdrsvm", "demo", "--out", "page.html", cwd=folder, path=bare)
    demand((folder / "page.html").stat().st_size > 0, "the demo wrote an empty page.")


def main() -> None:
    """Every check in order; the first that fails ends it."""
    sdist, wheel = sorted(build(DIST), key=lambda path: path.suffix)
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        wheel = repaired(wheel, scratch)
        print(run(sys.executable, "-m", "twine", "check", "--strict", sdist, wheel))
        print(run(sys.executable, "-m", "check_wheel_contents", wheel))
        check_wheel(wheel)
        check_sdist(sdist)
        check_installed(wheel, scratch)
    print(f"{sdist.name} and {wheel.name} can be released.")


if __name__ == "__main__":
    main()
