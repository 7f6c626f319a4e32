from __future__ import annotations

import ast
import io
import tokenize

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.helpers.fix_samples import changes, edited
from triton_mutlint.fixes.document import CannotFixError
from triton_mutlint.fixes.lists import changed, rewritten
from triton_mutlint.types import ListKind, Location

NAMES = ["a_ptr", "b", "c", "d"]
GAPS = ["", " ", "\n    ", "  # why\n    "]


def written(text: str, *items: str, is_tuple: bool = False) -> str:
    """`text` with `items` in the one list in it."""
    opening, closing = text.index("[") + 1, text.rindex("]")
    spans = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.STRING, tokenize.NAME):
            lines = text.splitlines(keepends=True)
            start = sum(map(len, lines[: token.start[0] - 1])) + token.start[1]
            spans.append((start, start + len(token.string)))
    edits = rewritten(text, (opening, closing), spans, items, is_tuple)
    return edited(text, edits) if edits else text


@pytest.mark.parametrize(("before", "items", "after"), [
    ("[]", "x", "[x]"),
    ("[ ]", "x", "[x ]"),
    ("[a]", "ax", "[a, x]"),
    ("[ a ]", "ax", "[ a, x ]"),
    ("[a, ]", "ax", "[a, x, ]"),
    ("[a,b]", "axb", "[a,x,b]"),
    ("[\n  a,\n  b,\n]", "abx", "[\n  a,\n  b,\n  x,\n]"),
    ("[\n  a\n]", "xa", "[\n  x,\n  a\n]"),
    ("[a,\n b]", "abx", "[a,\n b,\n x]"),
    ("[a, b, c]", "c", "[c]"),
    ("[a, b, c]", "bx", "[b, x]"),
    ("[a,\n b]", "a", "[a]"),
    ("[\n  a,\n  b,\n]", "b", "[\n  b,\n]"),
    ("[\n  a,\n]", "", "[]"),
    ("[a, b]", "ab", "[a, b]"),
])
def test_names_are_written_as_those_before_them(before: str, items: str, after: str) -> None:
    assert written(before, *items) == after


@pytest.mark.parametrize(("before", "items", "after"), [
    ("[a,]", "ax", "[a, x]"), ("[a, b]", "b", "[b,]"), ("[\n a,\n]", "ax", "[\n a,\n x,\n]"),
])
def test_a_tuple_of_one_has_a_comma(before: str, items: str, after: str) -> None:
    assert written(before, *items, is_tuple=True) == after


@pytest.mark.parametrize("text", ["[a,  # why\n b]", "[a, b  # why\n]", "[  # all\n a]", "[  # none\n]", "[(a), b]"])
def test_a_list_that_holds_more_is_left_alone(text: str) -> None:
    with pytest.raises(CannotFixError, match="more than commas"):
        written(text, "a")


@st.composite
def lists(draw: st.DrawFn) -> str:
    text = "[" + draw(st.sampled_from(GAPS))
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=4))
    for i, name in enumerate(names):
        last = i == len(names) - 1
        comma = "," if not last or draw(st.booleans()) else ""
        text += f'"{name}"' + comma + draw(st.sampled_from(GAPS))
    return text + "]"


@settings(suppress_health_check=[HealthCheck.too_slow])  # on a machine that does other things, too
@given(lists(), st.lists(st.sampled_from(NAMES), unique=True))
def test_what_is_written_is_what_is_there(text: str, names: list[str]) -> None:
    try:
        new = written(text, *(f'"{name}"' for name in names))
    except CannotFixError:
        assert "#" in text
        return
    assert ast.literal_eval(new) == names
    assert "#" not in text


ORDER = ("a", "b", "c", "t.0", "t.1")


@pytest.mark.parametrize(("names", "add", "remove", "after"), [
    ("ac", "b", "", "abc"), ("ca", "b", "", "cab"), ("", "cb", "", "bc"), ("c", "t", "", "ct"), ("t", "c", "", "ct"),
    ("abc", "", "b", "ac"), ("ab", "c", "a", "bc"), ("b", "b", "", "b"), ("xa", "", "", "xa"), ("a", "x", "", "ax"),
    ("aab", "", "a", "b"),
])
def test_names_come_where_the_signature_has_them(names: str, add: str, remove: str, after: str) -> None:
    asked = changes(ListKind.RESTORE_VALUE, Location("k.py", 1), add, remove, ORDER)
    assert changed(names, asked) == [*after]
