"""Edits of a kernel's `mutates` in a spec."""

from __future__ import annotations

from collections.abc import Sequence

from triton_mutlint.fixes.document import Document
from triton_mutlint.fixes.edit import CannotFixError, Edit, replaced
from triton_mutlint.fixes.lists import changed
from triton_mutlint.spec.errors import SpecError
from triton_mutlint.spec.read import parse_spec
from triton_mutlint.types import Change, Location


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
