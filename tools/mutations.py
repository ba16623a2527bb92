"""Small wrong changes to a module, one at a time: what a careless hand might do.

A mutation is found by its place in the syntax tree and applied to a fresh copy of it.
Left alone: annotations, docstrings, imports, the texts of errors, and ``__all__``.  So are
``TypeVar`` and ``Literal``, which only a type checker reads.
"""

from __future__ import annotations

import ast
import copy
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

Change: TypeAlias = Callable[[Any], ast.AST]

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
NONE = ast.Constant(None)
FOR_TYPES = ("TypeVar", "Literal")


@dataclass(frozen=True)
class Mutation:
    """One change: where it is, what it does, and how."""

    module: str
    line: int
    column: int
    before: str
    after: str
    path: tuple[tuple[str, int | None], ...]
    change: Change
    # Whether importing the module runs it, and not a call of a function.
    at_import: bool

    @property
    def name(self) -> str:
        """Where it is and what it does: many lines of a module have a one or a zero."""
        place = f"{self.module}:{self.line}:{self.column}"
        return f"{place}: {self.before} -> {self.after}"

    def order(self, seed: int) -> str:
        """A place in a shuffled list that does not move when others come or go."""
        return hashlib.sha256(f"{seed} {self.name}".encode()).hexdigest()

    def applied(self, source: str) -> ast.Module:
        """The module with this change."""
        tree = ast.parse(source)
        *above, (field, index) = self.path
        parent = _followed(tree, above)
        old = _child(parent, field, index)
        _replace(parent, field, index, self.change(old))
        return ast.fix_missing_locations(tree)


def mutations(module: str, source: str) -> Iterator[Mutation]:
    """Every mutation of a module, in the order of its text."""
    tree = ast.parse(source)
    for path, node in _visited(tree, ()):
        at_import = _runs_at_import(tree, path)
        for change in _changes(node):
            changed = change(copy.deepcopy(node))
            before = _short(ast.unparse(node))
            after = _short(ast.unparse(ast.fix_missing_locations(changed)))
            line, column = node.lineno, node.col_offset
            yield Mutation(module, line, column, before, after, path, change, at_import)


def _visited(
    node: ast.AST, path: tuple[tuple[str, int | None], ...]
) -> Iterator[tuple[tuple[tuple[str, int | None], ...], Any]]:
    """Places of all expressions and statements that may be changed."""
    for field, value in ast.iter_fields(node):
        if _left_alone(node, field):
            continue
        children = enumerate(value) if isinstance(value, list) else [(None, value)]
        for index, child in children:
            if isinstance(child, ast.AST) and not (_is_text(child) or _is_for_types(child)):
                place = (*path, (field, index))
                yield place, child
                yield from _visited(child, place)


def _runs_at_import(tree: ast.AST, path: tuple[tuple[str, int | None], ...]) -> bool:
    node: Any = tree
    for field, index in path:
        if isinstance(node, ast.FunctionDef | ast.Lambda) and field == "body":
            return False
        node = _child(node, field, index)
    return True


def _left_alone(node: ast.AST, field: str) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom | ast.Raise | ast.JoinedStr):
        return True
    if isinstance(node, ast.Assign):
        return any(getattr(target, "id", "") == "__all__" for target in node.targets)
    return field in ("annotation", "returns", "decorator_list", "ctx", "type_params")


def _is_text(node: ast.AST) -> bool:
    """A docstring: an expression statement that is a constant."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_for_types(node: ast.AST) -> bool:
    """``TypeVar(...)`` or ``Literal[...]``: no change of it changes what the code does."""
    name = getattr(node, "func", None) or getattr(node, "value", None)
    return getattr(name, "id", "") in FOR_TYPES


def _changes(node: ast.AST) -> Iterator[Change]:
    """The changes that suit a node."""
    if isinstance(node, ast.Compare):
        yield from (
            _at("ops", index, COMPARISONS[type(op)]()) for index, op in enumerate(node.ops)
        )
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in OPERATORS:
        yield _with("op", OPERATORS[type(node.op)]())
    elif isinstance(node, ast.BoolOp):
        yield _with("op", ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.UAdd):
        yield lambda old: old.operand
    elif isinstance(node, ast.Constant):
        yield from _changed_constants(node.value)
    elif isinstance(node, ast.Return) and _says_something(node.value):
        yield _with("value", NONE)
    elif isinstance(node, ast.Call):
        yield from _fewer_arguments(node)
    elif isinstance(node, ast.IfExp):
        yield lambda old: ast.IfExp(old.test, old.orelse, old.body)
    elif isinstance(node, ast.Break | ast.Continue):
        other = ast.Continue if isinstance(node, ast.Break) else ast.Break
        yield lambda old: ast.copy_location(other(), old)


def _says_something(value: ast.expr | None) -> bool:
    return value is not None and ast.unparse(value) != "None"


def _changed_constants(value: object) -> Iterator[Change]:
    if isinstance(value, bool):
        yield lambda old: ast.copy_location(ast.Constant(not value), old)
    elif isinstance(value, int | float):
        # One more makes no difference to a huge number.
        other = value + 1 if value + 1 != value else 2 * value
        yield lambda old: ast.copy_location(ast.Constant(other), old)
    elif isinstance(value, str):
        # NumPy knows some names by their first letter, and letters to look for are a set.
        yield lambda old: ast.copy_location(ast.Constant(value[1:] or f"{value}!"), old)


def _fewer_arguments(node: ast.Call) -> Iterator[Change]:
    # A call without its only argument would be too easy to see.
    if len(node.args) > 1:
        yield _with("args", node.args[:-1])
    for index in range(len(node.keywords)):
        yield _with("keywords", node.keywords[:index] + node.keywords[index + 1 :])


def _with(field: str, value: Any) -> Change:
    def change(old: Any) -> ast.AST:
        setattr(old, field, value)
        return old  # type: ignore[no-any-return]

    return change


def _at(field: str, index: int, value: Any) -> Change:
    def change(old: Any) -> ast.AST:
        getattr(old, field)[index] = value
        return old  # type: ignore[no-any-return]

    return change


def _child(parent: Any, field: str, index: int | None) -> Any:
    value = getattr(parent, field)
    return value if index is None else value[index]


def _followed(tree: ast.AST, path: list[tuple[str, int | None]]) -> Any:
    for field, index in path:
        tree = _child(tree, field, index)
    return tree


def _replace(parent: Any, field: str, index: int | None, new: ast.AST) -> None:
    if index is None:
        setattr(parent, field, new)
    else:
        getattr(parent, field)[index] = new


def _short(text: str) -> str:
    joined = " ".join(text.split())
    return joined if len(joined) <= 160 else f"{joined[:157]}..."
