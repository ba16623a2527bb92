"""Every experiment: its list of tasks is what the paper says, and its tasks run."""

import warnings

import numpy as np
import pandas
import pytest
from sklearn.exceptions import ConvergenceWarning

from wdrsvm import radius_max
from wdrsvm.experiments import EXPERIMENTS, noise_study, real_data, scalability, simulation
from wdrsvm.experiments import subgradient as algorithm1
from wdrsvm.experiments.noise_data import TABLES, conditions, noisy_split
from wdrsvm.experiments.spec import key_of
from wdrsvm.experiments.splits import (
    AI4I_TEST,
    AI4I_TRAIN,
    counted_split,
)


@pytest.mark.filterwarnings("ignore:music_genre is left out")
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_tasks_differ_and_fewer_repetitions_are_the_first(name):
    experiment = EXPERIMENTS[name]
    keys = [key_of(task) for task in experiment.tasks("full", 2)]
    assert len(set(keys)) == len(keys)
    assert {key_of(task) for task in experiment.tasks("full", 1)} < set(keys)
    assert len(experiment.tasks("quick", None)) < len(experiment.tasks("full", None))


def test_the_full_simulation_is_the_papers():
    tasks = simulation.tasks("full", None)
    fits = sum(task["n_radii"] * task["n_costs"] for task in tasks)
    assert fits == 800_000
    assert len({task["repetition"] for task in tasks}) == 50


def test_a_grid_of_the_simulation():
    task = simulation.tasks("quick", 1)[0] | {"n_radii": 2, "n_costs": 2}
    records = simulation.run(task)
    assert [record["radius"] for record in records] == [1e-6, 1e-6, 10.0, 10.0]
    assert records == simulation.run(task)
    assert records[0]["accuracy"] > 0.5
    assert records[-1]["accuracy"] == 0.25


def test_real_data_as_published_and_tuned_inside():
    task = {"table": "iris", "model": "R-MSVM", "protocol": "published", "repetition": 0}
    records = real_data.run(task)
    assert [record["radius"] for record in records] == list(real_data.RADII)
    (tuned,) = real_data.run(task | {"protocol": "nested"})
    assert tuned["accuracy"] > 0.8
    assert tuned["radius"] in real_data.RADII


@pytest.mark.parametrize("model", real_data.MODELS)
def test_every_model_of_the_table_is_made(model):
    chosen = real_data.MODELS[model]
    X, y, X_test, y_test = real_data.table_split("iris", 0)
    fitted = chosen.make(1e-2, chosen.label_costs[0], False).fit(X, y)
    assert fitted.score(X_test, y_test) > 0.6


def test_rows_of_ai4i_are_counted_as_in_the_paper():
    y = np.repeat(range(5), [400, 46, 100, 90, 80])
    split = counted_split(np.arange(len(y)), y, AI4I_TRAIN, AI4I_TEST, 0)
    assert np.bincount(split.y).tolist() == [278, 6, 6, 5, 5]
    assert np.bincount(split.y_test).tolist() == [40] * 5
    assert set(split.X).isdisjoint(split.X_test)


@pytest.mark.parametrize("kind", ["linear", "kernel"])
def test_solvers_are_timed_and_peers_agree(kind):
    pytest.importorskip("highspy")
    pytest.importorskip("clarabel")
    task = {"kind": kind, "model": "WDR", "radius": 1e-2, "N": 24, "P": 3, "C": 3}
    records = scalability.run(task | {"peers": True, "repetition": 0})
    assert [each["solver"] for each in records] == ["ours", *scalability.PEERS[kind]]
    assert all(each["seconds"] > 0 for each in records)
    assert all(each["gap"] < 1e-4 for each in records)
    (alone,) = scalability.run(task | {"peers": False, "repetition": 0})
    assert alone["solver"] == "ours"


def test_algorithm_1_is_measured_on_the_same_data():
    pytest.importorskip("highspy")
    (record,) = algorithm1.run({"N": 60, "P": 3, "C": 3, "repetition": 0})
    assert record["step0"] in algorithm1.FIRST_STEPS
    assert record["above"] >= 0
    assert record["peer_reached"]
    assert record["accuracy"] == pytest.approx(record["exact_accuracy"], abs=0.1)


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


def test_conditions_spoil_what_they_say():
    clean = noisy_split("iris", "clean", 0)
    flipped = noisy_split("iris", "flips 20%", 0)
    np.testing.assert_array_equal(clean.X, flipped.X)
    assert np.mean(clean.y != flipped.y) == pytest.approx(0.2, abs=0.01)
    np.testing.assert_array_equal(clean.y_test, flipped.y_test)
    noisy = noisy_split("iris", "feature noise", 0)
    np.testing.assert_array_equal(clean.X, noisy.X)
    assert not np.allclose(clean.X_test, noisy.X_test)
    rare = np.bincount(noisy_split("iris", "rare classes", 0).y)
    assert rare.max() >= 5 * rare.min()
    assert "crowd random" in conditions("music_genre")


def test_a_table_that_cannot_be_had_is_left_out_and_named(monkeypatch, tmp_path):
    monkeypatch.delenv("WDRSVM_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.warns(UserWarning, match="music_genre is left out .* not on this machine"):
        tasks = noise_study.tasks("full", 1)
    assert {task["table"] for task in tasks} == set(TABLES) - {"music_genre"}


def test_more_repetitions_than_the_preset_are_run():
    tasks = real_data.tasks("full", 60)
    assert {task["repetition"] for task in tasks} == set(range(60))


def test_wide_tables_are_reduced_by_their_training_rows():
    split = noisy_split("digits", "clean", 0)
    assert split.X.shape == (200, 20)
    np.testing.assert_allclose(split.X.mean(axis=0), 0.0, atol=1e-9)
