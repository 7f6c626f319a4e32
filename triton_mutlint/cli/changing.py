"""What `check` changes in the files of the user: findings are fixed (`--fix`, `--diff`), or accepted (a baseline)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from triton_mutlint.basics import plural, unified
from triton_mutlint.cli.shell.output import Progress, tell, write_stdout
from triton_mutlint.config.request import Request
from triton_mutlint.contracts.baseline import (
    Accepted,
    Baseline,
    FindingKind,
    accept,
    counted,
    dump,
    kept,
    read_baseline,
)
from triton_mutlint.contracts.portable import covered
from triton_mutlint.fixes.document import write_document
from triton_mutlint.fixes.plan import FixOutcome, located, settle
from triton_mutlint.process.writing import write_file
from triton_mutlint.run import run as engine
from triton_mutlint.source.discover import display_path
from triton_mutlint.types import Finding, Report, UsageError


def fix(request: Request) -> Report:
    """Write what was fixed, say so on standard error, and give the report on what is left.

    A file that cannot be written is left as it is, and the others are written.
    """
    outcome = _settled(request)
    unwritten = {}
    for _, document in outcome.changed:
        try:
            write_document(document, request.cwd)
        except UsageError as error:
            unwritten[document.display] = str(error)
    done = replace(outcome, changed=tuple(pair for pair in outcome.changed if pair[1].display not in unwritten),
                   fixed=tuple(fix for fix in outcome.fixed if fix.file not in unwritten))
    for fixed in done.fixed:
        tell(f"fixed {_place(fixed.findings)}: {fixed.message}")
    for message in unwritten.values():
        tell(f"not fixed: {message}")
    _refusals(outcome, outcome.report)
    if done.changed:
        tell(f"{_count(done)} fixed in {plural(len(done.changed), 'file')}")
    return engine.run(request) if unwritten else outcome.report


def show(request: Request) -> bool:
    """Print what fixing would change; whether that is anything."""
    outcome = _settled(request)
    write_stdout("".join(unified(old.written(old.text), new.written(new.text), old.display, new.display)
                         for old, new in outcome.changed))
    _refusals(outcome, outcome.first)
    if outcome.changed:
        tell(f"{_count(outcome)} would be fixed in {plural(len(outcome.changed), 'file')}")
    else:
        tell("nothing can be fixed")
    return bool(outcome.changed)


def _settled(request: Request) -> FixOutcome:
    with Progress() as progress:
        return settle(engine.run(request, progress), request, lambda asked: engine.run(asked, progress))


def _count(outcome: FixOutcome) -> str:
    return plural(sum(len(done.findings) for done in outcome.fixed), "finding")


def _refusals(outcome: FixOutcome, report: Report) -> None:
    """Say what is not fixed, with the lines of the report that people see."""
    for refusal in located(outcome.refused, report):
        tell(f"not fixed {_place(refusal.findings)}: {refusal.reason}")


def _place(findings: Sequence[Finding]) -> str:
    """Where the first of the findings is, and which rules they are of."""
    first = findings[0].location
    rules = ", ".join(dict.fromkeys(finding.rule for finding in findings))
    return f"{first.file}:{first.line} {rules}"


def update_baseline(report: Report, request: Request) -> Report:
    """Accept what is in `report` from now on; gives the report with all of that suppressed.

    Entries of files that the run did not look at stay. Raises UsageError if the old file is no
    baseline or the new one cannot be written, and leaves the old one as it was.
    """
    given = request.config.baseline
    assert given is not None, "the command line refuses --update-baseline without a file"
    path = request.cwd / given
    shown = display_path(path, request.cwd)
    counts: dict[FindingKind, int] = {}
    if path.exists():
        old = read_baseline(path, shown)
        counts = kept(old, looked_at({kind.file for kind in old.entries}, report, path.parent, request))
    counts |= counted(report.findings, request.cwd, path.parent)
    write_file(path, dump(counts))
    tell(f"{shown}: {plural(sum(counts.values()), 'finding')} accepted from now on")
    new = Baseline(shown, path.parent, {kind: Accepted(count) for kind, count in counts.items()})
    return replace(report, findings=tuple(accept(new, report.findings, request.cwd)[0]))


def looked_at(files: Collection[str], report: Report, folder: Path, request: Request) -> frozenset[str]:
    """Which of `files` (relative to `folder`) the run judged as a whole, or found to be gone."""
    from triton_mutlint.run.run import sources_of

    sources, _ = sources_of(request)
    unread = {f.location.file for f in report.findings if f.rule == "TML901" and f.kernel is None}
    return covered(files, folder, sources, request.arguments, request.cwd,
                   lambda source: not source.kernels and source.display not in unread)
