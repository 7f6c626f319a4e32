"""Edits of the list that a torch op's `mutates_args` is given."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TypeGuard

from triton_mutlint.contracts.spans import parse
from triton_mutlint.fixes.autotune_call import offset_of
from triton_mutlint.fixes.document import Document
from triton_mutlint.fixes.edit import CannotFixError, Edit
from triton_mutlint.fixes.names import Wanted
from triton_mutlint.fixes.sequence import Items
from triton_mutlint.types import Change, Location

Written = ast.List | ast.Tuple | ast.Set | ast.Dict | ast.Constant | ast.Call


def edit_mutates_args(document: Document, place: Location, changes: Iterable[Change]) -> tuple[Edit, ...]:
    """The edits of the list that starts at `place`; raises CannotFixError."""
    wanted = Wanted.of(changes)
    node = _list_at(document, place)
    start, end = _span(document, node)
    elements = [] if isinstance(node, (ast.Constant, ast.Call, ast.Dict)) else node.elts
    names = [e.value for e in elements if isinstance(e, ast.Constant) and isinstance(e.value, str)]
    if len(names) != len(elements):
        raise CannotFixError("`mutates_args` holds more than names")
    quote = "'" if document.text[start:end].count("'") > document.text[start:end].count('"') else '"'
    added = [f"{quote}{name}{quote}" for name in wanted.missing(names)]
    if added and wanted.removed:
        raise CannotFixError("`mutates_args` gains and loses names at once")
    if not elements:
        return (Edit(start, end, _filled(node, added)),) if added else ()
    spans = tuple(_span(document, element) for element in elements)
    if document.text[start] not in "([{" or spans[0][0] == start:
        raise CannotFixError("the list stands without brackets")
    items = Items(document.text, spans, start + 1, end - 1)
    if added:
        return _added(items, added, isinstance(node, ast.Tuple))
    dropped = [i for i, name in enumerate(names) if name in wanted.removed]
    if len(dropped) == len(names):
        return (Edit(start, end, _EMPTY[type(node)]),)
    if isinstance(node, ast.Tuple) and len(names) - len(dropped) == 1:
        (kept,) = (i for i in range(len(names)) if i not in dropped)
        return (Edit(start, end, f"({document.text[slice(*spans[kept])]},)"),)
    return items.removed(dropped)


_MAKERS = ("set", "tuple", "list", "frozenset")
_EMPTY = {ast.List: "[]", ast.Tuple: "()", ast.Set: "()"}


def _added(items: Items, names: list[str], is_tuple: bool) -> tuple[Edit, ...]:
    trailing = items.text[items.spans[-1][1] : items.closing].strip().startswith(",")
    if is_tuple and len(items.spans) == 1 and trailing and "\n" not in items.text[items.opening : items.closing]:
        return (Edit(items.spans[0][1], items.closing, "".join(f", {name}" for name in names)),)
    return items.inserted(len(items.spans), names)


def _filled(node: Written, names: list[str]) -> str:
    inner = ", ".join(names)
    if isinstance(node, ast.List):
        return f"[{inner}]"
    if isinstance(node, (ast.Dict, ast.Call)):
        return f"{{{inner}}}"
    return f"({inner},)" if len(names) == 1 else f"({inner})"


def _list_at(document: Document, place: Location) -> Written:
    """The list written out at a place: brackets of any kind, `None`, `set()`, `{}`."""
    for node in ast.walk(parse(document.normal)):
        here = getattr(node, "lineno", 0) == place.line and getattr(node, "col_offset", -1) == place.column - 1
        if not here:
            continue
        given = [k.value for k in node.keywords if k.arg == "mutates_args"] if isinstance(node, ast.Call) else []
        for value in (node, *given):
            if _is_list(value):
                return value
    raise CannotFixError("`mutates_args` is left out, or not a list written out there")


def _is_list(node: ast.AST) -> TypeGuard[Written]:
    if isinstance(node, ast.Call):
        return not node.args and not node.keywords and ast.unparse(node.func) in _MAKERS
    if isinstance(node, ast.Constant):
        return node.value is None
    return isinstance(node, (ast.List, ast.Tuple, ast.Set)) or (isinstance(node, ast.Dict) and not node.keys)


def _span(document: Document, node: ast.expr) -> tuple[int, int]:
    start = offset_of(document, node.lineno, node.col_offset)
    return start, offset_of(document, node.end_lineno or node.lineno, node.end_col_offset or 0)
