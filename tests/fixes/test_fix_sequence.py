from __future__ import annotations

import ast
import io
import tokenize

import pytest
import yaml
from fix_samples import edited
from hypothesis import given
from hypothesis import strategies as st

from triton_mutlint.fixes.edit import CannotFixError
from triton_mutlint.fixes.sequence import Items

NAMES = ["a_ptr", "b", "c", "d"]
GAPS = ["", " ", "\n    ", "  # why\n    ", "\n    # above\n    "]


def items(text: str) -> Items:
    """The items of the one list in `text`."""
    opening, closing = text.index("[") + 1, text.rindex("]")
    spans = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.STRING, tokenize.NAME):
            lines = text.splitlines(keepends=True)
            start = sum(map(len, lines[: token.start[0] - 1])) + token.start[1]
            spans.append((start, start + len(token.string)))
    return Items(text, tuple(spans), opening, closing)


@pytest.mark.parametrize(("before", "after"), [
    ("[]", '["x"]'),
    ("[ ]", '["x" ]'),
    ('["a"]', '["a", "x"]'),
    ('["a", ]', '["a", "x", ]'),
    ('["a","b"]', '["a","b","x"]'),
    ('[\n  "a",\n  "b",  # why\n]', '[\n  "a",\n  "b",  # why\n  "x",\n]'),
    ('[\n  "a",\n  "b"  # why\n]', '[\n  "a",\n  "b",  # why\n  "x"\n]'),
    ('["a",\n "b"]', '["a",\n "b",\n "x"]'),
    ('[\n\t"a"\r\n]', '[\n\t"a",\r\n\t"x"\r\n]'),
])
def test_a_name_goes_to_the_end_in_the_list_s_own_style(before: str, after: str) -> None:
    found = items(before)
    assert edited(before, found.inserted(len(found.spans), ['"x"'])) == after


@pytest.mark.parametrize(("before", "after"), [
    ("[a, b]", "[a, x, b]"),
    ("[a,b]", "[a,x,b]"),
    ("[\n  a,\n  b,  # why\n]", "[\n  a,\n  x,\n  b,  # why\n]"),
    ("[a,\n b]", "[a,\n x, b]"),
])
def test_a_name_goes_between_others(before: str, after: str) -> None:
    assert edited(before, items(before).inserted(1, ["x"])) == after


@pytest.mark.parametrize(("before", "dropped", "after"), [
    ("[a]", {0}, "[]"),
    ("[a, ]", {0}, "[ ]"),
    ("[a, b, c]", {0}, "[b, c]"),
    ("[a, b, c]", {1}, "[a, c]"),
    ("[a, b, c]", {2}, "[a, b]"),
    ("[a, b, c]", {1, 2}, "[a]"),
    ("[a, b, c]", {0, 2}, "[b]"),
    ("[a, b, c,]", {1, 2}, "[a,]"),
    ("[a,\n b]", {1}, "[a]"),
    ("[\n  a,  # one\n  b,  # two\n]", {0}, "[\n  b,  # two\n]"),
    ("[\n  a,  # one\n  b  # two\n]", {1}, "[\n  a,  # one\n]"),
    ("[\n  a,\n]", {0}, "[\n]"),
    ("[\n  a, b,\n  c,\n]", {1, 2}, None),
])
def test_a_name_goes_with_its_comma_and_comment(before: str, dropped: set[int], after: str | None) -> None:
    if after is None:
        with pytest.raises(CannotFixError, match="overlap"):
            items(before).removed(dropped)
    else:
        assert edited(before, items(before).removed(dropped)) == after


def test_a_comment_that_may_speak_of_something_else_stays() -> None:
    with pytest.raises(CannotFixError, match="comment"):
        items("[a,  # these are\n b, c]").removed({0})


@st.composite
def lists(draw: st.DrawFn) -> str:
    text = "[" + draw(st.sampled_from(GAPS))
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=4))
    for i, name in enumerate(names):
        last = i == len(names) - 1
        comma = "," if not last or draw(st.booleans()) else ""
        text += f'"{name}"' + comma + draw(st.sampled_from(GAPS))
    return text + "]"


def comments(text: str) -> list[str]:
    return [t.string for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type == tokenize.COMMENT]


@given(lists(), st.integers(0, 4))
def test_what_is_put_in_is_in_there_and_nothing_else_moves(text: str, index: int) -> None:
    old = ast.literal_eval(text)
    index = min(index, len(old))
    new = edited(text, items(text).inserted(index, ['"x"', '"y"']))
    assert ast.literal_eval(new) == [*old[:index], "x", "y", *old[index:]]
    assert comments(new) == comments(text)


@given(lists(), st.sets(st.integers(0, 3), min_size=1))
def test_what_is_taken_out_is_gone_and_nothing_else(text: str, dropped: set[int]) -> None:
    old = ast.literal_eval(text)
    dropped = {i for i in dropped if i < len(old)}
    try:
        new = edited(text, items(text).removed(dropped))
    except CannotFixError:
        return
    assert ast.literal_eval(new) == [name for i, name in enumerate(old) if i not in dropped]
    assert comments(new).count("# above") == comments(text).count("# above")
    assert yaml.safe_load(new) == ast.literal_eval(new)
