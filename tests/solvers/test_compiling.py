"""Fits work where there is no folder for compiled code; linear promises compile nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODELS = ROOT / "tests" / "data_models"


def run(code, *arguments):
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    found = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


# What Numba finds where neither the package nor a home can be written to.
WITHOUT_A_CACHE = """
from numba.core import caching
for kind in (caching.CacheImpl, caching.CompileResultCacheImpl):
    kind._locator_classes = []
from wdrsvm.solvers.cones import sample_rows
from wdrsvm.solvers.first_order import hinge_rows
from wdrsvm.solvers.compiling import cached_njit

@cached_njit(nogil=True)
def doubled(x):
    return 2 * x

print(doubled(3), doubled._cache.cache_path if hasattr(doubled, "_cache") else None)
"""


def test_functions_are_compiled_without_a_place_to_keep_them():
    assert run(WITHOUT_A_CACHE).startswith("6 ")


# The command line on its way to predict and certify, with a compiler that cannot be had.
COMMANDS = """
import sys
sys.modules["numba"] = None
from wdrsvm.cli.main import main
model, table, out = sys.argv[1:]
assert main(["predict", model, table, "--out", out]) == 0
assert main(["certify", model, table, "--target", "kind"]) == 0
"""


def test_the_command_line_predicts_and_certifies_without_a_compiler(tmp_path):
    pytest.importorskip("typer")
    pytest.importorskip("skops.io")
    from wdrsvm.cli.main import main

    model, table, out = (tmp_path / name for name in ("model", "table.csv", "out.csv"))
    points = [(i % 7 - 3, i % 5 - 2) for i in range(35)]
    rows = [f"{a},{b},{'pq'[a + b > 0]}" for a, b in points]
    table.write_text("\n".join(["a,b,kind", *rows]))
    assert main(["fit", str(table), "--target", "kind", "--out", str(model)]) == 0
    run(COMMANDS, model, table, out)
    assert out.exists()


PREDICT_AND_CERTIFY = """
import sys, zipfile, numpy as np
from pathlib import Path
from wdrsvm import WassersteinBall, certified_radius, load_model, worst_case_risk
archive, folder, name = sys.argv[1:]
file = zipfile.ZipFile(archive).extract(name, folder)
model = load_model(file)
X = np.random.default_rng(0).normal(size=(6000, 4))
y = model.predict(X)
final = model[-1] if hasattr(model, "steps") else model
risk = worst_case_risk(model, X, y, WassersteinBall(0.1, 2.0))
radii = certified_radius(model, X)
final.worst_case_risk(X, y)
assert "numba" not in sys.modules
print(np.isfinite(risk) and len(radii) == len(X))
"""
LINEAR = ["linear", "linear_matrix", "linear_two", "stream", "logistic", "linear_search"]


@pytest.mark.parametrize("name", [*LINEAR, "pipeline"])
def test_a_loaded_linear_model_needs_no_compiler(name, tmp_path):
    pytest.importorskip("skops.io")
    code, archive = PREDICT_AND_CERTIFY, MODELS / "0.1.0.zip"
    assert run(code, archive, tmp_path, f"{name}.wdrsvm") == "True\n"
