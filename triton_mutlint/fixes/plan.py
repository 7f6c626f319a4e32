"""From findings to fixes: the changes that they ask for, gathered by the place that has to be edited."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from triton_mutlint.config.request import Request
from triton_mutlint.fixes.document import CannotFixError, Document, Edit, Fix, Refusal, request_document
from triton_mutlint.fixes.lists import edit_autotune, edit_ignore, edit_mutates, edit_mutates_args, edit_spec
from triton_mutlint.types import Change, Finding, ListKind, Location

Editor = Callable[[Document, Location, Sequence[Change]], tuple[Edit, ...]]
_EDITORS: dict[ListKind, Editor] = {
    ListKind.SPEC_MUTATES: edit_spec,
    ListKind.COMMENT_MUTATES: edit_mutates,
    ListKind.RESTORE_VALUE: edit_autotune,
    ListKind.RESET_TO_ZERO: edit_autotune,
    ListKind.IGNORE: edit_ignore,
    ListKind.MUTATES_ARGS: edit_mutates_args,
}


@dataclass(frozen=True)
class Replacement:
    """The text from `start` up to `end` becomes `text`; lines and columns count from 1, in characters."""

    start: tuple[int, int]
    end: tuple[int, int]
    text: str


@dataclass(frozen=True)
class Offer:
    """What `--fix` would do to `file` to settle a finding, and perhaps others with it; `message` says it in words."""

    file: str
    message: str
    replacements: tuple[Replacement, ...]


def fixable(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings that say how they are settled and that nobody suppressed."""
    return tuple(finding for finding in findings if finding.changes and not finding.suppressed)


def plan(findings: Iterable[Finding], document_of: Callable[[str, bool], Document]) -> tuple[list[Fix], list[Refusal]]:
    """The fixes of `findings`, and what cannot be done.

    `document_of` gives a file by its name, and whether it is Python. What a list gains comes before what it loses: one
    pass does one of the two, as the one may be right without the other.
    """
    groups: dict[tuple[Editor, Location], list[Finding]] = {}
    for finding in fixable(findings):
        change = finding.changes[0]  # all changes of a finding are of one place
        groups.setdefault((_EDITORS[change.kind], change.location), []).append(finding)
    fixes: list[Fix] = []
    refusals: list[Refusal] = []
    for (editor, place), asked in groups.items():
        try:
            asked = _one_way(asked)
            changes = _changes(asked)
            edits = editor(document_of(place.file, changes[0].kind is not ListKind.SPEC_MUTATES), place, changes)
            if not edits:
                raise CannotFixError("there is nothing to change")
            fixes.append(Fix(place.file, place, _message(changes), edits, tuple(asked)))
        except CannotFixError as error:
            refusals.append(Refusal(tuple(asked), str(error)))
    return fixes, refusals


def offers(findings: Iterable[Finding], request: Request) -> Mapping[Finding, Offer]:
    """The findings that `--fix` would try to settle, each with the edit as it is planned, before it is tried."""
    documents: dict[str, Document] = {}

    def document_of(name: str, python: bool) -> Document:
        if name not in documents:
            documents[name] = request_document(request, name, python=python)
        return documents[name]

    found: dict[Finding, Offer] = {}
    left = fixable(findings)
    while left:  # what a list loses comes in a second pass
        fixes, refusals = plan(left, document_of)
        for fix in fixes:
            found.update(dict.fromkeys(fix.findings, _offer(fix, documents[fix.file])))
        done = {f for fix in fixes for f in fix.findings} | {f for refusal in refusals for f in refusal.findings}
        left = tuple(finding for finding in left if finding not in done)
    return found


def _offer(fix: Fix, document: Document) -> Offer:
    return Offer(fix.file, fix.message, tuple(
        Replacement(document.position(edit.start), document.position(edit.end), document.written(edit.text))
        for edit in sorted(fix.edits)))


def _changes(findings: Iterable[Finding]) -> tuple[Change, ...]:
    return tuple(dict.fromkeys(change for finding in findings for change in finding.changes))


def _one_way(asked: list[Finding]) -> list[Finding]:
    """The findings whose changes can be made at once; raises CannotFixError for contradictions."""
    changes = _changes(asked)
    for change in changes:
        if not change.add and any(c.add and (c.kind, c.name) == (change.kind, change.name) for c in changes):
            raise CannotFixError(f"kernels that share the list disagree about `{change.name}`")
    if {c.kind for c in changes if c.add}.isdisjoint(c.kind for c in changes if not c.add):
        return asked
    return [finding for finding in asked if any(change.add for change in finding.changes)]


def _message(changes: Sequence[Change]) -> str:
    """`add `x_ptr` to `restore_value`, take `y_ptr` out of `reset_to_zero``."""
    parts = []
    for kind, add in dict.fromkeys((c.kind, c.add) for c in sorted(changes, key=lambda c: not c.add)):
        names = dict.fromkeys(f"`{c.name}`" for c in changes if (c.kind, c.add) == (kind, add) and c.name)
        listed = ", ".join(names)
        if listed:
            parts.append(f"add {listed} to {kind.value}" if add else f"take {listed} out of {kind.value}")
        else:
            parts.append(f"remove {kind.value}")
    return ", ".join(parts)
