"""Writing specs: what is written reads back as what was meant, and merging changes no byte that is there."""

from __future__ import annotations

import enum
import math
import re
from collections import namedtuple
from types import ModuleType
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.kernels_by_hand import config, loaded
from triton_mutlint.cli.init import mentions
from triton_mutlint.spec.as_yaml import (
    HEADER,
    WrittenArgument,
    WrittenEntry,
    argument_text,
    entry_lines,
    key_text,
    quoted,
    read_argument,
    scalar_text,
)
from triton_mutlint.spec.nodes import parse_yaml
from triton_mutlint.spec.read import parse_spec
from triton_mutlint.spec.write import NoPlaceError, SpecText
from triton_mutlint.types import ArgType, ConstexprValue, DescriptorType, PointerType, ScalarType, TupleType

State = namedtuple("State", "src n")


class Mode(enum.Enum):
    FAST = 1


class dtype:  # noqa: N801 - recognised by this name, as Triton's is
    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


def relu() -> None:
    pass


LANGUAGE = ModuleType("language")
LANGUAGE.float16 = dtype("fp16")  # type: ignore[attr-defined]
LANGUAGE.int32 = dtype("int32")  # type: ignore[attr-defined]
LANGUAGE.softmax = lambda: None  # type: ignore[attr-defined]
NAMES = {"tl": LANGUAGE, "State": State, "Mode": Mode, "relu": relu, "also_relu": relu}
KERNEL = loaded("def k(p, V: tl.constexpr): ...", namespace=NAMES)
P, V = KERNEL.parameters


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([128], "128"),
        ([-1, 1.5], "[-1, 1.5]"),
        ([False, True], "[false, true]"),
        ([None], "null"),
        ([1e-05], "1e-05"),
        ([1e22], "1e+22"),
        ([math.inf, -math.inf], "[.inf, -.inf]"),
        (["relu"], "relu"),
        ([""], '""'),
        (["null"], '"null"'),
        (["12"], '"12"'),
        (["a: b # c"], '"a: b # c"'),
        (["é\n\u2028"], '"é\\n\\L"'),
        ([(64, 32)], "[[64, 32]]"),
        ([(64,), None], "[[64], null]"),
        ([LANGUAGE.float16], "{ref: tl.float16}"),
        ([dtype("int32")], "{ref: tl.int32}"),  # another object of the same dtype
        ([relu, None], "[{ref: relu}, null]"),
        ([LANGUAGE.softmax], "{ref: tl.softmax}"),
        ([Mode.FAST], "{ref: Mode.FAST}"),
    ],
)  # fmt: skip
def test_a_value_is_written_as_it_is_read(values: list[Any], text: str) -> None:
    args = tuple(ConstexprValue(value) for value in values)
    assert argument_text(KERNEL, V, args) == text
    bound = read_argument(KERNEL, V, text)
    assert bound is not None
    assert [getattr(b, "value", b) for b in bound] == pytest.approx(values) if values == [1e22] else True


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ([PointerType("fp32")], '"*fp32"'),
        ([PointerType("fp32", const=True, divisibility=16)], '"*kfp32:16"'),
        ([PointerType("fp16"), ConstexprValue(None, "None")], '["*fp16", null]'),
        ([ScalarType("i32")], "i32"),
        ([ScalarType("i32", 16)], '"i32:16"'),
        ([DescriptorType("fp16", (64, 32))], '"tensordesc<fp16[64, 32]>"'),
        ([ConstexprValue(1)], "1"),
        ([ConstexprValue(128)], '"128"'),  # a plain 128 would be the type of 128
        ([ConstexprValue(True)], '"True"'),
        ([ConstexprValue("relu")], "\"'relu'\""),
        ([ConstexprValue(relu, "relu")], "{ref: relu}"),
        ([TupleType((PointerType("fp32"), ScalarType("i32")))], '"(*fp32, i32)"'),
        ([TupleType((TupleType((ScalarType("i32"),)), ConstexprValue(None)))], '"((i32), None)"'),
        ([TupleType((PointerType("fp32"), ScalarType("i32")), ("src", "n"), State)], '"State(src=*fp32, n=i32)"'),
        ([TupleType((ConstexprValue(relu, "relu"),))], '"({ref: relu})"'),
    ],
)
def test_a_type_is_written_as_it_is_read(args: list[ArgType], text: str) -> None:
    assert argument_text(KERNEL, P, args) == text
    bound = read_argument(KERNEL, P, text)
    assert bound is not None
    assert [str(b) for b in bound] == [str(a) for a in args]


@pytest.mark.parametrize(
    "value",
    [object(), lambda: None, dtype("nowhere"), [1, object()], PointerType],
    ids=["object", "function", "dtype", "in a list", "class"],
)
def test_what_yaml_cannot_name_is_not_written(value: Any) -> None:
    assert argument_text(KERNEL, V, [ConstexprValue(value)]) is None


def test_a_tuple_class_that_the_module_lacks_is_not_written() -> None:
    hidden = namedtuple("hidden", "x")
    assert argument_text(KERNEL, P, [TupleType((ScalarType("i32"),), ("x",), hidden)]) is None


def test_a_value_for_an_autotuned_parameter_is_a_value() -> None:
    kernel = loaded("def k(p, BLOCK): ...", configs=(config(BLOCK=64),))
    assert argument_text(kernel, kernel.parameters[1], [ConstexprValue(64)]) == "64"


@given(st.text())
def test_any_text_is_a_scalar_and_a_key(text: str) -> None:
    for written in (quoted(text), scalar_text(text)):
        assert parse_yaml(written, "").scalar == text
    for line in (f"{key_text(text)}: 1", f"{{{scalar_text(text)}: 1}}"):
        assert [e.key for e in parse_yaml(line, "").entries] == [text]


# --------------------------------------------------------------------------- merging

NEW = WrittenEntry("a/b.py::new", "line 3", ("a note",), (WrittenArgument("x", '"*fp32"', "why"),), ("x",))
BROKEN = WrittenEntry("a/b.py::broken", "line 9", ("not analysed",), (WrittenArgument("y", '"<type>"'),), disabled=True)
MORE = (WrittenArgument("z", "i32", "by its name"),)


def new_spec(*entries: WrittenEntry) -> str:
    return added(HEADER, *entries)


def added(text: str, *entries: WrittenEntry, arguments: tuple[WrittenArgument, ...] = ()) -> str:
    """`text` with these entries, and with these arguments in its entry `old`."""
    spec = SpecText(text)
    if arguments:
        spec.add_arguments("old", arguments)
    if entries:
        spec.add(map(entry_lines, entries))
    return spec.text


def test_a_new_spec_reads_back() -> None:
    text = new_spec(NEW, BROKEN, WrittenEntry("c.py::empty"))
    spec = parse_spec(text, "s.yaml")
    assert [k.pattern for k in spec.kernels] == ["a/b.py::new", "c.py::empty"]
    assert [d.name for d in spec.kernels[0].mutates or ()] == ["x"]
    uncommented = text.replace("\n  # ", "\n  ")
    assert [k.pattern for k in parse_spec(uncommented, "s.yaml").kernels][1] == "a/b.py::broken"
    assert parse_spec(new_spec(BROKEN), "s.yaml").kernels == ()


SPECS = {
    "block": "version: 1\nkernels:\n  old:\n    args:\n      x: i32\n",
    "no end of line": "version: 1\nkernels:\n  old:\n    args:\n      x: i32",
    "crlf": "version: 1\r\nkernels:\r\n  old:\r\n    args:\r\n      x: i32\r\n",
    "wide": "version: 1\nkernels:\n    old:\n        args:\n            x: i32  # mine\n            # more\n\n# end\n",
    "kernels first": "kernels:\n  old:\n    args: {x: i32}\nversion: 1\n",
    "flow args": "version: 1\nkernels:\n  old:\n    args: {x: i32}  # mine\n",
    "flow args, trailing comma": "version: 1\nkernels:\n  old:\n    args: {x: i32, }\n",
    "flow args over lines": "version: 1\nkernels:\n  old:\n    args: {\n      x: i32,\n    }\n    mutates: []  # a\n",
    "flow entry": "version: 1\nkernels:\n  old: {args: {x: i32}, mutates: [x]}\n",
    "flow entry without args": "version: 1\nkernels:\n  old: {mutates: [x]}\n",
    "flow kernels": "version: 1\nkernels: {old: {args: {x: i32}}}\n",
    "flow kernels, crlf": "version: 1\r\nkernels: {old: {args: {x: i32}}}\r\n",
    "all flow": "{version: 1, kernels: {old: {args: {x: i32}}}}\n",
    "empty args": "version: 1\nkernels:\n  old:\n    args: {}\n",
    "empty entry": "version: 1\nkernels:\n  old: {}\n",
    "bare entry": "version: 1\nkernels:\n  old:  # all inferred\n  # next\n",
    "bare entry at the end": "version: 1\nkernels:\n  old:",
    "entry without args": "version: 1\nkernels:\n  old:\n    mutates:\n    - x\n    - y\n\n\ndefaults: {}\n",
    "document marks": "---\nversion: 1\nkernels:\n  old:\n    args:\n      x: i32\n...\n",
    "block scalar": "version: 1\nkernels:\n  old:\n    args:\n      x: |+\n        i32\n\n        # text\n",
    "alias last": 'version: 1\ndefaults: {types: {a: &t "*fp32"}}\nkernels:\n  old:\n    args:\n      x: *t\n',
    "commented out": "version: 1\nkernels:\n  old:\n    args:\n      x: i32\n  # b.py::k:  # line 1\n  #   args:\n",
    "indented root": " version: 1\n kernels:\n   old:\n     args:\n       x: i32\n",
    "unicode": "version: 1\nkernels:\n  'kernél':\n    mutates: [x]\n  old:\n    args: {\"x\": 'i32'} # ü\n",
}


def gaps_filled(old: str, new: str) -> bool:
    """Whether `old` is left when what was inserted is taken out of `new`."""
    rest = iter(new)
    return all(char in rest for char in old)


@pytest.mark.parametrize("text", SPECS.values(), ids=SPECS)
def test_parameters_and_kernels_are_added_and_nothing_is_changed(text: str) -> None:
    before = yaml.safe_load(text)
    new = added(text, NEW, arguments=MORE)
    after = yaml.safe_load(new)
    expected = before["kernels"]["old"] or {}
    args = {**(expected.get("args") or {}), "z": "i32"}
    assert after["kernels"].pop("a/b.py::new") == {"args": {"x": "*fp32"}, "mutates": ["x"]}
    assert after == {**before, "kernels": {**before["kernels"], "old": {**expected, "args": args}}}
    assert all(comment in new for comment in re.findall("#.*", text))
    assert ("\r\n" in text) is ("\r\n" in new)
    assert new.count("\n") == new.count("\r\n") or "\r\n" not in text
    if "{" not in text:
        assert gaps_filled(text, new)
        assert all(line in new.splitlines() for line in text.splitlines())


@pytest.mark.parametrize(
    "text", ["", "version: 1\n", "version: 1", "# only\nversion: 1 # this\n# end\n", "kernels:\n  # none\n"]
)
def test_the_first_kernel_brings_its_section(text: str) -> None:
    new = added(text, NEW)
    assert list(yaml.safe_load(new)["kernels"]) == ["a/b.py::new"]
    assert gaps_filled(text, new)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("kernels:\n  old: {args: \"i32\"}\n", "written as a text"),
        ("kernels:\n  a: &a {args: {}}\n  old: *a\n", "shared by an anchor"),
        ("kernels:\n  a:\n    args: &a {x: i32}\n  old:\n    args: *a\n", "shared by an anchor"),
        ("kernels:\n  old: &a {args: {}}\n  a: *a\n", "shared by an anchor"),
        ("kernels:\n  old:\n    args: {\n      x: i32,  # why\n    }\n", "a comment stands inside brackets"),
        ("d: &t i32\nkernels:\n  old:\n    args: {x: *t}\n", "names an anchor"),
        ("x: &x {old: {}}\nkernels:\n  <<: *x\n", "merge key"),
    ],
)
def test_where_nothing_can_be_added_it_is_said(text: str, why: str) -> None:
    with pytest.raises(NoPlaceError, match=why):
        SpecText(f"version: 1\n{text}").add_arguments("old", MORE)


def test_comments_of_an_entry_stay_with_it_and_disabled_entries_are_found() -> None:
    text = SPECS["commented out"]
    assert mentions(text, "b.py::k")
    assert not mentions(text, "b.py::other")
    new = added(text, NEW, arguments=MORE)
    lines = new.splitlines()
    assert lines[5] == "      z: i32  # by its name"
    assert lines.index("  a/b.py::new:  # line 3") == 8


@given(st.lists(st.sampled_from(["  # c", "", "# c", "      # c", "\t"]), max_size=6), st.booleans())
def test_whatever_idle_lines_follow_the_result_is_the_same(idle: list[str], ends: bool) -> None:
    text = "\n".join([*["version: 1", "kernels:", "  old:", "    args:", "      x: i32"], *idle]) + "\n" * ends
    if "\t" in text:
        return
    new = added(text, NEW, arguments=MORE)
    kernels = yaml.safe_load(new)["kernels"]
    assert kernels["old"] == {"args": {"x": "i32", "z": "i32"}}
    assert list(kernels) == ["old", "a/b.py::new"]
    assert gaps_filled(text, new)
