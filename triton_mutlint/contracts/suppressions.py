"""`# triton-mutlint: ignore[...]` comments and the lines that they cover."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from triton_mutlint.basics import nearest_rule
from triton_mutlint.contracts.comments import IGNORE, CommentProblem, Comments, Directive, read_comments
from triton_mutlint.contracts.spans import Span, covered, multi_line, tree_of
from triton_mutlint.types import Location, SourceFile


@dataclass(frozen=True)
class Suppression:
    """One comment: `codes` (empty: every rule) are not reported on lines `first` to `last`."""

    codes: tuple[str, ...]
    location: Location
    first: int
    last: int

    def covers(self, code: str, line: int) -> bool:
        """Whether a finding of rule `code` on `line` of the comment's file is suppressed."""
        return self.first <= line <= self.last and (not self.codes or code in self.codes)


@dataclass(frozen=True)
class Suppressions:
    """The suppressions of one file, and the comments that were meant as one."""

    items: tuple[Suppression, ...] = ()
    problems: tuple[CommentProblem, ...] = ()


def read_suppressions(source: SourceFile, known: Mapping[str, str]) -> Suppressions:
    """The suppressions in `source.text`; `known` maps the valid codes to their rules' names.

    A comment covers its own line, the statement whose first or last line it ends, and, on a line
    of its own, the statement directly below. In a function's header it covers the whole header.
    """
    comments = read_comments(source.text, source.display)
    problems = [p for p in comments.problems if p.directive == IGNORE]
    wanted = [d for d in comments.directives if d.kind == IGNORE]
    if not wanted:
        return Suppressions((), tuple(problems))
    spans = multi_line(tree_of(source))
    lines = source.text.split("\n")
    items: list[Suppression] = []
    for directive in wanted:
        problems += _unknown_codes(directive, known)
        codes = tuple(code for code in directive.items if code in known)
        if codes or not directive.items:
            first, last = _lines(directive, comments, spans, lines)
            items.append(Suppression(codes, directive.location, first, last))
    return Suppressions(tuple(items), tuple(problems))


def _lines(directive: Directive, comments: Comments, spans: list[Span], lines: list[str]) -> tuple[int, int]:
    line = directive.location.line
    if not directive.own_line:
        return covered(line, spans)
    target = line + 1
    while target in comments.comment_lines:
        target += 1
    if target > len(lines) or not lines[target - 1].strip():
        return line, line
    first, last = covered(target, spans)
    return min(line, first), last


def _unknown_codes(directive: Directive, known: Mapping[str, str]) -> list[CommentProblem]:
    found = []
    for item in directive.items:
        if item not in known:
            message = f"`{item}` is no rule, so nothing is suppressed by it"
            found.append(CommentProblem(message, directive.location, IGNORE, _meant(item, known)))
    return found


def _meant(item: str, known: Mapping[str, str]) -> str:
    meant = nearest_rule(item, known)
    code = next((code for code, name in known.items() if name == meant), meant)
    return f"did you mean `{code}`?" if code else "`triton-mutlint rules` lists the codes"
