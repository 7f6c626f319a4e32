"""Fixing until nothing is left to fix: edit, analyse what came out, keep only what proved right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from triton_mutlint.config.request import Request
from triton_mutlint.fixes.document import Document, Fix, Refusal, apply, request_document
from triton_mutlint.fixes.plan import plan
from triton_mutlint.types import Finding, MutlintError, Report, Severity

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
