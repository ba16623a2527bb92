"""The page of the timings."""

import pytest

from wdrsvm.experiments import collect

from ..made_up import fill

pytest.importorskip("matplotlib")
pytest.importorskip("pandas")


def test_ratios_are_geometric_means_and_bounds_are_marked(tmp_path):
    experiment = fill("scalability", tmp_path)
    ratios = experiment.summarise(collect(experiment, out=tmp_path, repetitions=2).frame)[
        "ratios"
    ]
    assert ratios["ratio"].between(50, 200).all()
    assert (ratios["lower_bound"] == (ratios["solver"] == "clarabel")).all()
