"""Edits of `@triton.autotune(...)`: the names of `restore_value` and `reset_to_zero`.

libcst gives the arguments with their commas and parentheses. Only what is written out in the
decorator is edited; a name that stands for the list, or `**options`, is a person's business.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from triton_mutlint.fixes.autotune_call import find_autotune
from triton_mutlint.fixes.document import Document
from triton_mutlint.fixes.edit import CannotFixError, Edit, disjoint
from triton_mutlint.fixes.names import Wanted
from triton_mutlint.fixes.sequence import Items
from triton_mutlint.types import Change, ListKind, Location

if TYPE_CHECKING:
    from triton_mutlint.fixes.python_call import Argument, Call

_KEYWORDS = {ListKind.RESTORE_VALUE: "restore_value", ListKind.RESET_TO_ZERO: "reset_to_zero"}
MISSING = "it takes libcst: `pip install 'triton-mutlint[fix]'`"


def edit_decorator(document: Document, place: Location, changes: Iterable[Change]) -> tuple[Edit, ...]:
    """The edits of the autotune decorator on the line of `place`; raises CannotFixError."""
    try:
        from triton_mutlint.fixes.python_call import read_call
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "libcst":
            raise
        raise CannotFixError(MISSING) from error
    changes = tuple(changes)
    editor = _Editor(read_call(document, find_autotune(document, place.line)))
    return disjoint(editor.edits({k: Wanted.of(c for c in changes if c.kind is k) for k in _KEYWORDS}))


class _Editor:
    """Edits the arguments of one call."""

    def __init__(self, call: Call) -> None:
        self._call = call

    def edits(self, wanted: dict[ListKind, Wanted]) -> list[Edit]:
        restore, reset = wanted[ListKind.RESTORE_VALUE], wanted[ListKind.RESET_TO_ZERO]
        old = self._call.argument(_KEYWORDS[ListKind.RESET_TO_ZERO])
        new = self._call.argument(_KEYWORDS[ListKind.RESTORE_VALUE])
        if new is None and old is not None and old.keyword and reset.removed and not reset.added and \
                set(old.names) == reset.removed <= set(restore.added):
            return self._renamed(old, restore)
        edits: list[Edit] = []
        emptied: list[Argument] = []
        for argument, change in ((old, reset), (new, restore)):
            if argument is None or not (change.added or change.removed):
                continue
            if change.removed >= set(argument.names) and not change.missing(argument.names):
                emptied.append(argument)
            else:
                edits += self._changed(argument, change)
        edits += self._without(emptied)
        added = [(kind, change.added) for kind, argument, change in
                 ((ListKind.RESTORE_VALUE, new, restore), (ListKind.RESET_TO_ZERO, old, reset))
                 if argument is None and change.added]
        if added:
            edits += self._added(added, emptied)
        return edits

    def _renamed(self, old: Argument, restore: Wanted) -> list[Edit]:
        """All that was zeroed is to be restored: the list stays, the keyword changes."""
        start = old.span[0]
        assert old.keyword is not None
        keyword = Edit(start, start + len(old.keyword), _KEYWORDS[ListKind.RESTORE_VALUE])
        return [keyword, *self._inserted(old, restore.missing(old.names))]

    def _changed(self, argument: Argument, change: Wanted) -> list[Edit]:
        dropped = [i for i, name in enumerate(argument.names) if name in change.removed]
        added = change.missing(argument.names)
        if not change.removed:
            return self._inserted(argument, added)
        if added:
            raise CannotFixError(f"`{argument.name}` gains and loses names at once")
        if not dropped:
            raise CannotFixError(f"`{argument.name}` is not as it was")
        edits = list(argument.items.removed(dropped))
        kept = [i for i in range(len(argument.names)) if i not in dropped]
        if argument.is_tuple and len(kept) == 1:
            return self._still_a_tuple(argument, kept[0], edits)
        return edits

    def _still_a_tuple(self, argument: Argument, kept: int, edits: list[Edit]) -> list[Edit]:
        """The edits with a comma after the one item that is left, where they take it away."""
        items, end = argument.items, argument.items.spans[kept][1]
        behind = next((edit for edit in edits if edit.start == end), None)
        is_last = kept == len(items.spans) - 1
        trailing = items.text[items.spans[-1][1] : items.closing].lstrip().startswith(",")
        if trailing or (behind is None and not is_last):
            return edits
        return [*(edit for edit in edits if edit != behind), Edit(end, behind.end if behind else end, ",")]

    def _inserted(self, argument: Argument, names: Iterable[str]) -> list[Edit]:
        quoted = [self._call.quoted(name) for name in names]
        if not quoted:
            return []
        if argument.items.spans:
            return list(argument.items.inserted(len(argument.names), quoted))
        if argument.is_list:
            return list(argument.items.inserted(0, quoted))
        start, end = argument.value  # None, or an empty tuple
        return [Edit(start, end, f"[{', '.join(quoted)}]")]

    def _without(self, emptied: list[Argument]) -> list[Edit]:
        edits = [Edit(*argument.value, "None") for argument in emptied if not argument.keyword]
        dropped = [self._call.arguments.index(argument) for argument in emptied if argument.keyword]
        return [*edits, *self._items.removed(dropped)] if dropped else edits

    def _added(self, lists: Iterable[tuple[ListKind, Iterable[str]]], emptied: list[Argument]) -> list[Edit]:
        texts = [f"{_KEYWORDS[kind]}=[{', '.join(map(self._call.quoted, names))}]" for kind, names in lists]
        if emptied and emptied[0].keyword:
            raise CannotFixError("`reset_to_zero` loses its names, and `restore_value` gains others")
        return list(self._items.inserted(len(self._call.arguments), texts))

    @property
    def _items(self) -> Items:
        call = self._call
        return Items(call.text, tuple(a.span for a in call.arguments), call.opening, call.closing)
