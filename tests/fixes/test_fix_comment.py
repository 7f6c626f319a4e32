from __future__ import annotations

import pytest

from tests.helpers.fix_samples import changes, document, edited, place_of
from triton_mutlint.contracts.comments import read_comments
from triton_mutlint.fixes.document import CannotFixError
from triton_mutlint.fixes.lists import edit_ignore, edit_mutates
from triton_mutlint.types import ListKind

ORDER = ("a", "b", "c", "t.0", "t.1")


def mutates(text: str, add: tuple[str, ...] = (), remove: tuple[str, ...] = ()) -> str:
    place = place_of(text, "# triton-mutlint: mutates")
    asked = changes(ListKind.COMMENT_MUTATES, place, add, remove, ORDER)
    return edited(text, edit_mutates(document(text), place, asked))


def ignore(text: str, *codes: str) -> str:
    directive = read_comments(text, "kernels.py").directives[0]
    asked = changes(ListKind.IGNORE, directive.location, remove=codes)
    return edited(text, edit_ignore(document(text), directive.location, asked))


@pytest.mark.parametrize(("before", "add", "after"), [
    ("mutates=b", ("c",), "mutates=b,c"),
    ("mutates=b", ("a",), "mutates=a,b"),
    ("mutates=b", ("a", "c"), "mutates=a,b,c"),
    ("mutates=a, c", ("b",), "mutates=a, b,c"),
    ("mutates=c,a", ("b",), "mutates=c,a,b"),
    ("mutates=", ("a", "b"), "mutates=a,b"),
    ("mutates = b  ", ("c",), "mutates = b,c  "),
    ("mutates=b  # noqa", ("c",), "mutates=b,c  # noqa"),
    ("mutates=t", ("c",), "mutates=c,t"),
])
def test_names_are_added_in_the_order_of_the_signature(before: str, add: tuple[str, ...], after: str) -> None:
    head, tail = "x = 1  # triton-mutlint: ", "\nnext_line\n"
    result = mutates(head + before + tail, add)
    assert result.replace(" ", "") == (head + after + tail).replace(" ", "")
    assert result.startswith(head)
    assert result.endswith(tail)


@pytest.mark.parametrize(("before", "remove", "after"), [
    ("mutates=a,b,c", ("b",), "mutates=a,c"),
    ("mutates=a, b", ("a",), "mutates=b"),
    ("mutates=a, b", ("b",), "mutates=a"),
    ("mutates=a  # noqa", ("a",), "mutates=  # noqa"),
    ("mutates=t.0,a", ("t.0",), "mutates=a"),
])
def test_names_are_taken_out(before: str, remove: tuple[str, ...], after: str) -> None:
    assert mutates(f"# triton-mutlint: {before}\n", remove=remove) == f"# triton-mutlint: {after}\n"


@pytest.mark.parametrize(("before", "codes", "after"), [
    ("x  # triton-mutlint: ignore[TML201, TML202] why\n", ["TML202"], "x  # triton-mutlint: ignore[TML201] why\n"),
    ("x  # triton-mutlint: ignore[TML201,TML202] why\n", ["TML201"], "x  # triton-mutlint: ignore[TML202] why\n"),
    ("x  # triton-mutlint: ignore[TML201,TML9,TML202]\n", ["TML201", "TML202"], "x  # triton-mutlint: ignore[TML9]\n"),
    ("x  # triton-mutlint: ignore[TML1, TML1, TML2]\n", ["TML1"], "x  # triton-mutlint: ignore[TML2]\n"),
    ("x  # triton-mutlint: ignore[TML201] why\ny\n", ["TML201"], "x\ny\n"),
    ("x  # triton-mutlint: ignore[TML201]", ["TML201"], "x"),
    ("x\n  # triton-mutlint: ignore[TML201] why\ny\n", ["TML201"], "x\ny\n"),
    ("x\n# triton-mutlint: ignore[TML201]", ["TML201"], "x\n"),
    ("x  # noqa  # triton-mutlint: ignore[TML201] why\n", ["TML201"], "x  # noqa\n"),
    ("x  # triton-mutlint: ignore[TML201] why # noqa\n", ["TML201"], "x  # noqa\n"),
    ("x  # triton-mutlint: ignore and so on\n", [""], "x\n"),
    ("  ## triton-mutlint: ignore\nx\n", [""], "x\n"),
    ("x = '#'  # triton-mutlint: ignore\n", [""], "x = '#'\n"),
    ("é = 1  # triton-mutlint: ignore\n", [""], "é = 1\n"),
])
def test_idle_codes_go_and_a_comment_without_any_goes_as_a_whole(before: str, codes: list[str], after: str) -> None:
    assert ignore(before, *codes) == after


def test_a_comment_that_is_not_there_is_not_edited() -> None:
    text = "x  # triton-mutlint: ignore[TML201]\n"
    place = place_of(text, "x")
    with pytest.raises(CannotFixError):
        edit_ignore(document(text), place, changes(ListKind.IGNORE, place, remove=["TML201"]))
    with pytest.raises(CannotFixError):
        edit_mutates(document(text), place_of(text, "#"), [])
