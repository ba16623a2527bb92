"""Labels are decided in a real browser, and the list goes back into the table."""

import time

import pandas as pd
import pytest
from sklearn.datasets import load_iris

from wdrsvm.cli.main import main

pytest.importorskip("pandas")


@pytest.fixture
def page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = load_iris(as_frame=True).frame
    table["target"] = table["target"].map({0: 'a "se"', 1: "b, ve", 2: "c"})
    table.loc[7, "target"] = "c"
    table.to_csv("iris.csv", index=False)
    given = ["audit", "iris.csv", "--target", "target", "--out", "audit.html"]
    assert main(given) == 0
    return tmp_path / "audit.html"


def downloaded(browser, page):
    browser.execute_cdp_cmd(
        "Browser.setDownloadBehavior",
        {"behavior": "allow", "downloadPath": str(page.parent)},
    )
    browser.find_element("id", "download").click()
    path = page.parent / "reviewed.csv"
    for _ in range(100):
        if path.exists():
            return path
        time.sleep(0.1)
    raise AssertionError("nothing was downloaded")


def test_decisions_are_downloaded_and_applied(browser, page):
    browser.get(page.as_uri())
    assert browser.get_log("browser") == []
    button = browser.find_element("id", "download")
    assert not button.is_enabled()
    first, second, *_ = browser.find_elements("css selector", "fieldset")
    assert "Row 7" in first.find_element("css selector", "legend").text
    first.find_elements("css selector", "input")[2].click()
    second.find_elements("css selector", "input")[1].click()
    status = browser.find_element("id", "progress").text
    assert status.startswith("2 of ")
    assert status.endswith("1 corrected.")
    path = downloaded(browser, page)
    reviewed = pd.read_csv(path)
    assert reviewed.iloc[0].tolist() == [7, "c", 'a "se"']
    given = ["relabel", "iris.csv", str(path), "--target", "target", "--out", "new.csv"]
    assert main(given) == 0
    assert pd.read_csv("new.csv")["target"][7] == 'a "se"'
    # Nothing is unsaved, so that leaving the page asks nothing.
    browser.get("about:blank")


def test_another_label_takes_back_the_other_choice(browser, page):
    browser.get(page.as_uri())
    card = browser.find_element("css selector", "fieldset")
    card.find_elements("css selector", "input")[1].click()
    options = card.find_elements("css selector", "option")
    options[1].click()
    assert not card.find_elements("css selector", "input:checked")
    assert browser.find_element("id", "progress").text.endswith("1 corrected.")
    card.find_elements("css selector", "input")[0].click()
    assert options[0].is_selected()
    assert browser.find_element("id", "progress").text.startswith("0 of ")
    downloadless = browser.find_element("id", "download")
    assert not downloadless.is_enabled()
    browser.execute_script("unsaved = false")
    browser.get("about:blank")
