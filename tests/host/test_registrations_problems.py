"""What is wrong with declarations as they are written."""

from pathlib import Path

import pytest

from tests.helpers.registration_case import HEAD, register, said
from triton_mutlint.types import Problem

FIRST = HEAD.count("\n") + 1


def problems(folder: Path, text: str) -> list[Problem]:
    return [problem for op in register(folder, text) for problem in op.declaration.problems]


TAKES_N = "def f(x: Tensor, out: Tensor, n: int) -> None: ..."


def of_list(folder: Path, written: str, function: str = TAKES_N) -> Problem:
    (problem,) = problems(folder, f"@custom_op('a::f', mutates_args={written})\n{function}\n")
    return problem


@pytest.mark.parametrize("written", ["()", "[]", "{}", "set()", '"unknown"', '("x",)', '{"x": 1}', '["x", "out"]'])
def test_what_is_right(tmp_path: Path, written: str) -> None:
    text = f"@custom_op('a::f', mutates_args={written})\ndef f(x: Tensor, out: Tensor) -> None: ...\n"
    assert problems(tmp_path, text) == []


def test_a_string(tmp_path: Path) -> None:
    found = of_list(tmp_path, '("out")')
    assert found.message == "`mutates_args` is the string 'out', not a list of names"
    assert found.help == 'write `mutates_args=("out",)`: torch takes no string but "unknown"'
    assert (found.location.line, found.location.column) == (FIRST, 34)


def test_none(tmp_path: Path) -> None:
    assert of_list(tmp_path, "None").message == "`mutates_args` is `None`, not a list of names"


def test_an_unknown_name(tmp_path: Path) -> None:
    found = of_list(tmp_path, '["x", "outt"]')
    assert found.message == "`mutates_args` names `outt`, which is no argument of `a::f`"
    assert found.help == "did you mean `out`?"
    assert (found.location.line, found.location.column) == (FIRST, 39)
    assert of_list(tmp_path, '["zzzz"]').help == "its arguments are x, out, n"


@pytest.mark.parametrize(
    "annotation",
    ["int", "float | None", "Optional[int]", "list[int]", "torch.dtype", "'bool'", "torch.SymInt", "Sequence[float]",
     "typing.List[str]", "torch.types.Number", "t.List[int]", "Literal['near', 'far']", "'Optional[int]'"],
)
def test_a_name_that_holds_no_tensor(tmp_path: Path, annotation: str) -> None:
    found = of_list(tmp_path, '["n"]', f"def f(x: Tensor, n: {annotation}) -> None: ...")
    assert found.message == f"`mutates_args` names `n`, which holds no tensor (`{annotation}`)"


@pytest.mark.parametrize("annotation", ["Tensor", "list[Tensor]", "Optional[torch.Tensor]", "Mine", "Any", "None"])
def test_what_may_hold_a_tensor(tmp_path: Path, annotation: str) -> None:
    text = f"@custom_op('a::f', mutates_args=['n'])\ndef f(x: Tensor, n: {annotation}) -> None: ...\n"
    assert problems(tmp_path, text) == []


@pytest.mark.parametrize("annotation", ["T", "List[T]", "t.Optional[T]", "'List[T]'", "list['T']", "Size"])
def test_what_a_name_of_the_file_may_stand_for(tmp_path: Path, annotation: str) -> None:
    text = (f"T = torch.Tensor\nSize = Tensor\n"
            f"@custom_op('a::f', mutates_args=['n'])\ndef f(x: Tensor, n: {annotation}) -> None: ...\n")
    assert problems(tmp_path, text) == []
    declared = f"@torch.library.impl(lib, 'f')\ndef f(x, n: {annotation}): ...\n"
    lib = "lib = Library('a', 'DEF')\nlib.define('f(Tensor x, Tensor(a!)[] n) -> ()')\n"
    assert problems(tmp_path, f"T = torch.Tensor\nSize = Tensor\n{lib}{declared}") == []


def test_a_duplicate(tmp_path: Path) -> None:
    found = of_list(tmp_path, '("out", "x", "out")')
    assert (found.message, found.location.column) == ("`out` is listed twice in `mutates_args`", 46)


def test_positions(tmp_path: Path) -> None:
    found = of_list(tmp_path, "[1]")
    assert found.message == "`mutates_args` holds `1`; it takes names of arguments, not positions"
    assert found.help == 'write "out" if that argument is meant'
    assert of_list(tmp_path, "[7]").help == "its arguments are x, out, n"


def test_a_list_that_is_missing(tmp_path: Path) -> None:
    text = "@custom_op('a::f')\ndef f(x: Tensor) -> None: ...\n"
    assert said(register(tmp_path, text)) == ["`torch.library.custom_op` needs `mutates_args`"]
    assert said(register(tmp_path, text.replace("'a::f'", "'a::f', **OPTIONS"))) == []


def test_a_name_without_a_namespace(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, "@custom_op('f', mutates_args=())\ndef f(x: Tensor) -> None: ...\n")
    assert (found.message, found.help) == ("the op's name `f` has no namespace", "torch takes names such as `mylib::f`")


def test_names_of_functions_that_take_anything_are_not_judged(tmp_path: Path) -> None:
    text = """\
        @custom_op('a::f', mutates_args=['y'])
        def f(*args, **kwargs): ...
        custom_op('a::g', absent, mutates_args=['y'])
    """
    assert said(register(tmp_path, text)) == []


def test_the_list_of_a_loop_is_held_against_each_function(tmp_path: Path) -> None:
    text = """\
        def f(x: Tensor) -> None: ...
        def g(y: Tensor) -> None: ...
        for name, fn in (("f", f), ("g", g)):
            custom_op(f"a::{name}", fn, mutates_args=["x"])
    """
    assert said(register(tmp_path, text)) == ["`mutates_args` names `x`, which is no argument of `a::g`"]


# --------------------------------------------------------------------------- schemas


def of_schema(folder: Path, schema: str, function: str) -> list[str]:
    return said(register(folder, f"""\
        lib = Library("a", "DEF")
        lib.define("f{schema}")
        {function}
        lib.impl("f", f, "CUDA")
    """))


@pytest.mark.parametrize(
    ("schema", "function"),
    [
        ("(Tensor x, Tensor(a!) out) -> ()", "def f(x, out): ..."),
        ("(Tensor x, Tensor(a!) out) -> ()", "def f(source, target): ..."),
        ("(Tensor x, Tensor(a!) out) -> ()", "def f(*args): ..."),
        ("(Tensor x, *, int n) -> ()", "def f(x, *, n): ..."),
        ("(Tensor x, *, int n) -> ()", "def f(x, n): ..."),
        ("(Tensor x, *, int n) -> ()", "def f(x, **rest): ..."),
        ("(Tensor x) -> ()", "def f(x, n=1): ..."),
        ("(Tensor x, ...) -> ()", "def f(x, *more): ..."),
    ],
)
def test_schemas_that_fit(tmp_path: Path, schema: str, function: str) -> None:
    assert of_schema(tmp_path, schema, function) == []


@pytest.mark.parametrize(
    ("schema", "function", "message"),
    [
        ("(Tensor x, Tensor(a!) out) -> ()", "def f(out, x): ...",
         "argument 1 of the schema is `x`, of `f` (line 8) it is `out`"),
        ("(Tensor x, Tensor y, Tensor z) -> ()", "def f(x, z, y): ...",
         "argument 2 of the schema is `y`, of `f` (line 8) it is `z`"),
        ("(Tensor x) -> ()", "def f(x, y): ...", "the schema has 1 positional argument, `f` (line 8) needs 2"),
        ("(Tensor x, int n) -> ()", "def f(x): ...", "the schema has 2 positional arguments, `f` (line 8) takes 1"),
        ("(Tensor x, *, int n) -> ()", "def f(x, m): ...",
         "the schema has 1 positional argument, `f` (line 8) needs 2"),
        ("(Tensor x, *, int n) -> ()", "def f(x, *, m=1): ...",
         "the schema passes `n` by name, and `f` (line 8) has no parameter of that name"),
        ("(Tensor x, int(a!) n) -> ()", "def f(x, n): ...",
         "the schema marks `n` as mutated, which holds no tensor (`int`)"),
        ("(Tensor(a!) x) -> ()", "def f(x: int): ...",
         "the schema marks `x` as a mutated tensor; for `f` (line 8) it is none"),
        ("(Tensor x, Tensor x) -> ()", "def f(x, y): ...", "the schema names the argument `x` twice"),
        ("(Tensor x, Tensor(a! out) -> ()", "def f(x, out): ...",
         "the schema of `a::f` cannot be read: a bracket is not closed (column 33)"),
    ],
)
def test_schemas_that_do_not(tmp_path: Path, schema: str, function: str, message: str) -> None:
    found = of_schema(tmp_path, schema, function)
    assert message in found


def test_each_implementation_is_held_against_the_schema(tmp_path: Path) -> None:
    found = said(register(tmp_path, """\
        torch.library.define("a::f", "(Tensor x, Tensor(a!) out) -> ()")
        @torch.library.impl("a::f", "cuda")
        def right(x, out): ...
        @torch.library.impl("a::f", "cpu")
        def swapped(out, x): ...
        lib = Library("a", "IMPL")
        lib.impl("f", lambda keys, x, out: None, "XPU", with_keyset=True)
    """))
    assert found == ["argument 1 of the schema is `x`, of `swapped` (line 10) it is `out`"]


def test_a_list_and_a_schema_that_disagree(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, """\
        @custom_op("a::f", mutates_args=["x"], schema="(Tensor x, Tensor(a!) y) -> ()")
        def f(x, y): ...
    """)
    assert found.message == "`mutates_args` and `schema` disagree: the schema marks y as mutated"
