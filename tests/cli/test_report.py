"""The page of a model."""

from .flowers import run


def test_the_report_is_one_page(model, capsys):
    code, out, error = run(
        capsys, "report", "model", "train.csv", "--target", "kind", "--out", "page.html"
    )
    assert (code, error) == (0, "")
    assert "page.html" in out
    assert "<h1>model on train.csv</h1>" in (model.parent / "page.html").read_text()


def test_a_report_is_html(model, capsys):
    code, _, error = run(
        capsys, "report", "model", "train.csv", "--target", "kind", "--out", "page.pdf"
    )
    assert (code, error.count("\n")) == (2, 1)
    assert "--out must end in one of .html" in error
