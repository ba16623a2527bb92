"""Reports and audits judged by axe in chromium alone, where no driver of it is installed.

A copy of the page carries axe and a script that writes what axe found into the page;
chromium then prints the page.
"""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from sklearn.datasets import load_iris

from wdrsvm.cli.main import main

axe = pytest.importorskip("selenium_axe_python")
pytest.importorskip("pandas")

SCHEMES = {"light": 1, "dark": 0}
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]
JUDGE = """
axe.run(document, {runOnly: %s}).then(found => {
  const told = document.createElement("pre");
  told.id = "told";
  told.textContent = JSON.stringify({
    broken: found.violations.map(rule => [rule.id, rule.nodes[0].html.slice(0, 200)]),
    passed: found.passes.map(rule => rule.id)});
  document.body.appendChild(told);
});
"""


@pytest.fixture(scope="module")
def chromium():
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("no chromium: make browser installs it on Debian")
    return path


def with_axe(page, folder):
    """A copy of a page with axe inside, and without the policy that forbids scripts."""
    (code,) = Path(axe.__file__).parent.rglob("axe.min.js")
    script = code.read_text(encoding="utf-8").replace("</script", "<\\/script")
    judge = JUDGE % json.dumps(RULES)
    text = page.read_text(encoding="utf-8")
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    added = f"<script>{script}</script><script>{judge}</script></body>"
    copy = folder / "judged.html"
    copy.write_text(text.replace("</body>", added), encoding="utf-8")
    return copy


def judged(chromium, page, folder, scheme, width):
    command = [
        *(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"),
        *(f"--window-size={width},900", "--virtual-time-budget=60000"),
        f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}",
        with_axe(page, folder).as_uri(),
    ]
    run = subprocess.run(command, capture_output=True, text=True, timeout=240)
    (told,) = re.findall(r'<pre id="told">(.*?)</pre>', run.stdout, re.S)
    found = json.loads(html.unescape(told))
    assert "color-contrast" in found["passed"] or found["broken"]
    return found["broken"]


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_report_of_a_model(chromium, iris_page, tmp_path, scheme, width):
    assert judged(chromium, iris_page, tmp_path, scheme, width) == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_page_of_an_audit(chromium, tmp_path, monkeypatch, scheme):
    monkeypatch.chdir(tmp_path)
    load_iris(as_frame=True).frame.to_csv("iris.csv", index=False)
    assert main(["audit", "iris.csv", "--target", "target", "--out", "audit.html"]) == 0
    assert judged(chromium, tmp_path / "audit.html", tmp_path, scheme, 1280) == []


def test_a_page_that_few_can_read_is_found(chromium, tmp_path):
    page = tmp_path / "bad.html"
    page.write_text("<!doctype html><body><h3 style='color:#ccc'>pale</h3></body>")
    found = {name for name, _ in judged(chromium, page, tmp_path, "light", 1280)}
    assert found >= {"color-contrast", "html-has-lang", "page-has-heading-one"}
