"""Fixing until nothing is left to fix: edit, analyse what came out, keep only what proved right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from triton_mutlint.config.request import Request
from triton_mutlint.fixes.document import Document, request_document
from triton_mutlint.fixes.edit import CannotFixError, Fix, Refusal, apply
from triton_mutlint.fixes.plan import FixPlan, plan
from triton_mutlint.types import EMPTY, Finding, MutlintError, Report, Severity

MAX_PASSES = 64  # analyses of the run, each of which settles something or gives something up

Analyse = Callable[[Request], Report]
Key = tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """What came of it: the documents as they should be, and the report on them."""

    changed: tuple[Document, ...]
    fixed: tuple[Fix, ...]
    refused: tuple[Refusal, ...]
    report: Report
    originals: Mapping[str, Document] = EMPTY
    first: Report | None = None  # the report on the documents as they were

    def original(self, document: Document) -> str:
        """The text that a changed document had."""
        text: str = self.originals[document.display].text
        return text


def settle(report: Report, request: Request, analyse: Analyse) -> Outcome:
    """Fix what `report` finds, as far as the analysis of the edited texts bears it out.

    Nothing is written. `analyse` is asked for reports on `request` with other texts.
    """
    session = _Session(report, request, analyse)
    while session.step():
        pass
    return session.outcome()


class _Session:
    """The state between passes."""

    def __init__(self, report: Report, request: Request, analyse: Analyse) -> None:
        self._first = self._report = report
        self._request, self._analyse = request, analyse
        self._originals: dict[str, Document] = {}
        self._current: dict[str, Document] = {}
        self._fixed: list[Fix] = []
        self._given_up: dict[tuple[object, ...], Refusal] = {}
        self._careful: set[str] = set()  # files in which fixes go one by one
        self._passes = 0

    def step(self) -> bool:
        """One pass; whether another one may do more."""
        fixes = [fix for fix in self._plan().fixes if fix.identity not in self._given_up]
        if not fixes:
            return False
        self._passes += 1
        if self._passes > MAX_PASSES:
            self._give_up(fixes, "too many passes were needed")
            return False
        made, edited = self._edit(fixes)
        if not made:
            return bool(fixes)
        try:
            after = self._analyse(replace(self._request, texts=_texts({**self._current, **edited})))
            wrong = _wrong(self._report, after, made)
        except MutlintError as error:  # a spec that cannot be read any more
            wrong = dict.fromkeys(edited, str(error))
        if wrong:
            self._withdraw(made, wrong)
        else:
            self._current.update(edited)
            self._fixed += made
            self._report = after
        return True

    def outcome(self) -> Outcome:
        refused = [*(r for r in self._plan().refusals if r.findings), *self._given_up.values(), *self._left()]
        changed = tuple(d for name, d in self._current.items() if d.text != self._originals[name].text)
        return Outcome(changed, tuple(self._fixed), tuple(refused), self._report, self._originals, self._first)

    def _left(self) -> Iterator[Refusal]:
        """The findings that no fix is meant to settle, and why."""
        for finding in self._report.findings:
            if finding.unfixed and not finding.changes and not finding.suppressed and \
                    finding.severity is not Severity.INFO:
                yield Refusal((finding,), finding.unfixed)

    def _plan(self) -> FixPlan:
        return plan(self._report.findings, self._document)

    def _document(self, name: str, python: bool) -> Document:
        if name not in self._originals:
            self._originals[name] = self._current[name] = request_document(self._request, name, python=python)
        return self._current[name]

    def _edit(self, fixes: Iterable[Fix]) -> tuple[list[Fix], dict[str, Document]]:
        """The fixes that go together, and what their files become."""
        by_file: dict[str, list[Fix]] = {}
        for fix in fixes:
            by_file.setdefault(fix.file, []).append(fix)
        made: list[Fix] = []
        edited: dict[str, Document] = {}
        for name, found in by_file.items():
            wanted = found[:1] if name in self._careful else found
            text, done = apply(self._current[name].text, wanted)
            document = self._current[name].with_text(text)
            try:
                document.encoded()
            except CannotFixError as error:
                self._give_up(wanted, str(error))
                continue
            made += done
            edited[name] = document
        return made, edited

    def _withdraw(self, made: Iterable[Fix], wrong: dict[str, str]) -> None:
        """Try the fixes of the files that went wrong one by one, or give up on the one that was tried."""
        for name, reason in wrong.items():
            tried = [fix for fix in made if fix.file == name]
            if len(tried) > 1:
                self._careful.add(name)
            else:
                self._give_up(tried, reason)

    def _give_up(self, fixes: Iterable[Fix], reason: str) -> None:
        for fix in fixes:
            self._given_up[fix.identity] = Refusal(fix.findings, reason)


def located(refusals: Iterable[Refusal], report: Report) -> tuple[Refusal, ...]:
    """The refusals with their findings where `report` has them: edits move lines."""
    places: dict[Key, list[Finding]] = {}
    for finding in report.findings:
        places.setdefault(_key(finding), []).append(finding)

    def in_report(finding: Finding) -> Finding:
        found = places.get(_key(finding), [finding])
        return finding if finding in found else found[0]

    return tuple(Refusal(tuple(in_report(f) for f in refusal.findings), refusal.reason) for refusal in refusals)


def _texts(documents: dict[str, Document]) -> dict[str, str]:
    return {name: document.normal for name, document in documents.items()}


def _wrong(before: Report, after: Report, made: Iterable[Fix]) -> dict[str, str]:
    """By file that was edited, what speaks against its edits; empty when all went well."""
    made = tuple(made)
    files = {fix.file for fix in made}
    found: dict[str, str] = {}
    expected = Counter(_key(f) for f in before.findings if not f.suppressed)
    expected -= Counter(_key(f) for fix in made for f in fix.findings)
    targeted = {_key(f) for fix in made for f in fix.findings}
    for finding in after.findings:
        key = _key(finding)
        if finding.suppressed:
            continue
        if expected[key] > 0:
            expected[key] -= 1
            continue
        what = "is still there" if key in targeted else "appears"
        for name in _blamed(finding, made, files):
            found.setdefault(name, f"after the edit, {finding.rule} {what}: {finding.message}")
    if not found and _verdicts(before) != _verdicts(after):
        found = dict.fromkeys(files, "after the edit, the kernels' verdicts differ")
    return found


def _blamed(finding: Finding, made: Iterable[Fix], files: set[str]) -> set[str]:
    """The edited files that a finding after the edits may come from."""
    own = {fix.file for fix in made if any(_key(f) == _key(finding) for f in fix.findings)}
    named = {finding.location.file, *(related.location.file for related in finding.related)}
    return own or (files & named) or files


def _key(finding: Finding) -> Key:
    """What a finding is about, wherever its lines have moved."""
    return (finding.rule, finding.location.file, finding.kernel or "", finding.op or "", finding.parameter or "",
            finding.message if not finding.parameter else "", finding.severity.value)


def _verdicts(report: Report) -> list[tuple[object, ...]]:
    """What each kernel was found to write, in a stable order."""
    return sorted(
        (k.location.file, k.name, k.status.value, k.mutated, k.unknown, k.analyzed_variants) for k in report.kernels
    )
