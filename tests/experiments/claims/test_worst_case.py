"""Worst-case errors: contenders and verdicts."""

import pandas
import pytest

from wdrsvm.experiments.claims import worst_case


def test_every_method_in_every_ball(small_tables, monkeypatch):
    monkeypatch.setattr(worst_case, "RADII", {"l2": (0.1, 0.2)})
    monkeypatch.setattr(worst_case, "STRENGTHS", (0.1, 1.0))
    records = worst_case.run({"table": "osuleaf", "repetition": 0})
    assert {record["radius"] for record in records} == {0.1, 0.2}
    assert len({record["method"] for record in records}) == 6
    assert all(record["plain"] <= record["worst_case"] for record in records)


def test_the_ramp_is_compared_with_the_best_other():
    errors = {"ramp": (0.30, 0.20), "logistic, worst case": (0.32, 0.25)}
    errors["convex, worst case"] = (0.29, 0.10)
    frame = pandas.DataFrame(
        [
            {"table": table, "norm": "l2", "radius": 0.1, "repetition": k}
            | {"method": method, "worst_case": worst, "plain": plain, "seconds": 1.0}
            for table in ("a", "b")
            for k in range(2)
            for method, (worst, plain) in errors.items()
        ]
    )
    behind, plain = worst_case.aims(frame)
    assert "convex, worst case" in behind.text
    assert behind.gain.mean == pytest.approx(-1.0)
    assert behind.reached is False
    assert plain.gain.mean == pytest.approx(5.0)
    assert plain.reached is True
    assert set(worst_case.tables(frame)) == set(worst_case.CLAIM.captions)
