"""What `--fix` could do about findings, for reports: the edits as they are planned, before they are tried."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from triton_mutlint.config.request import Request
from triton_mutlint.fixes.document import Document, request_document
from triton_mutlint.fixes.edit import Edit, Fix
from triton_mutlint.fixes.plan import fixable, plan
from triton_mutlint.types import Finding


@dataclass(frozen=True)
class Replacement:
    """The text from `start` up to `end` becomes `text`; lines and columns count from 1, in characters."""

    start: tuple[int, int]
    end: tuple[int, int]
    text: str


@dataclass(frozen=True)
class Offer:
    """What is done to `file` to settle a finding, and perhaps others with it; `message` says it in words."""

    file: str
    message: str
    replacements: tuple[Replacement, ...]


def offers(findings: Iterable[Finding], request: Request) -> Mapping[Finding, Offer]:
    """The findings that `--fix` would try to settle, each with the edit."""
    documents: dict[str, Document] = {}

    def document_of(name: str, python: bool) -> Document:
        if name not in documents:
            documents[name] = request_document(request, name, python=python)
        return documents[name]

    found: dict[Finding, Offer] = {}
    left = fixable(findings)
    while left:  # what a list loses comes in a second pass
        planned = plan(left, document_of)
        for fix in planned.fixes:
            found.update(dict.fromkeys(fix.findings, _offer(fix, documents[fix.file])))
        done = {f for fix in planned.fixes for f in fix.findings} | {f for no in planned.refusals for f in no.findings}
        left = tuple(finding for finding in left if finding not in done) if done else ()
    return found


def _offer(fix: Fix, document: Document) -> Offer:
    return Offer(fix.file, fix.message, tuple(_replacement(edit, document) for edit in sorted(fix.edits)))


def _replacement(edit: Edit, document: Document) -> Replacement:
    return Replacement(document.position(edit.start), document.position(edit.end), edit.text)
