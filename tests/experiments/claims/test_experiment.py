"""All claims in one list of tasks, and their verdicts in one table."""

import pandas
import pytest

from wdrsvm.experiments import EXPERIMENTS
from wdrsvm.experiments.claims import experiment as claims


def test_tasks_name_claim_table_and_repetition(monkeypatch):
    monkeypatch.setattr(claims, "can_be_had", lambda name: True)
    tasks = claims.tasks("quick", None)
    assert {task["claim"] for task in tasks} == set(claims.CLAIMS)
    assert {task["repetition"] for task in tasks} == {0, 1}
    full = claims.tasks("full", 1)
    assert len({claims.table_of(task) for task in full}) == 11


def test_tables_that_are_not_there_are_left_out_and_named(monkeypatch):
    monkeypatch.setattr(claims, "can_be_had", lambda name: name != "osuleaf")
    with pytest.warns(UserWarning, match="osuleaf is left out of the claims"):
        tasks = claims.tasks("quick", 1)
    assert "osuleaf" not in {task["table"] for task in tasks}
    # With no table at all the runner names every missing file.
    monkeypatch.setattr(claims, "can_be_had", lambda name: False)
    assert claims.tasks("quick", 1)


def test_summaries_have_the_tables_of_every_claim(small_tables, monkeypatch):
    monkeypatch.setattr(claims, "can_be_had", lambda name: True)
    rows = []
    for task in claims.tasks("quick", 2):
        if task["claim"] != "rare classes":
            continue
        value = 0.6 if task["method"].startswith("WDR") else 0.5
        scores = {"balanced_accuracy": value, "worst_recall": value, "seconds": 1.0}
        rows.append(task | scores)
    tables = EXPERIMENTS["claims"].summarise(pandas.DataFrame(rows))
    rare = claims.CLAIMS["rare classes"]
    assert set(tables) == {"verdicts", *(rare.key(name) for name in rare.captions)}
    assert set(tables["verdicts"]["reached"]) == {"yes"}


def test_a_task_is_run_by_its_claim(small_tables):
    task = {"claim": "rare classes", "table": "osuleaf", "method": "logistic"}
    (record,) = claims.run(task | {"repetition": 0})
    assert record["balanced_accuracy"] > 0.5
