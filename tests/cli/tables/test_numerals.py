"""Numbers as people write them."""

import numpy as np
import pytest

pytest.importorskip("pandas")
pytest.importorskip("typer")

import pandas

from wdrsvm.cli.tables.numerals import COMMA, PERCENT, POINT, Numerals, is_missing, numeral


@pytest.mark.parametrize(
    ("text", "point", "comma"),
    [
        ("5", 5, 5),
        ("5.1", 5.1, None),
        ("5,1", None, 5.1),
        ("1,234", 1234, 1.234),
        ("1.234", 1.234, 1234),
        ("0,123", None, 0.123),
        ("1,234.00", 1234, None),
        ("1.234,56", None, 1234.56),
        ("1,234,567", 1234567, None),
        ("1 234,5", None, 1234.5),
        ("1\N{NO-BREAK SPACE}234", 1234, 1234),
        ("1'234.5", 1234.5, None),
        ("-5.1", -5.1, None),
        ("\N{MINUS SIGN}5", -5, -5),
        ("+3", 3, 3),
        ("$5.1", 5.1, None),
        ("-$5", -5, -5),
        ("5,10 \N{EURO SIGN}", None, 5.1),
        ("USD 7", 7, 7),
        ("12 %", 12, 12),
        ("1.5e-3", 0.0015, None),
        ("inf", np.inf, np.inf),
        (".5", 0.5, None),
    ],
)
def test_what_a_text_may_mean(text, point, comma):
    meaning = numeral(text)
    assert (meaning.point, meaning.comma) == (point, comma)


@pytest.mark.parametrize(
    "text",
    [
        *("tall", "5kg", "05.01.2024", "2024-01-05", "12:30", "1,23,456", "1 2", "0x1F"),
        *("A1", "--5", "$5%", "1_000", ".", "5 abc"),
    ],
)
def test_what_is_no_number(text):
    assert not numeral(text).is_number


def test_marks_of_missing_values():
    marks = ["", " ", "?", "-", "n/a", "N/A", "NA", "nan", "None", "NULL", "#N/A", None]
    assert is_missing(pandas.Series(marks, dtype=object)).all()
    assert not is_missing(pandas.Series(["0", "no", "5.1"], dtype=object)).any()


def column(*cells):
    return Numerals.of(pandas.Series(cells, dtype=object))


def test_a_column_is_written_as_its_cells_tell():
    assert column("1,234", "5,1").decimal(POINT) == COMMA
    assert column("1,234", "1,234.5").decimal(COMMA) == POINT
    assert column("1,234").decimal(COMMA) == COMMA


def test_a_single_comma_among_points_is_read():
    found = column("5.1", "4.9", "1.234", "5,2")
    assert found.decimal(POINT) == POINT
    values = found.values(POINT, "")
    assert values == {"5.1": 5.1, "4.9": 4.9, "1.234": 1.234, "5,2": 5.2}


def test_what_may_be_two_numbers_is_not_read_where_both_ways_stand():
    assert "5,100" not in column("5.1", "4.9", "5,2", "5,100").values(POINT, "")
    assert column("5.1", "5,100").values(POINT, "")["5,100"] == 5100


def test_per_cent_signs_stand_everywhere_or_nowhere():
    assert column("5%", "6 %").unit() == PERCENT
    assert list(column("5%", "6%", "7").values(POINT, PERCENT)) == ["5%", "6%"]
    assert column("$5", "6").values(POINT, "$") == {"$5": 5.0, "6": 6.0}
    assert column("$5", "$7", "\N{EURO SIGN}6").values(POINT, "$") == {"$5": 5.0, "$7": 7.0}
