"""Results on disk: what was changed is worked out again."""

import sqlite3
from contextlib import closing

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("skops")
pytest.importorskip("typer")

from wdrsvm.experiments import collect, run_experiment
from wdrsvm.experiments.running.store import FILE

from ...fuzz.cases import SQUARES


@pytest.mark.parametrize(
    "change",
    [
        "outcome = replace(outcome, '4', '5')",
        "outcome = 'null'",
        "outcome = NULL",
        "outcome = 5",
        "outcome = CAST(x'ff' AS TEXT)",
        "sum = NULL",
        "key = 'x'",
    ],
)
def test_a_stored_result_that_was_changed(tmp_path, change):
    run_experiment(SQUARES, out=tmp_path)
    path = tmp_path / "squares-quick" / FILE
    with closing(sqlite3.connect(path)) as database, database:
        assert database.execute(f"UPDATE outcomes SET {change} WHERE rowid = 3").rowcount
    assert collect(SQUARES, out=tmp_path).frame["square"].tolist() == [0, 1, 9]
