"""Edits of lists of names in Python: a torch op's `mutates_args`, and the lists of `@triton.autotune`.

A list is edited where it is written out; a name that stands for it is a person's business.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from triton_mutlint.fixes.document import Document
from triton_mutlint.fixes.edit import CannotFixError, Edit, replaced
from triton_mutlint.fixes.lists import changed, rewritten
from triton_mutlint.types import Change, ListKind, Location

_KEYWORDS = {ListKind.RESET_TO_ZERO: "reset_to_zero", ListKind.RESTORE_VALUE: "restore_value"}
_EMPTY = ("None", "()", "[]", "{}", "set()", "tuple()", "list()", "frozenset()")


def edit_mutates_args(document: Document, place: Location, changes: Sequence[Change]) -> tuple[Edit, ...]:
    """The edits of the list that starts at `place`, or that a call there is given; raises CannotFixError."""
    here = [node for node in ast.walk(document.tree) if isinstance(node, ast.expr)
            and (node.lineno, node.col_offset) == (place.line, place.column - 1)]
    given = [k.value for node in here if isinstance(node, ast.Call) for k in node.keywords if k.arg == "mutates_args"]
    for node in (*here, *given):
        if _is_list(node):
            return _edit(document, node, changes)
    raise CannotFixError("`mutates_args` is left out, or not a list of names written out there")


def edit_autotune(document: Document, place: Location, changes: Sequence[Change]) -> tuple[Edit, ...]:
    """The edits of the decorator on the line of `place`; raises CannotFixError."""
    call = _decorator(document, place.line)
    edits: list[Edit] = []
    missing = []
    for kind, name in _KEYWORDS.items():
        asked = [change for change in changes if change.kind is kind]
        given = next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
        if given is not None and asked:
            if not _is_list(given):
                raise CannotFixError(f"`{name}` is not a list of names written out in the decorator")
            edits += _edit(document, given, asked)
        elif added := changed((), asked):
            missing.append(f"{name}=[{', '.join(_quoted(document, call, added))}]")
    return (*edits, *(_arguments(document, call, missing) if missing else ()))


def _decorator(document: Document, line: int) -> ast.Call:
    for node in ast.walk(document.tree):
        for decorator in getattr(node, "decorator_list", ()):
            if decorator.lineno == line and isinstance(decorator, ast.Call):
                return decorator
    raise CannotFixError("the kernel is not autotuned by a call that is its decorator")


def _is_list(node: ast.expr) -> bool:
    elements = getattr(node, "elts", [])
    return all(isinstance(e, ast.Constant) and isinstance(e.value, str) for e in elements) and (
        bool(elements) or ast.unparse(node) in _EMPTY)


def _edit(document: Document, node: ast.expr, changes: Sequence[Change]) -> tuple[Edit, ...]:
    """The edit of a list of names; `None` and `set()` become `[...]`, and a set that is left empty does."""
    start, end = document.span(node)
    written = {e.value: document.span(e) for e in getattr(node, "elts", [])}
    names = changed(written, changes)
    items = [document.text[slice(*written[name])] if name in written else _quoted(document, node, [name])[0]
             for name in names]
    is_bracketed = document.text[start] + document.text[end - 1] in ("[]", "()", "{}")
    if written and not is_bracketed:
        raise CannotFixError("the list stands without brackets")
    if not is_bracketed or (isinstance(node, ast.Set) and not items):
        return replaced(document.text, start, end, f"[{', '.join(items)}]")
    return rewritten(document.text, (start + 1, end - 1), [*written.values()], items, isinstance(node, ast.Tuple))


def _quoted(document: Document, node: ast.expr, names: Sequence[str]) -> list[str]:
    """String literals as `node` writes them."""
    text = document.text[slice(*document.span(node))]
    quote = "'" if text.count("'") > text.count('"') else '"'
    return [f"{quote}{name}{quote}" for name in names]


def _arguments(document: Document, call: ast.Call, arguments: Sequence[str]) -> tuple[Edit, ...]:
    """The edits that put arguments after the last one of a call; on lines of their own if the bracket has one."""
    given: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    last = max(map(document.span, given), default=None, key=lambda span: span[1])
    close = document.span(call)[1] - 1
    if last is None:
        return (Edit(close, close, ", ".join(arguments)),)
    tail = document.text[last[1] : close]
    comma = "," if tail.lstrip().startswith(",") else ""
    if "\n" not in tail:
        return (Edit(last[1], last[1], "".join(f", {argument}" for argument in arguments)),)
    line = document.text[document.line_start(last[0]) :]
    indent = line[: len(line) - len(line.lstrip())]
    place = document.line_start(close)
    new = ",\n".join(f"{indent}{argument}" for argument in arguments)
    return (*(() if comma else (Edit(last[1], last[1], ","),)), Edit(place, place, f"{new}{comma}\n"))
