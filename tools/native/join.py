"""Join the sources of some kernels into one file, which becomes one compiled module.

``join.py OUT SOURCE...``.  Uncompiled, the sources are modules that import each other;
compiled, they are one, so that the C compiler sees every call and can inline it.  Their
imports of each other, which are the relative ones, are left out, and so are their
docstrings.  The short names of ``runtime/kernel_names.py`` are spelt out.  A ``.pyx`` is
taken as it is: it stands in for a twin written in NumPy.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

NOEXCEPT_NOGIL = ["@cython.nogil", "@cython.exceptval(check=False)"]
DECORATORS = {
    "kernel": ["@cython.cfunc", *NOEXCEPT_NOGIL],
    "inner": ["@cython.cfunc", "@cython.inline", *NOEXCEPT_NOGIL],
    "interruptible": ["@cython.cfunc", "@cython.nogil", "@cython.exceptval(-1)"],
}
_DOUBLE, _SIZE, _INT = "cython.double", "cython.Py_ssize_t", "cython.int"
_SINGLE = "cython.float"
# Functions with this type are compiled twice.
EITHER = f"Either = cython.fused_type({_SINGLE}, {_DOUBLE})"
TYPES = {
    "Count": _SIZE,
    "Real": _DOUBLE,
    "Single": _SINGLE,
    "Flag": "cython.bint",
    "Small": _INT,
    "Vector": f"{_DOUBLE}[::1]",
    "Table": f"{_DOUBLE}[:, ::1]",
    "Cube": f"{_DOUBLE}[:, :, ::1]",
    "Cubes": f"{_DOUBLE}[:, :, :, ::1]",
    "EitherVector": "Either[::1]",
    "EitherTable": "Either[:, ::1]",
    "ReadEitherTable": "cython.const[Either][:, ::1]",
    "SingleVector": f"{_SINGLE}[::1]",
    "SingleTable": f"{_SINGLE}[:, ::1]",
    "Codes": f"{_SIZE}[::1]",
    "CodesTable": f"{_SIZE}[:, ::1]",
    "SmallCodes": f"{_INT}[::1]",
    "ReadVector": f"cython.const[{_DOUBLE}][::1]",
    "ReadTable": f"cython.const[{_DOUBLE}][:, ::1]",
    "ReadCube": f"cython.const[{_DOUBLE}][:, :, ::1]",
    "ReadSingleTable": f"cython.const[{_SINGLE}][:, ::1]",
    "ReadCodes": f"cython.const[{_SIZE}][::1]",
    "ReadSmallCodes": f"cython.const[{_INT}][::1]",
}
# Types stand behind a colon or an arrow, or are the first argument of ``declare``.
_TYPE = re.compile(rf"(: |-> |declare\()({'|'.join(TYPES)})\b(?=[,)\s:]|$)", re.M)
_DECORATOR = re.compile(rf"^( *)@({'|'.join(DECORATORS)})$", re.M)


def stripped(source: str) -> str:
    """A module without its docstring and its imports from beside it."""
    lines, tree = source.splitlines(), ast.parse(source)
    for position, node in enumerate(tree.body):
        is_docstring = position == 0 and ast.get_docstring(tree) is not None
        if is_docstring or _is_left_out(node):
            for line in range(node.lineno - 1, node.end_lineno or node.lineno):
                lines[line] = ""
    return "\n".join(lines)


def _is_left_out(node: ast.stmt) -> bool:
    if not isinstance(node, ast.ImportFrom):
        return False
    return node.level > 0 or node.module == "__future__"


def spelt_out(source: str) -> str:
    """A source with Cython's own names for types and decorators."""
    source = _DECORATOR.sub(_decorators, source)
    source = _TYPE.sub(lambda found: found[1] + TYPES[found[2]], source)
    return source.replace("-> None:", "-> cython.void:")


def _decorators(found: re.Match[str]) -> str:
    return "\n".join(found[1] + line for line in DECORATORS[found[2]])


def demand_own_names(sources: list[Path]) -> None:
    """End with a sentence if two sources define the same name: joined, one would go."""
    owners: dict[str, Path] = {}
    for path in sources:
        if path.suffix == ".pyx":
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            for name in _defined(node):
                other = owners.setdefault(name, path)
                if other is not path:
                    raise SystemExit(f"{other} and {path} both define {name}.")


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    return []


def joined(sources: list[Path]) -> str:
    """All sources behind each other, each under its name."""
    demand_own_names(sources)
    parts = ["import cython", EITHER]
    for path in sources:
        text = path.read_text(encoding="utf-8")
        text = text if path.suffix == ".pyx" else spelt_out(stripped(text))
        parts.append(f"# {path.name}\n{text}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    out, *names = sys.argv[1:]
    Path(out).write_text(joined([Path(name) for name in names]), encoding="utf-8")
