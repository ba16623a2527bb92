"""The promises of SECURITY.md: no network, no code from files, no files elsewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# Everything that a user does without asking for a download, under a hook that ends the
# process at the first attempt to reach the network, to start a program or to unpickle.
WATCHED = """
import os, sys
forbidden = (
    "socket.connect", "socket.bind", "socket.getaddrinfo", "socket.sendto",
    "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork",
)
out = os.path.realpath(sys.argv[1])
told = []

def hook(event, arguments):
    if event in forbidden:
        told.append(f"{event} {arguments}")
        raise PermissionError(event)
    mode = arguments[1] if event == "open" else None
    if isinstance(mode, str) and set("wax+") & set(mode):
        path = os.path.realpath(str(arguments[0]))
        if not path.startswith((out, "/dev/")) and "__pycache__" not in path:
            told.append(f"writes {path}")

# The first import of an editable install starts its build tool.
import wdrsvm
sys.addaudithook(hook)
import numpy as np
from wdrsvm import *

X = np.random.default_rng(0).normal(size=(30, 3)) + np.arange(30)[:, None] % 3
y = np.arange(30) % 3
model = RobustLinearSVC(norm="l1").fit(X, y)
RobustSVC().fit(X, y).predict(X)
model.worst_case_distribution(X, y), model.certified_radius(X)
robust_path(X, y, [0.1], [2.0]), audit_labels(X, y)
os.chdir(out)
if len(sys.argv) > 2:
    from wdrsvm.cli.main import main

    load_model(save_model(model, "saved"))
    rows = [",".join(map(str, [*x, k])) for x, k in zip(X, y)]
    open("table.csv", "w").write("\\n".join(["a,b,c,kind", *rows]))
    target = ["--target", "kind"]
    for command in (
        ["fit", "table.csv", *target, "--out", "model"],
        ["predict", "model", "table.csv", "--out", "p.csv"],
        ["certify", "model", "table.csv", *target, "--out", "c.parquet"],
        ["audit", "table.csv", *target, "--out", "a.html"],
    ):
        assert main(command) == 0, command
print("told:", told)
"""


def run(folder, *more):
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WATCHED, str(folder), *more],
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    ).stdout.splitlines()[-1]


def test_the_library_and_the_command_line_keep_to_themselves(tmp_path):
    more = ["with the command line"]
    try:
        import pyarrow  # noqa: F401
        import skops  # noqa: F401
        import typer  # noqa: F401
    except ImportError:
        more = []
    assert run(tmp_path, *more) == "told: []"


def test_no_module_of_ours_can_unpickle_or_evaluate():
    """What would make code of data is not even imported."""
    names = r"pickle|cPickle|dill|cloudpickle|shelve|marshal|joblib\.load|eval|exec"
    pattern = re.compile(
        rf"^\s*(import|from)\s+({names})\b|\b(eval|exec)\(|(?<!re\.)\bcompile\("
        r"|allow_pickle=True",
        re.M,
    )
    found = {
        str(path.relative_to(ROOT)): pattern.findall(path.read_text(encoding="utf-8"))
        for path in (ROOT / "src").rglob("*.py")
    }
    assert not {path: match for path, match in found.items() if match}


def test_the_network_has_one_door():
    """Only the fetching of data sets knows how to reach it."""
    pattern = re.compile(
        r"^\s*(import|from)\s+(urllib|http|socket|requests|ssl|ftplib)\b", re.M
    )
    doors = [
        path.relative_to(ROOT / "src" / "wdrsvm").as_posix()
        for path in (ROOT / "src").rglob("*.py")
        if pattern.search(path.read_text(encoding="utf-8"))
    ]
    assert doors == ["datasets/_sources.py"]


def test_the_page_names_tests_that_exist():
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)`", page)
    assert len(named) >= 5
    missing = [path for path in named if not (ROOT / path).is_file()]
    assert not missing


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_model_file_is_no_program(tmp_path):
    pytest.importorskip("skops.io")
    from wdrsvm import RobustLinearSVC, save_model

    path = save_model(RobustLinearSVC().fit([[0.0], [1.0]], [0, 1]), tmp_path / "model")
    assert not path.stat().st_mode & 0o111
