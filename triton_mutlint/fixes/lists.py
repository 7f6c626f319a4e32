"""Edits of lists of names, wherever they are written: in comments, in Python and in a spec."""

from __future__ import annotations

import ast
import re
from bisect import bisect
from collections.abc import Iterable, Sequence

from triton_mutlint.basics import MARK
from triton_mutlint.fixes.document import CannotFixError, Document, Edit, replaced
from triton_mutlint.spec.nodes import SpecError
from triton_mutlint.spec.read import parse_spec
from triton_mutlint.types import Change, ListKind, Location

Span = tuple[int, int]


def changed(names: Iterable[str], changes: Iterable[Change]) -> list[str]:
    """`names` without those that go, and with those that come where the signature has them.

    A name comes last where those present are in no order.
    """
    changes = tuple(changes)
    order = max((c.order for c in changes), key=len, default=())
    gone = {c.name for c in changes if not c.add}
    kept = [name for name in names if name not in gone]
    added = {c.name for c in changes if c.add}.difference(kept)
    for name in sorted(added, key=lambda name: (_rank(name, order), name)):
        ranks = [_rank(other, order) for other in kept]
        kept.insert(bisect(ranks, _rank(name, order)) if ranks == sorted(ranks) else len(kept), name)
    return kept


def _rank(name: str, order: Sequence[str]) -> int:
    """The place in the signature; a tuple's name stands for its first element."""
    same = (i for i, parameter in enumerate(order) if parameter == name or parameter.startswith(f"{name}."))
    return next(same, len(order))


def rewritten(text: str, inside: Span, spans: Sequence[Span], items: Sequence[str], is_tuple: bool = False,
              ) -> tuple[Edit, ...]:
    """The edit that writes `items` in place of those at `spans`, on one line or one a line as they are now.

    `inside` is what stands between the brackets. Raises CannotFixError where there is more than items and commas.
    """
    start, end = inside
    spans = spans or [(start, start)]
    starts, ends = [*(first for first, _ in spans), end], [start, *(last for _, last in spans)]
    lead, *gaps, tail = (text[before:after] for before, after in zip(ends, starts, strict=True))
    if lead.strip() or tail.strip() not in ("", ",") or any(gap.strip() != "," for gap in gaps):
        raise CannotFixError("more than commas stands between the names")
    comma = (len(items) == 1 or "\n" in tail) if is_tuple else "," in tail
    separator = gaps[0] if gaps else f",{lead or ' '}"
    new = f"{lead}{separator.join(items)}{',' if comma else ''}{tail.replace(',', '')}" if items else ""
    return replaced(text, start, end, new)


# --------------------------------------------------------------------------- comments

_MUTATES = re.compile(r"\s*mutates\s*=\s*(?P<names>.*)")
_IGNORE = re.compile(r"\s*ignore\s*\[(?P<names>[^]]*)")
_NAME = re.compile(r"[^\s,]+")


def edit_mutates(document: Document, place: Location, changes: Sequence[Change]) -> tuple[Edit, ...]:
    """The edits of a declaring comment; raises CannotFixError."""
    _, body, end = _directive(document, place)
    given = _MUTATES.match(document.text, body, body + len(document.text[body:end].rstrip()))
    if given is None:
        raise CannotFixError("the comment is not there any more")
    names = list(_NAME.finditer(document.text, *given.span("names")))
    items = changed((name[0] for name in names), changes)
    return rewritten(document.text, given.span("names"), [name.span() for name in names], items)


def edit_ignore(document: Document, place: Location, changes: Sequence[Change]) -> tuple[Edit, ...]:
    """The edits that take codes out of a suppression; a comment left without any goes as a whole."""
    start, body, end = _directive(document, place)
    given = _IGNORE.match(document.text, body, end)
    codes = list(_NAME.finditer(document.text, *given.span("names"))) if given else []
    left = changed((code[0] for code in codes), changes)
    if given and left:
        return rewritten(document.text, given.span("names"), [code.span() for code in codes], left)
    first = document.line_start(start)
    before = document.text[first:start].rstrip()
    if end < document.line_end(start):
        return (Edit(start, end),)  # another comment follows
    return (Edit(first + len(before), end) if before else Edit(first, min(end + 1, len(document.text))),)


def _directive(document: Document, place: Location) -> tuple[int, int, int]:
    """Where a directive starts, where its text does (after the mark), and where that ends (before the next `#`)."""
    start = document.offset(place.line, place.column)
    line = document.line_end(start)
    mark = document.text.find(MARK, start, line)
    if not document.text.startswith("#", start) or mark < 0:
        raise CannotFixError("the comment is not there any more")
    following = document.text.find("#", mark, line)
    return start, mark + len(MARK), following if following >= 0 else line


# --------------------------------------------------------------------------- Python

# A list is edited where it is written out; a name that stands for it is a person's business.
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


# --------------------------------------------------------------------------- a spec

def edit_spec(document: Document, place: Location, changes: Sequence[Change]) -> tuple[Edit, ...]:
    """The edit of the `mutates` whose key stands at `place`; raises CannotFixError."""
    from triton_mutlint.spec.write import NoPlaceError, SpecText  # here: most fixes are of Python

    try:
        entries = [e for e in parse_spec(document.text, place.file).kernels if e.mutates_location == place]
    except SpecError as error:
        raise CannotFixError("the spec cannot be read again") from error
    if len(entries) != 1:
        raise CannotFixError("the list is shared by several kernels of the spec")
    if entries[0].is_glob:
        raise CannotFixError(f"`{entries[0].pattern}` may hold for other kernels, too")
    spec = SpecText(document.text)
    try:
        spec.change_names(entries[0].pattern, "mutates", lambda names: changed(names, changes))
    except NoPlaceError as error:
        raise CannotFixError(str(error)) from error
    return replaced(document.text, 0, len(document.text), spec.text)
