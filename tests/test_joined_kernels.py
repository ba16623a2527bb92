"""The build joins sources of kernels as it says."""

import pytest
from tools.native.join import joined, spelt_out, stripped
from tools.native.leftovers import leftovers


def test_docstrings_and_imports_of_each_other_are_left_out():
    source = (
        '"""What."""\nfrom __future__ import annotations\nimport cython\nfrom .a import b\n'
    )
    assert stripped(source).split() == ["import", "cython"]


def test_short_names_are_spelt_out():
    source = "@kernel\ndef f(x: ReadTable, n: Count) -> None:\n    y: Real = 0.0"
    assert spelt_out(source) == (
        "@cython.cfunc\n@cython.nogil\n@cython.exceptval(check=False)\n"
        "def f(x: cython.const[cython.double][:, ::1], n: cython.Py_ssize_t)"
        " -> cython.void:\n"
        "    y: cython.double = 0.0"
    )


def test_a_function_for_both_precisions_names_a_type_that_stands_at_the_top(tmp_path):
    source = tmp_path / "one.py"
    source.write_text("def f(x: ReadEitherTable, y: Either) -> Either:\n    return y\n")
    text = joined([source])
    assert "x: cython.const[Either][:, ::1], y: Either" in text
    assert "Either = cython.fused_type(cython.float, cython.double)" in text


def test_kernels_that_may_raise_say_so():
    assert spelt_out("@interruptible\ndef f() -> Small:") == (
        "@cython.cfunc\n@cython.nogil\n@cython.exceptval(-1)\ndef f() -> cython.int:"
    )


def test_names_that_only_begin_alike_stay():
    assert spelt_out("x: Counter\nkind = Real") == "x: Counter\nkind = Real"


def test_a_name_may_stand_in_one_source_only(tmp_path):
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text("def f():\n    pass\n")
    with pytest.raises(SystemExit, match="both define f"):
        joined([tmp_path / "one.py", tmp_path / "two.py"])


def test_what_a_run_leaves_behind_is_not_installed(tmp_path):
    (tmp_path / "a" / "__pycache__").mkdir(parents=True)
    for name in ("a/meson.build", "a/page.css", "a/b.py"):
        (tmp_path / name).touch()
    assert [*map(str, leftovers(tmp_path, "directories"))] == ["a/__pycache__"]
    assert [*map(str, leftovers(tmp_path, "files"))] == ["a/meson.build"]
