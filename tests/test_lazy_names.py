"""Names of the package that are imported at their first use."""

import subprocess
import sys

import pytest

import wdrsvm
from wdrsvm import estimators, robustness


@pytest.mark.parametrize(
    "package", [wdrsvm, estimators, robustness], ids=lambda each: each.__name__
)
def test_every_public_name_is_there(package):
    assert set(package.__all__) <= set(dir(package))
    for name in package.__all__:
        assert getattr(package, name) is not None
        assert name in vars(package)


@pytest.mark.parametrize(
    "package", [wdrsvm, estimators, robustness], ids=lambda each: each.__name__
)
def test_lazy_names_are_public_and_come_once(package):
    lazy = [name for names in package._HOMES.values() for name in names]
    assert len(set(lazy)) == len(lazy)
    assert {name for name in lazy if not name.startswith("_")} <= set(package.__all__)


def test_other_names_are_an_error():
    with pytest.raises(AttributeError, match="'wdrsvm' has no attribute 'worst_risk'"):
        wdrsvm.worst_risk  # noqa: B018


def test_import_leaves_out_what_a_fit_does_not_need():
    code = "import sys; from wdrsvm import RobustLinearSVC; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split()
    late = {"wdrsvm.onnx_export", "wdrsvm.model_files", "wdrsvm.robustness.labels.audit"}
    late |= {"wdrsvm.estimators.search", "sklearn.metrics", "sklearn.model_selection"}
    assert late.isdisjoint(loaded)
