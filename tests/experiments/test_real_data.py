"""Real data: tasks as published, and models of the table."""

import pytest

from wdrsvm.experiments import real_data


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


def test_more_repetitions_than_the_preset_are_run():
    tasks = real_data.tasks("full", 60)
    assert {task["repetition"] for task in tasks} == set(range(60))
