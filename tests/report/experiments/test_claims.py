"""The page of the claims."""

import pandas

from wdrsvm.experiments.claims import CLAIMS
from wdrsvm.report.experiments import claims


def test_verdicts_come_first_and_failures_are_shown():
    rare = CLAIMS["rare classes"]
    verdicts = pandas.DataFrame(
        [
            {"claim": rare.name, "aim": "more", "found": "+1.00 (0.10)", "reached": "yes"},
            {"claim": rare.name, "aim": "much", "found": "-1.00", "reached": "failed"},
            {"claim": rare.name, "aim": "some", "found": "+1.00", "reached": "one value"},
        ]
    )
    tables = {rare.key(name): pandas.DataFrame({"x": [1]}) for name in rare.captions}
    first, second = claims.sections({"verdicts": verdicts, **tables}, None)
    text, *shown = first.parts
    assert text.text.startswith("1 of 3 aims are reached.")
    assert [each.good for each in shown] == [True, False, None]
    assert second.heading == "Rare classes"
    assert second.parts[0].text == rare.statement
    assert len(second.parts) == 2 + len(rare.captions)
