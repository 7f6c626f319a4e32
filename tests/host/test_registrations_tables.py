"""Ops that are registered row by row from tables."""

import textwrap
from pathlib import Path

import pytest

from tests.helpers.registration_case import HEAD, functions, register, said, shown
from triton_mutlint.host.model import OpRegistration

PRE = """\
import os
lib = Library("aten", "IMPL")
own = Library("mine", "DEF")
def f(x, y): ...
def g(x, y): ...
def cond(): return os.environ.get("SOME")
"""
FIRST = PRE.count("\n") + HEAD.count("\n") + 1
FORMS = {
    "unpacked": """
        for name, fn in (("add.Tensor", f), ("mul.Tensor", g)):
            lib.impl(name, fn, "CUDA")
    """,
    "in a function": """
        def enable():
            table = [("add.Tensor", f), ("mul.Tensor", g)]
            for entry in table:
                lib.impl(entry[0], entry[1], "CUDA")
    """,
    "starred": """
        for entry in [("add.Tensor", f), ("mul.Tensor", g, "CUDA")]:
            lib.impl(*entry)
    """,
    "further columns": """
        for name, fn, *rest in [("add.Tensor", f), ("mul.Tensor", g, cond)]:
            if rest and not rest[0]():
                continue
            lib.impl(name, fn, "CUDA")
    """,
    "a dict": """
        for name, fn in {"add.Tensor": f, "mul.Tensor": g}.items():
            torch.library.impl("aten::" + name, "CUDA", fn)
    """,
    "keys of a dict": """
        T = {"add.Tensor": f, "mul.Tensor": g}
        for name in sorted(T.keys()):
            lib.impl(name, T[name], "CUDA")
    """,
    "dicts as rows": """
        for row in [dict(op_name="add.Tensor", fn=f), {"op_name": "mul.Tensor", "fn": g}]:
            lib.impl(**row)
    """,
    "a comprehension": '[lib.impl(n, fn, "CUDA") for n, fn in [("add.Tensor", f), ("mul.Tensor", g)]]',
    "a dict comprehension": '{n: lib.impl(n, fn) for n, fn in {"add.Tensor": f, "mul.Tensor": g}.items()}',
    "map": 'list(map(lambda e: lib.impl(e[0], e[1], "CUDA"), [("add.Tensor", f), ("mul.Tensor", g)]))',
    "map of a function": """
        def one(entry): lib.impl(*entry)
        list(map(one, [("add.Tensor", f), ("mul.Tensor", g)]))
    """,
    "zip": """
        for n, fn in zip(["add.Tensor", "mul.Tensor"], [f, g]):
            lib.impl(n, fn, "CUDA")
    """,
    "positions": """
        N, F = ["add.Tensor", "mul.Tensor"], [f, g]
        for i in range(len(N)):
            lib.impl(N[i], F[i], "CUDA")
    """,
    "filled step by step": """
        T = []
        T.append(("add.Tensor", f))
        if cond():
            T.extend([("mul.Tensor", g)])
        for n, fn in T:
            lib.impl(n, fn, "CUDA")
    """,
    "a dict filled step by step": """
        T = {}
        T["add.Tensor"] = f
        if cond():
            T.update({"mul.Tensor": g})
        for n, fn in T.items():
            lib.impl(n, fn, "CUDA")
    """,
    "filled by a decorator": """
        T = {}
        def noted(name):
            def decorated(fn):
                T[name] = fn
                return fn
            return decorated
        noted("add.Tensor")(f)
        noted("mul.Tensor")(g)
        for n, fn in T.items():
            lib.impl(n, fn, "CUDA")
    """,
    "one of two tables": """
        T = [("add.Tensor", f)] + ([("mul.Tensor", g)] if cond() else [])
        for n, fn in T:
            lib.impl(n, fn, "CUDA")
    """,
    "filtered and chained": """
        import itertools
        for n, fn in filter(cond, itertools.chain([("add.Tensor", f)], [("mul.Tensor", g)])):
            lib.impl(n, fn, "CUDA")
    """,
    "named tuples": """
        from typing import NamedTuple
        class Row(NamedTuple):
            name: str
            fn: object
            when: object = None
        for row in [Row("add.Tensor", f), Row(name="mul.Tensor", fn=g)]:
            lib.impl(row.name, row.fn, "CUDA")
    """,
    "a class": """
        class Rows:
            def __init__(self, table, lib):
                self.lib = lib
                self.table = table
                self.choose()
                self.all()
            def choose(self):
                self.table = [(t[0], t[1]) for t in self.table if len(t) < 3 or t[2]()]
            def one(self, name, fn):
                self.lib.impl(name, fn, self.key)
            def all(self):
                for name, fn in self.table:
                    self.one(name, fn)
        def enable(lib=lib, how=Rows):
            return how((("add.Tensor", f), ("mul.Tensor", g, cond)), lib=lib)
    """,
}


def named(ops: tuple[OpRegistration, ...]) -> dict[str, list[str]]:
    return {op.name: functions(op) for op in ops}


def written(text: str) -> str:
    """`text` after the names that it uses, as `register` wants it."""
    return PRE + textwrap.dedent(text).lstrip("\n")


@pytest.mark.parametrize("form", FORMS)
def test_rows_are_registered(form: str, tmp_path: Path) -> None:
    ops = register(tmp_path, written(FORMS[form]))
    assert named(ops) == {"aten::add.Tensor": ["f"], "aten::mul.Tensor": ["g"]}
    assert all(op.declaration.names == () and op.declaration.of_torch and not op.missing for op in ops)


def test_a_row_is_where_its_op_is_registered(tmp_path: Path) -> None:
    ops = register(tmp_path, written("""
        T = (("add.Tensor", f),
             ("mul.Tensor", g))
        for name, fn in T:
            lib.impl(name, fn, "CUDA")
        lib.impl("sub.Tensor", f, "CUDA")
    """))
    assert [(op.name, op.location.line - FIRST, op.location.column) for op in ops] == [
        ("aten::add.Tensor", 0, 7), ("aten::mul.Tensor", 1, 7), ("aten::sub.Tensor", 4, 1)]  # fmt: skip


def test_a_table_in_another_file_and_the_function_that_reads_it(tmp_path: Path) -> None:
    ops = register(tmp_path, written("""
        from rows import ROWS, install
        install(own, ROWS, "CPU")
        install(own, [("c(Tensor x, Tensor(a!) y) -> ()", f)], "CPU")
    """), rows="""
        def h(x, y): ...
        ROWS = [("a(Tensor x, Tensor y) -> ()", h), ("b(Tensor(a!) x, Tensor y) -> ()", h)]
        def install(lib, rows, key):
            for schema, function in rows:
                lib.define(schema)
                lib.impl(schema.split("(")[0], function, key)
    """)
    assert shown(ops) == [
        ("mine::a", "registrar", (), ["h"]), ("mine::b", "registrar", ("x",), ["h"]),
        ("mine::c", "registrar", ("y",), ["f"])]  # fmt: skip
    assert [op.location.line - FIRST for op in ops] == [1, 1, 2]


def test_of_more_rows_than_are_followed_none_is(tmp_path: Path) -> None:
    rows = ", ".join(f'("mine::{i}", f)' for i in range(2_100))
    assert register(tmp_path, written(f"for n, fn in [{rows}]:\n    torch.library.impl(n, 'CUDA', fn)")) == ()
    rows = ", ".join(f'("mine::{i}", f)' for i in range(1_000))
    ops = register(tmp_path, written(f"for n, fn in [{rows}]:\n    torch.library.impl(n, 'CUDA', fn)"))
    assert len(ops) == 1_000


def test_a_row_whose_function_is_not_known_is_said_to_be_so(tmp_path: Path) -> None:
    ops = register(tmp_path, written("""
        from absent import sine
        for n, fn in (("sin", sine), ("cos", f if cond() else g), ("tan", functools.partial(f, 1)), (cond(), g)):
            lib.impl(n, fn, "CUDA")
    """))
    assert {op.name: (functions(op), op.missing[:24]) for op in ops if not op.name.startswith("<")} == {
        "aten::cos": (["f", "g"], ""), "aten::sin": ([], "its function is `sine` o"),
        "aten::tan": (["f"], "")}  # fmt: skip
    assert all(op.declaration.names is None for op in ops if op.name.startswith("<"))


def test_a_list_that_grew_somewhere_is_not_known_whole(tmp_path: Path) -> None:
    """What it declares must not be taken for all that it declares."""
    (op,) = register(tmp_path, written("""
        names = []
        if cond():
            names.append("x")
        custom_op("mine::f", f, mutates_args=names)
    """))
    assert op.declaration.names is None
    (op,) = register(tmp_path, written("""
        names = ["x"]
        names.append("y")
        custom_op("mine::f", f, mutates_args=names)
    """))
    assert op.declaration.names == ("x", "y")


def test_an_overload_that_torch_does_not_have(tmp_path: Path) -> None:
    ops = register(tmp_path, written("""
        for n, fn in (("copysign", f), ("copysign.Tensor", f), ("neg", f), ("of_another_library", g)):
            lib.impl(n, fn, "CUDA")
    """))
    (message,) = said(ops)
    assert message.endswith("has no `aten::copysign`: what is registered for it is never called")
    names = {op.name.removeprefix("aten::"): op.declaration.names for op in ops}
    assert names == {"copysign": None, "copysign.Tensor": (), "neg": (), "of_another_library": None}


def test_a_name_that_is_one_of_very_many_or_another_is_not_taken_for_the_other(tmp_path: Path) -> None:
    """Of many names none is remembered: that must not look as if there were no more than the other."""
    rows = ", ".join(f'("n{i}", f)' for i in range(40))
    ops = register(tmp_path, written(f"""
        rows = [{rows}]
        name = rows[cond()][0]
        if cond():
            name = "mine"
        lib.impl(name, g, "CUDA")
    """))
    assert [op.name for op in ops] == ["<aten::{name}>"]
