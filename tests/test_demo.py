"""The demo: a story whose numbers hold."""

import sys

import pytest

from wdrsvm import demo
from wdrsvm.report.page import templates


@pytest.fixture(scope="module")
def table():
    return demo.wine_table()


@pytest.fixture(scope="module")
def found(table):
    return demo.findings(table)


def test_most_wrong_labels_are_found(table, found):
    assert table.wrong.sum() == 25
    assert found.n_found >= 22
    assert found.n_false <= 3


def test_it_has_fewer_errors_than_logistic_regression_now_and_moved(table, found):
    promise = demo.promise_on_test_rows(table, found.model)
    assert promise.rates.error < promise.logistic.error
    assert promise.rates.worst_case_error < promise.logistic.worst_case_error


def test_the_code_shown_is_the_code_run():
    names = {name: getattr(demo, name) for name in ("make_pipeline", "StandardScaler")}
    names["RobustLogisticRegressionCV"] = demo.RobustLogisticRegressionCV
    shown = eval(demo.CODE.splitlines()[0].removeprefix("model = "), names)
    assert repr(shown[-1]) == "RobustLogisticRegressionCV(label_noise='random')"


def test_it_needs_no_page(monkeypatch, tmp_path, capsys, found):
    templates.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.setattr(demo, "findings", lambda table: found)
    demo.main(tmp_path / "page.html")
    assert "HTML pages need Jinja2" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_it_writes_a_page(monkeypatch, tmp_path, capsys, found):
    templates.cache_clear()
    monkeypatch.setattr(demo, "findings", lambda table: found)
    demo.main(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert "The most suspicious labels" in text
    assert "What it withstands" in text
    assert str(tmp_path / "page.html") in capsys.readouterr().out


@pytest.mark.parametrize("is_there", [True, False])
def test_commands_that_are_not_installed_are_installed_first(monkeypatch, is_there):
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name: object() if is_there else None
    )
    assert ("the commands" in demo.next_steps()) is not is_there
