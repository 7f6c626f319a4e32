"""What a kernel is declared to write: the spec's `mutates`, or a comment."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from triton_mutlint.contracts.comments import (
    MUTATES,
    CommentProblem,
    Comments,
    Directive,
    FunctionNode,
    Span,
    functions,
    header,
    read_comments,
    tree_of,
)
from triton_mutlint.spec.model import KernelSpec
from triton_mutlint.types import Change, Kernel, ListKind, Location, SourceFile

SPEC, COMMENT = "spec", "comment"


@dataclass(frozen=True)
class KernelDeclaration:
    """The parameters that a kernel says it writes.

    `mutates` may name tuple elements (`ptrs.0`, `state.x`) or a whole tuple (`ptrs`);
    `locations` are their places, one each, and `location` that of the declaration.
    """

    mutates: tuple[str, ...]
    location: Location
    origin: str  # "spec" | "comment"
    locations: tuple[Location, ...] = ()

    def place_of(self, name: str) -> Location:
        """Where `name` is declared."""
        places = dict(zip(self.mutates, self.locations, strict=False))
        return places.get(name, self.location)

    def names(self, parameter: str) -> bool:
        """Whether `parameter` (`ptrs.0`) is declared, by itself or with the tuple it is part of."""
        return any(covers(name, parameter) for name in self.mutates)


@dataclass(frozen=True)
class DeclarationComments:
    """The declaring comments of one file, by the line of the `def` they belong to."""

    by_line: Mapping[int, KernelDeclaration] = field(default_factory=dict)
    problems: tuple[CommentProblem, ...] = ()


def covers(declared: str, parameter: str) -> bool:
    """Whether declaring `declared` declares `parameter`: itself, or a tuple that holds it."""
    return parameter == declared or parameter.startswith(f"{declared}.")


def change_of(declared: KernelDeclaration, name: str, parameters: Sequence[str], *, add: bool) -> Change:
    """The change that adds `name` to what is declared, or takes it out."""
    kind = ListKind.SPEC_MUTATES if declared.origin == SPEC else ListKind.COMMENT_MUTATES
    place = declared.place_of(name) if declared.origin == COMMENT and not add else declared.location
    return Change(kind, name, add, place, tuple(parameters))


def from_spec(entry: KernelSpec | None) -> KernelDeclaration | None:
    """What a spec entry declares; None if it has no `mutates`."""
    if entry is None or entry.mutates is None:
        return None
    location = entry.mutates_location or entry.location
    names = tuple(d.name for d in entry.mutates)
    return KernelDeclaration(names, location, SPEC, tuple(d.location for d in entry.mutates))


def declaration_of(kernel: Kernel, source: SourceFile | None, entry: KernelSpec | None) -> KernelDeclaration | None:
    """What holds for `kernel`: the spec's `mutates` if there is one, else its comment's.

    `source` is the file that the kernel's `def` stands in, if it is among those linted.
    """
    declared = from_spec(entry)
    if declared is not None or source is None:
        return declared
    return read_declarations(source).by_line.get(kernel.location.line)


@lru_cache(maxsize=16)  # asked for once per kernel of a file
def read_declarations(source: SourceFile) -> DeclarationComments:
    """The declaring comments of a file.

    A comment belongs to a function when it stands directly above it or its decorators, in its
    header, or before the first statement of its body (a docstring may come first).
    """
    comments = read_comments(source.text, source.display)
    problems = [p for p in comments.problems if p.directive == MUTATES]
    wanted = [d for d in comments.directives if d.kind == MUTATES]
    if not wanted:
        return DeclarationComments(problems=tuple(problems))
    owned = [(node, header(node)) for node in reversed(functions(tree_of(source)))]
    found: dict[int, list[Directive]] = {}
    for directive in wanted:
        owner = next((node for node, span in owned if _belongs(directive, node, span, comments)), None)
        if owner is None:
            help_ = "put it above the decorators, on the `def` line, or first in the body"
            message = "the declaration belongs to no function"
            problems.append(CommentProblem(message, directive.location, MUTATES, help_))
        else:
            found.setdefault(owner.lineno, []).append(directive)
    by_line = {line: _merged(directives) for line, directives in found.items()}
    return DeclarationComments(by_line, tuple(problems))


def _belongs(directive: Directive, node: FunctionNode, span: Span, comments: Comments) -> bool:
    """Whether a comment stands at a function whose header has the lines of `span`."""
    line = directive.location.line
    if line > (node.end_lineno or node.lineno):
        return False
    first = span.first
    while first - 1 in comments.comment_lines:
        first -= 1
    return first <= line <= _before_body(node) and (directive.own_line or line >= span.first)


def _before_body(node: FunctionNode) -> int:
    """The last line that still counts as first in the body."""
    statements = node.body if ast.get_docstring(node, clean=False) is None else node.body[1:]
    if statements:
        return max(node.lineno, statements[0].lineno - 1)
    return node.end_lineno or node.lineno


def _merged(directives: list[Directive]) -> KernelDeclaration:
    places = {name: d.location for d in reversed(directives) for name in d.items}
    names = tuple(dict.fromkeys(name for d in directives for name in d.items))
    return KernelDeclaration(names, directives[0].location, COMMENT, tuple(places[name] for name in names))
