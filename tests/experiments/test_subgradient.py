"""Algorithm 1 is measured on the same data."""

import pytest

from wdrsvm.experiments import subgradient as algorithm1


def test_algorithm_1_is_measured_on_the_same_data():
    pytest.importorskip("highspy")
    (record,) = algorithm1.run({"N": 60, "P": 3, "C": 3, "repetition": 0})
    assert record["step0"] in algorithm1.FIRST_STEPS
    assert record["above"] >= 0
    assert record["peer_reached"]
    assert record["accuracy"] == pytest.approx(record["exact_accuracy"], abs=0.1)
