"""What a fix is: edits of one file's text, and the findings that they settle."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile

from triton_mutlint.types import Finding, Location, MutlintError


@dataclass(frozen=True, order=True)
class Edit:
    """Characters `start` to `end` (exclusive, of the decoded text) become `text`."""

    start: int
    end: int
    text: str = ""


@dataclass(frozen=True)
class Fix:
    """The edits of one list (or one decorator's lists) in `file`; `message` says what they do."""

    file: str
    location: Location
    message: str
    edits: tuple[Edit, ...]
    findings: tuple[Finding, ...]

    @property
    def identity(self) -> tuple[object, ...]:
        """What tells it from the other fixes of a run, wherever it stands after other edits."""
        named = sorted((f.rule, f.kernel or "", f.parameter or "") for f in self.findings)
        return (self.file, self.message, tuple(named), self.location.column)


@dataclass(frozen=True)
class Refusal:
    """Findings that ask for a change that was not made, and why not."""

    findings: tuple[Finding, ...]
    reason: str


class CannotFixError(MutlintError):
    """The place is not written in a way that can be edited without guessing; says why."""


def replaced(text: str, start: int, end: int, new: str) -> tuple[Edit, ...]:
    """The smallest edit that puts `new` in place of a part of `text`; none where it stands there already."""
    old = text[start:end]
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    return () if old == new else (Edit(start + head, end - tail, new[head : len(new) - tail]),)


def _common(one: str, other: str) -> int:
    """How many characters both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def apply(text: str, fixes: Iterable[Fix]) -> tuple[str, tuple[Fix, ...]]:
    """`text` after the fixes, and those that were made: one that overlaps an earlier one has to wait."""
    taken: list[Edit] = []
    made: list[Fix] = []
    for fix in fixes:
        if not any(_overlap(edit, other) for edit in fix.edits for other in taken):
            taken += fix.edits
            made.append(fix)
    for edit in sorted(taken, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text, tuple(made)


def _overlap(one: Edit, other: Edit) -> bool:
    first, second = sorted((one, other))
    return first.start == second.start or second.start < first.end  # two insertions at one place have no order
