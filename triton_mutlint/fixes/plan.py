"""From findings to fixes: the changes that they ask for, gathered by the place that has to be edited."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from triton_mutlint.fixes.comment import edit_ignore, edit_mutates
from triton_mutlint.fixes.decorator import edit_decorator
from triton_mutlint.fixes.document import Document
from triton_mutlint.fixes.edit import CannotFixError, Edit, Fix, Refusal
from triton_mutlint.fixes.op_list import edit_mutates_args
from triton_mutlint.fixes.spec_list import edit_spec
from triton_mutlint.types import Change, Finding, ListKind, Location

Editor = Callable[[Document, Location, Iterable[Change]], tuple[Edit, ...]]
_EDITORS: dict[ListKind, Editor] = {
    ListKind.SPEC_MUTATES: edit_spec,
    ListKind.COMMENT_MUTATES: edit_mutates,
    ListKind.RESTORE_VALUE: edit_decorator,
    ListKind.RESET_TO_ZERO: edit_decorator,
    ListKind.IGNORE: edit_ignore,
    ListKind.MUTATES_ARGS: edit_mutates_args,
}


@dataclass(frozen=True)
class FixPlan:
    """What can be done in one pass, and what cannot be done at all."""

    fixes: tuple[Fix, ...] = ()
    refusals: tuple[Refusal, ...] = ()


def fixable(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings that say how they are settled and that nobody suppressed."""
    return tuple(finding for finding in findings if finding.changes and not finding.suppressed)


def plan(findings: Iterable[Finding], document_of: Callable[[str, bool], Document]) -> FixPlan:
    """The fixes of `findings`; `document_of` gives a file by its name, and whether it is Python.

    What a list gains comes before what it loses: one pass does one of the two.
    """
    fixes: list[Fix] = []
    refusals: list[Refusal] = []
    for editor, place, asked in _grouped(findings):
        changes = tuple(dict.fromkeys(c for f in asked for c in f.changes))
        try:
            asked, changes = _one_way(asked, changes)
            document = document_of(place.file, changes[0].kind is not ListKind.SPEC_MUTATES)
            edits = editor(document, place, changes)
            if not edits:
                raise CannotFixError("there is nothing to change")
            fixes.append(Fix(place.file, place, _message(changes), edits, asked, changes))
        except CannotFixError as error:
            refusals.append(Refusal(asked, str(error)))
    return FixPlan(tuple(fixes), tuple(refusals))


def _grouped(findings: Iterable[Finding]) -> list[tuple[Editor, Location, tuple[Finding, ...]]]:
    groups: dict[tuple[Editor, Location], list[Finding]] = {}
    for finding in fixable(findings):
        change = finding.changes[0]  # all changes of a finding are of one place
        groups.setdefault((_EDITORS[change.kind], change.location), []).append(finding)
    return [(editor, place, tuple(found)) for (editor, place), found in groups.items()]


def _one_way(asked: tuple[Finding, ...],
             changes: tuple[Change, ...]) -> tuple[tuple[Finding, ...], tuple[Change, ...]]:
    """The part of the changes that can be made at once; raises CannotFixError for contradictions."""
    for change in changes:
        if not change.add and any(c.add and (c.kind, c.name) == (change.kind, change.name) for c in changes):
            raise CannotFixError(f"kernels that share the list disagree about `{change.name}`")
    both = {c.kind for c in changes if c.add} & {c.kind for c in changes if not c.add}
    if not both:
        return asked, changes
    first = tuple(finding for finding in asked if any(c.add for c in finding.changes))
    return first, tuple(dict.fromkeys(c for f in first for c in f.changes))


def _message(changes: Iterable[Change]) -> str:
    """`add `x_ptr` to `restore_value`, take `y_ptr` out of `reset_to_zero``."""
    changes = tuple(changes)
    parts = []
    for kind in dict.fromkeys(c.kind for c in changes):
        for add in (True, False):
            names = [c.name for c in changes if c.kind is kind and c.add is add]
            listed = ", ".join(f"`{name}`" for name in dict.fromkeys(names) if name)
            if names and not listed:
                parts.append(f"remove {kind.value}")
            elif names:
                parts.append(f"add {listed} to {kind.value}" if add else f"take {listed} out of {kind.value}")
    return ", ".join(parts)
