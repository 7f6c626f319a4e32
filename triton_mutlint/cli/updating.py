"""`check --update-baseline`: what a run found is accepted from now on."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from triton_mutlint.basics import plural
from triton_mutlint.cli.shell.output import tell
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
from triton_mutlint.process.writing import write_file
from triton_mutlint.source.discover import display_path
from triton_mutlint.types import Report


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
