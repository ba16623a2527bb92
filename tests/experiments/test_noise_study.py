"""The study of noise: models, candidates and differences."""

import warnings

import numpy as np
import pandas
import pytest
from sklearn.exceptions import ConvergenceWarning

from wdrsvm import radius_max
from wdrsvm.experiments import noise_study
from wdrsvm.experiments.noise_data import TABLES, noisy_split


@pytest.mark.parametrize("model", noise_study.MODELS)
def test_a_model_of_the_noise_study(model, monkeypatch):
    chosen = noise_study.MODELS[model]
    few = chosen._replace(candidates=chosen.candidates[4:6])
    monkeypatch.setitem(noise_study.MODELS, model, few)
    task = {"table": "iris", "condition": "flips 20%", "model": model}
    # liblinear stops early on candidates that nobody would choose.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        (record,) = noise_study.run(task | {"weights": "balanced", "repetition": 0})
    assert record["accuracy"] > 0.5
    assert record["worst_recall"] <= record["balanced_accuracy"] <= 1
    if record["certified_l1"] is not None:
        assert record["certified_l1"] <= record["accuracy"]
    assert (record["worst_case_risk"] is None) == (not chosen.linear)


def test_everyone_has_the_same_number_of_candidates():
    counts = {name: len(model.candidates) for name, model in noise_study.MODELS.items()}
    # It searches by itself.
    assert counts.pop(noise_study.RECIPE) == 0
    assert set(counts.values()) == {noise_study.N_CANDIDATES}


@pytest.mark.parametrize("weight", [None, "balanced"])
def test_the_recipe_searches_its_own_radii(weight):
    split = noisy_split("iris", "clean", 0)
    found = noise_study.searched(split, weight)
    options = {"label_cost": np.inf, "loss": "logistic", "class_weight": weight}
    top = radius_max(split.X, split.y, **options)
    assert 5e-4 * top < found["radius"] < 0.9 * top
    assert found["label_cost"] == np.inf


def test_tables_where_a_model_is_behind_by_more_than_chance():
    gaps = {"iris": [-0.02, -0.03, -0.025], "seeds": [0.3, -0.4, -0.05], "wine": [0.1] * 3}
    rows = [
        {"table": table, "condition": "clean", "weights": "none", "repetition": k}
        | dict.fromkeys(noise_study.METRICS, 0.5 + (gap if model == "ours" else 0.0))
        | {"model": model}
        for table, found in gaps.items()
        for k, gap in enumerate(found)
        for model in ("ours", noise_study.REFERENCE)
    ]
    table = noise_study.summarise(pandas.DataFrame(rows))["differences"]
    row = table.set_index("metric").loc["accuracy"]
    assert row["tables_behind"] == 1
    assert row["worst_table"] == "seeds"
    assert row["worst_difference"] == pytest.approx(-5.0)
    assert row["worst_error"] == pytest.approx(100 * np.std(gaps["seeds"], ddof=1) / 3**0.5)


def test_a_table_that_cannot_be_had_is_left_out_and_named(monkeypatch, tmp_path):
    monkeypatch.delenv("WDRSVM_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.warns(UserWarning, match="music_genre is left out .* not on this machine"):
        tasks = noise_study.tasks("full", 1)
    assert {task["table"] for task in tasks} == set(TABLES) - {"music_genre"}
