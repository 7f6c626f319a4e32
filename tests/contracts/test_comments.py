"""Reading `# triton-mutlint:` comments."""

from __future__ import annotations

import pytest

from triton_mutlint.contracts.comments import IGNORE, MUTATES, read_comments


def test_nothing_is_read_where_nothing_is_marked() -> None:
    assert read_comments("x = (1  # unclosed, and not Python\n", "f.py").directives == ()


@pytest.mark.parametrize(("comment", "kind", "items"), [
    ("# triton-mutlint: mutates=a,b", MUTATES, ("a", "b")),
    ("#triton-mutlint:mutates = a , ptrs.0,state.x", MUTATES, ("a", "ptrs.0", "state.x")),
    ("# triton-mutlint: mutates=", MUTATES, ()),
    ("# triton-mutlint: mutates=a,a", MUTATES, ("a",)),
    ("# triton-mutlint: mutates=größe", MUTATES, ("größe",)),
    ("# triton-mutlint: mutates=a  # noqa", MUTATES, ("a",)),
    ("# triton-mutlint: ignore[TML201]", IGNORE, ("TML201",)),
    ("# triton-mutlint: ignore [TML201, TML202] read by hand", IGNORE, ("TML201", "TML202")),
    ("# triton-mutlint: ignore", IGNORE, ()),
    ("# triton-mutlint: ignore - generated code", IGNORE, ()),
    ("# type: ignore # triton-mutlint: ignore[TML101]", IGNORE, ("TML101",)),
])
def test_directives(comment: str, kind: str, items: tuple[str, ...]) -> None:
    comments = read_comments(f"x = 1  {comment}\n", "f.py")
    (directive,) = comments.directives
    assert (directive.kind, directive.items, directive.own_line) == (kind, items, False)
    assert comments.problems == ()


def test_two_directives_in_one_comment() -> None:
    found = read_comments("# triton-mutlint: mutates=a  # triton-mutlint: ignore[TML102] soon\n", "f.py").directives
    assert [(d.kind, d.location.column) for d in found] == [(MUTATES, 1), (IGNORE, 30)]


@pytest.mark.parametrize(("comment", "directive", "hint"), [
    ("# triton-mutlint: mutate=a", MUTATES, "did you mean `mutates`?"),
    ("# triton-mutlint: mutates: a", MUTATES, "mutates=a,b"),
    ("# triton-mutlint: mutates=a b", MUTATES, "separate names by commas"),
    ("# triton-mutlint: mutates=a,,b", MUTATES, "separate names by commas"),
    ("# triton-mutlint: mutates=[a]", MUTATES, "separate names by commas"),
    ("# triton-mutlint: ignor[TML201]", IGNORE, "did you mean `ignore`?"),
    ("# triton-mutlint: ignore[TML201", IGNORE, "ignore[TML201]"),
    ("# triton-mutlint: ignore[]", IGNORE, "ignore[TML201]"),
    ("# triton-mutlint: ignore TML201", IGNORE, "ignore[TML201]"),
    ("# triton-mutlint: ignore(tml201)", IGNORE, "ignore[TML201]"),
    ("# triton-mutlint: ignore=TML201", IGNORE, "ignore[TML201]"),
    ("# triton-mutlint: please", IGNORE, "mutates=a,b"),
    ("# triton-mutlint:", IGNORE, "mutates=a,b"),
    ("# triton_mutlint: mutates=a", MUTATES, "write `triton-mutlint:`"),
    ("# Triton-Mutlint: mutates=a", MUTATES, "write `triton-mutlint:`"),
    ("# triton-mutlint : mutates=a", MUTATES, "write `triton-mutlint:`"),
    ("# triton-mutlint mutates=a", MUTATES, "write `triton-mutlint:`"),
    ("# noqa # tritonmutlint: ignore[TML201]", IGNORE, "write `triton-mutlint:`"),
])
def test_what_is_not_understood_is_said(comment: str, directive: str, hint: str) -> None:
    comments = read_comments(f"{comment}\n", "f.py")
    (problem,) = comments.problems
    assert comments.directives == ()
    assert problem.directive == directive
    assert hint in problem.help
    assert problem.message


@pytest.mark.parametrize("comment", ["# triton_mutlint finds this", "# as triton-mutlint ignores it", "# mutlint"])
def test_prose_is_no_directive(comment: str) -> None:
    assert read_comments(f"{comment}\n", "f.py").problems == ()


def test_strings_and_docstrings_are_not_comments() -> None:
    text = '"""\n# triton-mutlint: ignore\n"""\nx = "# triton-mutlint: mutates=a"\n'
    assert read_comments(text, "f.py").directives == ()


def test_a_file_that_does_not_tokenize_gives_what_came_before() -> None:
    found = read_comments("# triton-mutlint: mutates=a\nx = (\n", "f.py").directives
    assert [d.items for d in found] == [("a",)]


def test_columns_count_bytes_from_one() -> None:
    text = "é = 1  # größer  # triton-mutlint: ignore\né  # Triton-mutlint: ignore\n"
    found = read_comments(text, "f.py")
    assert [(d.location.line, d.location.column) for d in found.directives] == [(1, 21)]
    assert [(p.location.line, p.location.column) for p in found.problems] == [(2, 5)]
