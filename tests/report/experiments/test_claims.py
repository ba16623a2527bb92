"""The page of the claims."""

import pandas
import pytest

from wdrsvm.experiments.claims import CLAIMS
from wdrsvm.report.experiments import claims

pytest.importorskip("matplotlib")


def test_verdicts_come_first_and_failures_are_shown(tmp_path):
    rare = CLAIMS["rare classes"]
    rows = [("more", "+1.00 (0.10)", "yes"), ("much", "-1.00", "failed")]
    rows += [("some", "+1.00", "no verdict")]
    verdicts = pandas.DataFrame(rows, columns=["aim", "found", "reached"]).assign(
        claim=rare.name, mean=1.0, standard_error=0.1, least=0.5, unit="points"
    )
    tables = {rare.key(name): pandas.DataFrame({"x": [1]}) for name in rare.captions}
    first, second = claims.sections({"verdicts": verdicts, **tables}, tmp_path)
    text, *shown, figure = first.parts
    assert text.text.startswith("1 of 3 aims are reached.")
    assert [each.good for each in shown] == [True, False, None]
    assert "Bars" in figure.caption
    assert second.heading == "Rare classes"
    assert second.parts[0].text == rare.statement
    assert len(second.parts) == 2 + len(rare.captions)
