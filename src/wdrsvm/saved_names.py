"""What model files call the classes of ours: the one table of names, past and present.

A file names a classifier by the place that users import it from.  Version 0.1.0 named it
by the module that it stood in, and parts of it by classes that were nobody's business:
these parts are read as the plain values that they are made of.
"""

from __future__ import annotations

from typing import Any

PUBLIC = "wdrsvm"
# Where the classifiers stood in files before they had a place that stays.
FORMER_PLACES = {
    "wdrsvm.estimators.kernel": ("RobustSVC",),
    "wdrsvm.estimators.linear": ("RobustLinearSVC",),
    "wdrsvm.estimators.logistic": ("RobustLogisticRegression",),
    "wdrsvm.estimators.one_vs_rest": ("RobustOneVsRestSVC",),
    "wdrsvm.estimators.search": (
        "RobustLinearSVCCV",
        "RobustLogisticRegressionCV",
        "RobustSVCCV",
    ),
}
FORMER_NAMES = {
    f"{place}.{name}": name for place, names in FORMER_PLACES.items() for name in names
}
# Parts of classifiers: objects are dicts of their attributes, tuples with names are tuples.
FORMER_OBJECTS = {
    "wdrsvm.kernels.functions.Kernel",
    "wdrsvm.solvers.stream.StreamState",
}
FORMER_TUPLES = {
    "wdrsvm.estimators._partial_fit.Stream",
    "wdrsvm.solvers.active_rows.Point",
    "wdrsvm.solvers.stream.Moments",
}


def with_public_names(part: Any, names: dict[str, str]) -> Any:
    """A schema in which classes of these full names stand at their public place."""
    return _changed(part, lambda node: _public(node, names))


def with_present_names(part: Any) -> Any:
    """A schema of any version in the names of this one."""
    return _changed(part, lambda node: _plain(_public(node, FORMER_NAMES)))


def full_name(node: dict[str, Any]) -> str:
    """Module and class of a part of a schema."""
    return f"{node['__module__']}.{node['__class__']}"


def _changed(part: Any, change: Any) -> Any:
    """The same tree with its nodes changed, from the leaves up."""
    if isinstance(part, dict):
        part = {name: _changed(value, change) for name, value in part.items()}
        return change(part) if "__loader__" in part else part
    if isinstance(part, list):
        return [_changed(each, change) for each in part]
    return part


def _public(node: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    name = names.get(full_name(node))
    return node if name is None else node | {"__module__": PUBLIC, "__class__": name}


def _plain(node: dict[str, Any]) -> dict[str, Any]:
    name, loader = full_name(node), node["__loader__"]
    if name in FORMER_OBJECTS and loader == "ObjectNode":
        # Others refer to the object by its number.
        content: dict[str, Any] = node["content"] | {"__id__": node["__id__"]}
        return content
    if name in FORMER_TUPLES and loader == "TupleNode":
        return node | {"__module__": "builtins", "__class__": "tuple"}
    return node
