"""Which lines belong together: multi-line statements, and the headers of functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from triton_mutlint.source.walking import first_line
from triton_mutlint.types import SourceFile, StageError

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Span:
    """Lines `first` to `last`; a comment on one of `anchors` speaks for all of them."""

    first: int
    last: int
    anchors: frozenset[int]


def parse(text: str) -> ast.Module:
    """The syntax tree of `text`; an empty one if it does not parse (the loader reports that)."""
    return tree_of(SourceFile(Path(), "", text))


def tree_of(source: SourceFile) -> ast.Module:
    """The syntax tree of a file, parsed once; as that of `parse`."""
    try:
        return source.tree
    except StageError:
        return ast.Module([], [])


def header(node: FunctionNode) -> Span:
    """From the first decorator to the line before the body (the `def` line, if the body is on it)."""
    first = first_line(node)
    last = max(node.lineno, node.body[0].lineno - 1)
    parts = [*ast.walk(node.args), *([node.returns] if node.returns else [])]
    signature_end = max([node.lineno, *(getattr(part, "end_lineno", None) or 0 for part in parts)])
    closing = min(signature_end + 1, last)  # where a `):` of its own stands
    return Span(first, last, frozenset({*range(first, node.lineno + 1), signature_end, closing}))


def functions(tree: ast.Module) -> list[FunctionNode]:
    """Every function in line order."""
    found = [n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return sorted(found, key=lambda node: node.lineno)


def multi_line(tree: ast.Module) -> list[Span]:
    """The spans of more than one line, shortest first."""
    return sorted((s for s in _spans(tree) if s.last > s.first), key=lambda s: (s.last - s.first, s.first))


def _spans(tree: ast.Module) -> Iterator[Span]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield header(node)
        elif isinstance(node, ast.stmt):
            last = max(node.lineno, _last_line(node))
            yield Span(node.lineno, last, frozenset({node.lineno, last}))


def _last_line(node: ast.stmt) -> int:
    """Of a simple statement, its end; of a compound one, the line before what it holds."""
    if isinstance(node, ast.Match):
        return node.cases[0].pattern.lineno - 1
    body = getattr(node, "body", None)
    return body[0].lineno - 1 if body else node.end_lineno or node.lineno


def covered(line: int, spans: list[Span]) -> tuple[int, int]:
    """The lines that a comment at the end of `line` speaks for."""
    for span in spans:
        if line in span.anchors:
            return span.first, span.last
    return line, line
