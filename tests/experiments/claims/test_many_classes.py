"""Many classes: accuracy, speed and certificates."""

import numpy as np
import pandas
import pytest

from wdrsvm.experiments.claims import many_classes


def test_both_models_on_one_split(small_tables, monkeypatch):
    few = {name: (make, values[:1]) for name, (make, values) in CANDIDATES.items()}
    monkeypatch.setattr(many_classes, "CANDIDATES", few)
    records = many_classes.run({"table": "banking77", "classes": "4", "repetition": 0})
    assert [record["method"] for record in records] == list(few)
    gaps = [record["gap"] for record in records]
    assert gaps[0] <= 1e-3
    assert gaps[1:] == [None, None]


CANDIDATES = dict(many_classes.CANDIDATES)


def test_the_candidate_that_rows_left_out_prefer(small_tables):
    split = many_classes.embedded_split("banking77", "4", 0)
    chosen = many_classes._chosen(many_classes._logistic, (1e-9, 1.0), split, 0)
    assert chosen.C == 1.0


def test_the_same_classes_in_training_and_test_rows(small_tables):
    split = many_classes.embedded_split("banking77", "4", 1)
    model = many_classes._logistic(1.0).fit(split.X / 16, split.y)
    assert model.score(split.X_test / 16, split.y_test) > 0.95


def test_speed_is_a_ratio_of_times():
    seconds = {"robust logistic": 2.0, "logistic": 8.0, "logistic, C = 1": 1.0}
    frame = pandas.DataFrame(
        [
            {"table": table, "repetition": k, "method": name, "accuracy": 0.9}
            | {"seconds": each, "gap": 2e-3 if name == "robust logistic" else np.nan}
            for table in ("a", "b")
            for k in range(2)
            for name, each in seconds.items()
        ]
    )
    assert np.exp(many_classes.speed(frame, "logistic").mean) == pytest.approx(4.0)
    accuracy, speed, certificates = many_classes.aims(frame)
    assert accuracy.reached is True
    assert (speed.reached, speed.found) == (True, "4.00")
    assert (certificates.reached, certificates.found) == (False, "2.0e-03")
