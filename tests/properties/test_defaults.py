"""Defaults are those that the documentation names, or those of the estimators."""

import ast
import inspect
import re

import pytest

from wdrsvm import RobustLinearSVC, RobustSVC, robustness

FUNCTIONS = [name for name in robustness.__all__ if name[0].islower()]
NAMED = re.compile(r"^(\w[\w, ]*) : .*default=(.+)$", re.MULTILINE)


def defaults_of(function):
    parameters = inspect.signature(function).parameters.items()
    return {name: p.default for name, p in parameters if p.default is not p.empty}


def documented_defaults(function):
    found = {}
    for names, written in NAMED.findall(inspect.getdoc(function)):
        names = names.split(", ")
        values = [ast.literal_eval(each) for each in _with_numbers(written).split(" and ")]
        found |= dict(zip(names, values * (len(names) // len(values)), strict=True))
    return found


def _with_numbers(written):
    return re.sub(r"\binf\b", "9e999", written)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_defaults_are_written_down_and_data_are_not_among_them(name):
    function = getattr(robustness, name)
    of_estimators = defaults_of(RobustSVC) | defaults_of(RobustLinearSVC)
    expected = of_estimators | documented_defaults(function)
    given = defaults_of(function)
    assert given == {key: expected.get(key) for key in given}
    needed = inspect.signature(function).parameters.keys() - given.keys()
    with pytest.raises((AttributeError, TypeError, ValueError)):
        function(**dict.fromkeys(needed))
