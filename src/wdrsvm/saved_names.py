"""The names of our classes in model files: one table, for all versions.

A file names a classifier by its public import path.  Version 0.1.0 used the private module
of the classifier, and private classes for parts of it.  These parts are read as plain
values.
"""

from __future__ import annotations

from typing import Any

PUBLIC = "wdrsvm"
# Modules of the classifiers in files of version 0.1.0.
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
# Parts of classifiers: objects become dicts of their attributes, named tuples tuples.
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
    """A schema in which the classes with these full names have their public names."""
    return _changed(part, lambda node: _public(node, names))


def with_present_names(part: Any) -> Any:
    """A schema of any version, with the names of this version."""
    return _changed(part, lambda node: _plain(_public(node, FORMER_NAMES)))


def full_name(node: dict[str, Any]) -> str:
    """The module and class name of a part of a schema."""
    return f"{node['__module__']}.{node['__class__']}"


def _changed(part: Any, change: Any) -> Any:
    """The same tree with all nodes changed, from the leaves to the root."""
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
        # Keep the number, because other nodes refer to the object by it.
        content: dict[str, Any] = node["content"] | {"__id__": node["__id__"]}
        return content
    if name in FORMER_TUPLES and loader == "TupleNode":
        return node | {"__module__": "builtins", "__class__": "tuple"}
    return node
