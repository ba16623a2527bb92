"""The page of the simulation."""

import pytest

from wdrsvm.report.experiments import simulation

pytest.importorskip("matplotlib")
pandas = pytest.importorskip("pandas")


@pytest.mark.parametrize(
    ("leads", "errors", "good"),
    [
        ([5.0, -0.2], [0.5, 0.5], True),
        ([5.0, -2.0], [0.5, 0.5], False),
        ([5.0, 0.2], [0.5, 0.5], True),
        ([0.2, -0.2], [0.5, 0.5], None),
        ([20.0, 1.0], [0.5, 0.5], False),
        ([5.0, 1.0], [float("nan")] * 2, None),
    ],
)
def test_a_lead_within_two_standard_errors_has_no_sign(leads, errors, good):
    peaks = pandas.DataFrame(
        {"balance": "balanced", "lead": leads, "standard_error": errors, "n_features": 3}
    )
    verdict = simulation._verdict(peaks, "balanced", 0.02, 5.40)
    assert verdict.good is good
    assert f"{min(leads):.2f} to {max(leads):.2f}" in verdict.text
