"""Small builders for the fixes' tests: documents, changes and findings without files or Triton."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from triton_mutlint.fixes.document import Document, Edit, Fix, apply
from triton_mutlint.types import Change, Finding, ListKind, Location, Severity

FILE = "kernels.py"


def document(text: str, file: str = FILE) -> Document:
    return Document(file, Path("/project") / file, text, text.encode())


def place_of(text: str, marker: str, file: str = FILE) -> Location:
    """Where `marker` stands in `text`, as reports count."""
    before = text[: text.index(marker)]
    return Location(file, before.count("\n") + 1, len(before.rpartition("\n")[2].encode()) + 1)


def changes(kind: ListKind, place: Location, add: Iterable[str] = (), remove: Iterable[str] = (),
            order: tuple[str, ...] = ()) -> list[Change]:
    return [*(Change(kind, n, True, place, order) for n in add), *(Change(kind, n, False, place) for n in remove)]


def edited(text: str, edits: Iterable[Edit]) -> str:
    result, made = apply(text, [Fix(FILE, Location(FILE, 1), "", tuple(edits), ())])
    assert made
    return result


def finding(*asked: Change, rule: str = "TML905", kernel: str | None = None, parameter: str | None = None,
            place: Location | None = None, suppressed: bool = False, message: str = "what") -> Finding:
    place = place or (asked[0].location if asked else Location(FILE, 1))
    return Finding(rule, "name", Severity.WARNING, message, place, kernel=kernel, parameter=parameter,
                   suppressed=suppressed, changes=asked)
