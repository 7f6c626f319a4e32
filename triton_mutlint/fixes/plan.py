"""From findings to fixes: the changes that they ask for, gathered by the place that has to be edited.

Fixing goes on until nothing is left to fix: edit, analyse what came out, keep only what proved right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from triton_mutlint.config.request import Request
from triton_mutlint.fixes.document import CannotFixError, Document, Edit, Fix, Refusal, apply, request_document
from triton_mutlint.fixes.lists import edit_autotune, edit_ignore, edit_mutates, edit_mutates_args, edit_spec
from triton_mutlint.types import Change, Finding, ListKind, Location, MutlintError, Report, Severity

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


Analyse = Callable[[Request], Report]


@dataclass(frozen=True)
class FixOutcome:
    """What came of it: the documents that change, as they were and as they should be, and the reports on both."""

    changed: tuple[tuple[Document, Document], ...]
    fixed: tuple[Fix, ...]
    refused: tuple[Refusal, ...]
    first: Report
    report: Report


def settle(report: Report, request: Request, analyse: Analyse) -> FixOutcome:
    """Fix what `report` finds, as far as the analysis of the edited texts bears it out.

    Nothing is written. `analyse` is asked for reports on `request` with other texts. Each pass settles some findings or
    gives some up.
    """
    session = _Session(report, request)
    while fixes := [fix for fix in session.plan()[0] if fix.identity not in session.given_up]:
        session.attempt(fixes, analyse)
    return session.outcome(report)


class _Session:
    """The state between passes."""

    def __init__(self, report: Report, request: Request) -> None:
        self._report, self._request = report, request
        self._originals: dict[str, Document] = {}
        self._current: dict[str, Document] = {}
        self._fixed: list[Fix] = []
        self._careful: set[str] = set()  # files in which fixes go one by one
        self.given_up: dict[tuple[object, ...], Refusal] = {}

    def plan(self) -> tuple[list[Fix], list[Refusal]]:
        return plan(self._report.findings, self._document)

    def attempt(self, fixes: Iterable[Fix], analyse: Analyse) -> None:
        """Make the fixes that go together, and keep them if the analysis of what comes out agrees."""
        by_file: dict[str, list[Fix]] = {}
        for fix in fixes:
            if fix.file not in self._careful or fix.file not in by_file:
                by_file.setdefault(fix.file, []).append(fix)
        made: list[Fix] = []
        edited = dict(self._current)
        for name, found in by_file.items():
            text, done = apply(edited[name].text, found)
            edited[name] = edited[name].with_text(text)
            made += done
        try:
            for document in edited.values():
                document.encoded()
            texts = {name: document.text for name, document in edited.items()}
            after = analyse(replace(self._request, texts=texts))
            wrong = _wrong(self._report, after, made)
        except MutlintError as error:  # a spec that cannot be read any more
            wrong = dict.fromkeys(by_file, str(error))
        if wrong:
            self._withdraw(made, wrong)
        else:
            self._current, self._report = edited, after
            self._fixed += made

    def outcome(self, first: Report) -> FixOutcome:
        left = (Refusal((f,), f.unfixed) for f in self._report.active  # no fix is meant to settle these
                if f.unfixed and not f.changes and f.severity is not Severity.INFO)
        pairs = ((self._originals[name], document) for name, document in self._current.items())
        return FixOutcome(tuple((old, new) for old, new in pairs if old.text != new.text), tuple(self._fixed),
                          (*self.plan()[1], *self.given_up.values(), *left), first, self._report)

    def _document(self, name: str, python: bool) -> Document:
        if name not in self._originals:
            self._originals[name] = self._current[name] = request_document(self._request, name, python=python)
        return self._current[name]

    def _withdraw(self, made: Iterable[Fix], wrong: dict[str, str]) -> None:
        """Try the fixes of the files that went wrong one by one, or give up on the one that was tried."""
        for name, reason in wrong.items():
            tried = [fix for fix in made if fix.file == name]
            if len(tried) > 1:
                self._careful.add(name)
            else:
                self.given_up.update((fix.identity, Refusal(fix.findings, reason)) for fix in tried)


def located(refusals: Iterable[Refusal], report: Report) -> tuple[Refusal, ...]:
    """The refusals with their findings where `report` has them: edits move lines."""
    places: dict[object, list[Finding]] = {}
    for finding in report.findings:
        places.setdefault(_key(finding), []).append(finding)

    def in_report(finding: Finding) -> Finding:
        found = places.get(_key(finding), [finding])
        return finding if finding in found else found[0]

    return tuple(replace(refusal, findings=tuple(map(in_report, refusal.findings))) for refusal in refusals)


def _wrong(before: Report, after: Report, made: Iterable[Fix]) -> dict[str, str]:
    """By file that was edited, what speaks against its edits; empty when all went well."""
    files = {fix.file for fix in made}
    targeted = {_key(finding): fix.file for fix in made for finding in fix.findings}
    expected = Counter(_key(finding) for finding in before.active)
    expected -= Counter(_key(finding) for fix in made for finding in fix.findings)
    found: dict[str, str] = {}
    for finding in after.active:
        key = _key(finding)
        expected[key] -= 1
        if expected[key] < 0:
            what = "is still there" if key in targeted else "appears"
            named = {finding.location.file, *(related.location.file for related in finding.related)}
            for name in {targeted[key]} if key in targeted else files & named or files:
                found.setdefault(name, f"after the edit, {finding.rule} {what}: {finding.message}")
    if not found and _verdicts(before) != _verdicts(after):
        found = dict.fromkeys(files, "after the edit, the kernels' verdicts differ")
    return found


def _key(finding: Finding) -> tuple[object, ...]:
    """What a finding is about, wherever its lines have moved."""
    return (finding.rule, finding.location.file, finding.kernel, finding.op, finding.parameter,
            finding.message if not finding.parameter else "", finding.severity)


def _verdicts(report: Report) -> Counter[tuple[object, ...]]:
    """What each kernel was found to write."""
    return Counter((k.location.file, k.name, k.status, k.mutated, k.unknown, k.analyzed_variants)
                   for k in report.kernels)
