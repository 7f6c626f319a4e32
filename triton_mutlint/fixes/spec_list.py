"""Edits of a kernel's `mutates` in a spec."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile

from triton_mutlint.fixes.document import Document
from triton_mutlint.fixes.edit import CannotFixError, Edit
from triton_mutlint.fixes.names import Wanted
from triton_mutlint.spec.errors import SpecError
from triton_mutlint.spec.model import KernelSpec
from triton_mutlint.spec.read import parse_spec
from triton_mutlint.types import Change, Location


def edit_spec(document: Document, place: Location, changes: Iterable[Change]) -> tuple[Edit, ...]:
    """The edit of the `mutates` whose key stands at `place`; raises CannotFixError."""
    from triton_mutlint.spec.write import NoPlaceError, SpecText  # here: most fixes are of Python

    wanted = Wanted.of(changes)
    entry = _entry_at(document, place)
    if entry.is_glob:
        raise CannotFixError(f"`{entry.pattern}` may hold for other kernels, too")

    def change(names: list[str]) -> list[str]:
        names = [name for name in names if name not in wanted.removed]
        for name in wanted.missing(names):
            names.insert(wanted.place(name, names), name)
        return names

    spec = SpecText(document.text)
    try:
        spec.change_names(entry.pattern, "mutates", change)
    except NoPlaceError as error:
        raise CannotFixError(str(error)) from error
    return _difference(document.text, spec.text)


def _entry_at(document: Document, place: Location) -> KernelSpec:
    """The one entry whose `mutates` stands at `place`."""
    try:
        entries = parse_spec(document.text, place.file).kernels
    except SpecError as error:
        raise CannotFixError("the spec cannot be read again") from error
    found = [entry for entry in entries if entry.mutates_location == place]
    if len(found) != 1:
        raise CannotFixError("the list is shared by several kernels of the spec")
    return found[0]


def _difference(old: str, new: str) -> tuple[Edit, ...]:
    """The one edit that makes `new` of `old`."""
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    return () if old == new else (Edit(head, len(old) - tail, new[head : len(new) - tail]),)


def _common(one: str, other: str) -> int:
    """How many characters both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
