"""The page of a model."""

import pytest

from ..flowers import run, run_json


def test_the_report_is_one_page(model, capsys):
    code, out, error = run(
        capsys, "report", "model", "train.csv", "--target", "kind", "--out", "page.html"
    )
    assert (code, error) == (0, "")
    assert "page.html" in out
    assert "<h1>model on train.csv</h1>" in (model.parent / "page.html").read_text()


REPORT = ("report", "model", "train.csv", "--target", "kind")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--out", "page.pdf"], "--out must end in one of .html, .htm, .md, .markdown"),
        (["--out", "card.html", "--format", "md"], "--out must end in one of .md"),
        (["--out", "page.md", "--format", "html"], "--out must end in one of .html"),
        (["--out", "page.md", "--format", "pdf"], "--format must be one of html, md"),
    ],
)
def test_a_report_is_a_page_or_a_card(model, capsys, options, sentence):
    code, _, error = run(capsys, *REPORT, *options)
    assert (code, error.count("\n")) == (2, 1)
    assert sentence in error


@pytest.mark.parametrize("options", [["--format", "md"], []], ids=["asked", "by ending"])
def test_a_card_is_markdown(model, capsys, options):
    code, out, error = run(capsys, *REPORT, "--out", "card.md", *options)
    assert (code, error) == (0, "")
    assert "card.md" in out
    card = (model.parent / "card.md").read_text()
    assert "# model on train.csv\n" in card
    assert 'load_model("model")' in card


def test_programs_are_told_verdict_and_flags(model, capsys):
    told = run_json(capsys, *REPORT, "--out", "page.html", "--radius", "50")
    assert told["verdict"].endswith(".")
    assert set(told["check before use"]) >= {"The promise is empty"}
