from __future__ import annotations

import pytest

from tests.helpers.fix_samples import changes, document, edited
from triton_mutlint.fixes.document import CannotFixError
from triton_mutlint.fixes.lists import edit_spec
from triton_mutlint.spec.read import parse_spec
from triton_mutlint.types import ListKind

ORDER = ("a", "b", "c", "on", "t.0")
HEAD = "# specs\nversion: 1\nkernels:\n"


def fix(body: str, add: tuple[str, ...] = (), remove: tuple[str, ...] = (), kernel: str = "k") -> str:
    text = HEAD + body
    entry = next(e for e in parse_spec(text, "s.yaml").kernels if e.pattern == kernel)
    assert entry.mutates_location is not None
    asked = changes(ListKind.SPEC_MUTATES, entry.mutates_location, add, remove, ORDER)
    result = edited(text, edit_spec(document(text, "s.yaml"), entry.mutates_location, asked))
    assert result.startswith(HEAD)
    declared = next(e for e in parse_spec(result, "s.yaml").kernels if e.pattern == kernel).mutates
    assert declared is not None
    expected = ({d.name for d in entry.mutates or ()} | set(add)) - set(remove)
    assert {d.name for d in declared} == expected
    return result.removeprefix(HEAD)


@pytest.mark.parametrize(("before", "add", "after"), [
    ("  k: {mutates: [b]}\n", ("c",), "  k: {mutates: [b, c]}\n"),
    ("  k: {mutates: []}\n", ("c", "b"), "  k: {mutates: [b, c]}\n"),
    ("  k:\n    mutates: [a, c]  # why\n", ("b",), "  k:\n    mutates: [a, b, c]  # why\n"),
    ("  k:\n    mutates:\n      - a  # one\n      - c\n    args: {}\n", ("b",),
     "  k:\n    mutates:\n      - a  # one\n      - b\n      - c\n    args: {}\n"),
    ("  k:\n    mutates:\n    - a  # one", ("c",), "  k:\n    mutates:\n    - a  # one\n    - c"),
    ("  k:\n    mutates:\n    -   a\n", ("c",), "  k:\n    mutates:\n    -   a\n    -   c\n"),
    ("  k:\n    mutates: [\n      a,\n    ]\n  l: {\n  }\n", ("b", "c"),
     "  k:\n    mutates: [a, b, c]\n  l: {\n  }\n"),
    ("  k: {mutates: [a]}\n", ("on",), '  k: {mutates: [a, "on"]}\n'),
    ("  k: {args: {x: [é, ü]}, mutates: [a]}\n", ("c",), "  k: {args: {x: [é, ü]}, mutates: [a, c]}\n"),
    ("  k: {mutates: ['a']}\n", ("t.0",), "  k: {mutates: ['a', t.0]}\n"),
])
def test_names_are_added_where_the_signature_has_them(before: str, add: tuple[str, ...], after: str) -> None:
    assert fix(before, add=add) == after


@pytest.mark.parametrize(("before", "remove", "after"), [
    ("  k: {mutates: [a, b], args: {}}\n", ("a",), "  k: {mutates: [b], args: {}}\n"),
    ("  k: {mutates: ['a', \"b\"]}\n", ("b",), "  k: {mutates: ['a']}\n"),
    ("  k: {mutates: [a]}\n", ("a",), "  k: {mutates: []}\n"),
    ("  k:\n    mutates:\n      - a  # one\n      - b\n", ("a",), "  k:\n    mutates:\n      - b\n"),
    ("  k:\n    mutates:  # what\n      # all\n      - a\n    args: {}\n", ("a",),
     "  k:\n    mutates: []  # what\n      # all\n    args: {}\n"),
    ("  k:\n    mutates:\n    - a\n    - b", ("b",), "  k:\n    mutates:\n    - a"),
    ("  k: {mutates: [a, b]}  # why\n  # next\n", ("b",), "  k: {mutates: [a]}     # why\n  # next\n"),
])
def test_names_are_taken_out(before: str, remove: tuple[str, ...], after: str) -> None:
    assert fix(before, remove=remove) == after


@pytest.mark.parametrize(("body", "reason"), [
    ("  k: {mutates: &m [a]}\n  l: {mutates: *m}\n", "anchor"),
    ("  l: {mutates: &m [a]}\n  k: {mutates: *m}\n", "anchor"),
    ("  k: &k\n    mutates: [a]\n  l: *k\n", "shared"),
    ("  l: &k\n    mutates: [a]\n  k:\n    <<: *k\n", "shared"),
    ("  k:\n    mutates: [\n      a,  # one\n      b,  # two\n    ]\n", "comment stands inside"),
])
def test_a_list_that_others_share_or_that_has_comments_inside_is_left_alone(body: str, reason: str) -> None:
    with pytest.raises(CannotFixError, match=reason):
        fix(body, add=("b",))


def test_line_ends_stay() -> None:
    text = HEAD.replace("\n", "\r\n") + "  k: {mutates: [a]}\r\n"
    place, = [e.mutates_location for e in parse_spec(text, "s.yaml").kernels]
    assert place is not None
    asked = changes(ListKind.SPEC_MUTATES, place, ("b",), (), ORDER)
    assert edited(text, edit_spec(document(text, "s.yaml"), place, asked)) == text.replace("[a]", "[a, b]")


def test_a_pattern_may_hold_for_other_kernels() -> None:
    with pytest.raises(CannotFixError, match="other kernels"):
        fix('  "k*": {mutates: [a]}\n', add=("b",), kernel="k*")
