"""The README's example runs, and shows what the text around it says."""

import csv
import math
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
README, RESULTS = ROOT / "README.md", ROOT / "docs" / "results"


def test_the_example_prints_what_is_shown(capsys):
    text = README.read_text()
    (example, shown) = re.search(
        r"```python\n(.*?)```\n\n```\n(.*?)```", text, re.DOTALL
    ).groups()
    exec(compile(example, str(README), "exec"), {})
    assert capsys.readouterr().out == shown


def test_the_commands_exist():
    makefile = (README.parent / "Makefile").read_text()
    for target in re.findall(r"make (\w+)", README.read_text()):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_pages_and_pictures_exist():
    for path in re.findall(r"\b(?:docs|examples)/[\w/]*(?:\.\w+)?", README.read_text()):
        assert (README.parent / path).exists(), path


def records(name):
    with (RESULTS / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_ratios_of_small_problems_are_those_of_the_records():
    """In README and on the page of the benchmarks."""
    labels = {"0.5": ("120 cases", "58", "10.6"), "inf": ("36 cases", "20", "4.7")}
    page = (ROOT / "docs" / "benchmarks.rst").read_text()
    for cost, (told, mean, least) in labels.items():
        ratios = [
            float(record["ratio"])
            for record in records("small-exact.csv")
            if record["label_cost"] == cost
        ]
        assert told == f"{len(ratios)} cases"
        assert round(math.exp(sum(map(math.log, ratios)) / len(ratios))) == int(mean)
        assert min(ratios) == float(least)
        assert re.search(rf"{told}.*?- {mean}\n +- {least}", page, re.DOTALL)
    told = "gap 1e-6 | best of HiGHS and Clarabel, the paper's program | 58 (11) |"
    assert told in README.read_text()


def test_the_table_beside_scikit_learn_is_that_of_the_records():
    text, doubted = README.read_text(), []
    for record in records("beside-sklearn.csv"):
        size, loss, cost, logistic, svc = record.values()
        if cost == "inf":
            assert f"| {size} | {loss} | {logistic} | {svc} |" in text
        elif loss == "logistic":
            doubted.append(logistic)
    assert "`LogisticRegression` are {}, {} and {}.".format(*doubted) in text


def test_the_gain_with_rare_classes_is_that_of_the_claims():
    found = {record["aim"]: record["found"] for record in records("claims-verdicts.csv")}
    gain = found["balanced accuracy: two standard errors ahead of one-vs-rest"]
    assert f"{float(gain.split()[0])} points above one-vs-rest" in README.read_text()
