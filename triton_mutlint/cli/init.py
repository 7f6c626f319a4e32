"""`triton-mutlint init`: begin a spec, or complete one."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import click

from triton_mutlint.basics import plural, unified
from triton_mutlint.cli.shell.asked import CONTEXT, asked, shared
from triton_mutlint.cli.shell.output import Progress, check_writable, fitted, tell, write_stdout
from triton_mutlint.config.request import Request
from triton_mutlint.contracts.declarations import declaration_of
from triton_mutlint.process.writing import write_file
from triton_mutlint.run.lint import Question, Run
from triton_mutlint.run.run import Failures, compiling, sources_of
from triton_mutlint.source.discover import display_path
from triton_mutlint.spec.as_yaml import HEADER, WrittenEntry, entry_lines, key_text
from triton_mutlint.spec.entries import Draft, EntrySubject, Settled, draft, verdict_comments
from triton_mutlint.spec.model import KernelSpec
from triton_mutlint.spec.read import NAMES, find_spec, parse_spec, project_root, spec_text
from triton_mutlint.spec.stale import stale_entries
from triton_mutlint.spec.write import NoPlaceError, SpecText
from triton_mutlint.types import (
    Failure,
    FileResult,
    Kernel,
    KernelReport,
    SourceFile,
    Variant,
)


def init(request: Request, to: Path | None, progress: Progress) -> tuple[list[SpecChange], Failures]:
    """The specs that hold for the files of `request`, completed, and the arguments that could not be read.

    Nothing is written.

    `to` is the one spec file to complete or begin; without it each file's own is, else one at its
    project's root. Raises UsageError for a spec that cannot be used.
    """
    sources, failures = sources_of(request)
    if to is not None:
        to = request.cwd / to
        request = replace(request, spec=to if to.is_file() else None, use_spec=to.is_file())
    places = {s.path: to or path for s, path in zip(sources, _destinations(sources), strict=True)}
    by_place: dict[Path, list[FileResult]] = {}
    with compiling():
        variants: dict[Kernel, list[Variant]] = {}  # as lowered, in the process of the kernel's file
        run = Run(request, progress, lambda kernel, variant, *_: variants.setdefault(kernel, []).append(variant))

        def ask(file: FileResult, kernel: Kernel, report: KernelReport) -> Draft:
            entry = own_entry(run, places[file.source.path], kernel)
            if entry is None and run.specs.entry(kernel) is not None:
                variants.pop(kernel, None)  # the entry is another file's: what it gives is not what this kernel is
                report = run.analyze(file, kernel, None)
            return draft(EntrySubject(kernel, entry, report, tuple(variants.get(kernel, ())),
                                      partial(run.plan, file, kernel), partial(run.analyze, file, kernel)))

        files = run.files(sources, request.jobs, Question(ask, Draft))
        for file in files:
            by_place.setdefault(places[file.source.path], []).append(file)
        return [SpecChange(run, path, own).made() for path, own in by_place.items()], failures


def _destinations(sources: Sequence[SourceFile]) -> Iterator[Path]:
    """Per file the spec to write: the one that holds, else one at the project's root."""
    roots = {s.path: project_root(s.path) for s in sources}
    free = [s.path.parent for s in sources if roots[s.path] is None]
    common = Path(os.path.commonpath(free)) if free else None
    for source in sources:
        root = roots[source.path] or common
        assert root is not None, "a file without a root is among those with a common folder"
        yield find_spec(source.path) or root / NAMES[0]


def own_entry(run: Run, place: Path, kernel: Kernel) -> KernelSpec | None:
    """The entry that holds for the kernel, unless it is that of a file with a similar path; `place` is the spec's."""
    entry = run.specs.entry(kernel)
    if entry is None or not entry.file_pattern:
        return entry
    named = place.parent / entry.file_pattern
    return None if named.is_file() and named.resolve() != kernel.path.resolve() else entry


@dataclass
class SpecChange:
    """What `init` makes of one spec file: its text before (None: there is none) and after, the entries that are new,
    what existing entries gained, and what a person should look at."""

    run: Run
    path: Path
    files: Sequence[FileResult]
    entries: list[WrittenEntry] = field(default_factory=list)
    completed: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def made(self) -> SpecChange:
        self.display = display_path(self.path, self.run.request.cwd)
        self.old = spec_text(self.path, self.display) if self.path.is_file() else None
        self.new, self.text = self.old or "", SpecText(HEADER if self.old is None else self.old)
        for file in self.files:
            if file.failure is not None:
                self.remarks.append(f"{file.source.display}: {file.failure.message}")
            for kernel, report in file.reports:
                drafted = self.run.answers.get((report.location, report.name)) or Draft(report, Settled(()))
                entry = own_entry(self.run, self.path, kernel) if kernel else None
                if kernel is not None and entry is not None:
                    self._complete(file, kernel, entry, drafted)
                else:
                    self._add(file, kernel, drafted)
        self.remarks += self._stale()
        if self.entries:
            self.text.add(map(entry_lines, self.entries))
        if self.entries or self.completed:
            self.new = self.text.text
            parse_spec(self.new, self.display)  # what is written must read back
        return self

    def _stale(self) -> Iterator[str]:
        """What the spec says of these files that holds for nothing; it is left for a person to remove."""
        spec = next((s for f in self.files if (s := self.run.specs.of(f.source)) is not None), None)
        if spec is None:
            return
        root = self.run.request.cwd if self.run.request.spec else self.path.parent
        for message, place in stale_entries(spec, self.files, root):
            yield f"{place.file}:{place.line}: {message}"

    # -------------------------------------------------------------- an entry that is there

    def _complete(self, file: FileResult, kernel: Kernel, entry: KernelSpec, drafted: Draft) -> None:
        """Adds what an existing entry leaves to inference, where the entry is this kernel's alone."""
        place = f"{file.source.display}:{kernel.location.line} {kernel.name}"
        if drafted.report.failure is not None:
            self.remarks.append(f"{place}: {_one_line(drafted.report.failure)}")
            return
        arguments = drafted.settled.arguments
        names = ", ".join(a.name for a in arguments)
        try:
            if arguments:
                self._require_own(kernel, entry)
                self.text.add_arguments(entry.pattern, arguments)
                self.completed.append(f"{entry.pattern}: {names}")
        except NoPlaceError as error:
            self.remarks.append(f"{place}: {names} stay inferred: {error}")

    def _require_own(self, kernel: Kernel, entry: KernelSpec) -> None:
        if entry.compact is not None:
            raise NoPlaceError("the entry gives its signature as one text")
        if entry.is_glob:
            raise NoPlaceError(f"{entry.pattern!r} is a pattern for several kernels")
        kernels = [k for f in self.files for k, _ in f.reports if k is not None and k is not kernel]
        others = [k for k in kernels if self.run.specs.entry(k) is entry]
        if others:
            raise NoPlaceError(f"{entry.pattern!r} is the entry of {others[0].name} in {others[0].path.name} too")

    # -------------------------------------------------------------- a new entry

    def _add(self, file: FileResult, kernel: Kernel | None, drafted: Draft) -> None:
        report, settled = drafted.report, drafted.settled
        key = self._key(file, kernel.name if kernel else report.name, report)
        entry = WrittenEntry(key, f"line {report.location.line}")
        if kernel is None or report.failure is not None:
            assert report.failure is not None, "a kernel that was not loaded has failed"
            self._disable(replace(entry, arguments=settled.guesses), report.failure)
            return
        declared = declaration_of(kernel, file.source, None)
        comments = [drafted.given, *verdict_comments(report)]
        comments += [f"left to inference: {name} ({why})" for name, why in settled.left]
        if declared is not None:
            comments.append(f"line {declared.location.line} declares what is written")
        self.entries.append(replace(
            entry, comments=tuple(c for c in comments if c), arguments=settled.arguments, guesses=settled.guesses,
            mutates=None if declared is not None else report.mutated,
        ))

    def _disable(self, entry: WrittenEntry, failure: Failure) -> None:
        """Adds an entry that is all comment, unless a run before did."""
        if mentions(self.old or "", entry.key):
            self.remarks.append(f"{entry.key}: still not analysed: {_one_line(failure)}")
            return
        comments = (f"not analysed ({failure.stage.value}): {_one_line(failure)}", failure.hint)
        self.entries.append(replace(entry, comments=tuple(c for c in comments if c), disabled=True))

    def _key(self, file: FileResult, name: str, report: KernelReport) -> str:
        """The key that names one kernel: by the file's path, and by the line where names repeat."""
        names = [*(k.name for k in file.functions), *(n for n, _ in file.failures)]
        named = f"{name}:{report.location.line}" if names.count(name) > 1 else name
        path = PurePosixPath(file.source.path)
        folder = next((f for f in (self.path.parent, self.run.request.cwd) if path.is_relative_to(f)), path.parent)
        return f"{re.sub(r'[*?[]', '?', path.relative_to(folder).as_posix())}::{named}"


def mentions(text: str, key: str) -> bool:
    """Whether a comment of a spec holds an entry of that name."""
    return re.search(rf"(?m)^[ \t]*#[ \t]*{re.escape(key_text(key))}[ \t]*:(\s|$)", text) is not None


def _one_line(failure: Failure) -> str:
    return " ".join(failure.message.splitlines()[0].split()) if failure.message.strip() else failure.stage.value


@click.command(context_settings=CONTEXT)
@shared("paths")
@click.option("--spec", "to", type=click.Path(path_type=Path), metavar="FILE", help="The spec to write; - prints it.")
@click.option("--stdout", is_flag=True, help="Print the spec instead of writing it.")
@click.option("--dry-run", is_flag=True, help="Show as a diff what would change.")
@shared("targets", "max_variants", "timeout", "confine", "true_import", "config_file", "isolated")
def command(paths: tuple[str, ...], **options: Any) -> int:
    """Write a spec with the signature of every kernel and what it writes, or complete one.

    Without --spec, it is the triton-mutlint.yaml that is in force for the files, or a new one at
    the project's root. Kernels and parameters that are missing are added; nothing else in the file
    changes.

    Exit code: 0, or 1 when a file could not be read.
    """
    printed = options["stdout"] or str(options["to"]) == "-"
    if printed and options["dry_run"]:
        raise click.UsageError("--stdout and --dry-run contradict each other")
    if "-" in paths:
        raise click.UsageError("a spec names files: standard input (-) has none; --spec - prints the spec")
    request = asked(paths, options)
    to = request.spec if options["to"] is None or str(options["to"]) == "-" else options["to"]
    with Progress() as progress:
        changes, failures = init(request, to, progress)
    if printed and len(changes) > 1:
        names = ", ".join(change.display for change in changes)
        raise click.UsageError(f"the files have {len(changes)} specs ({names}); print one at a time")
    for change in changes:
        if printed:
            write_stdout(change.new)
        elif options["dry_run"]:
            old = change.display if change.old is not None else "/dev/null"
            write_stdout(unified(change.old or "", change.new, old, change.display))
        elif change.new != (change.old or ""):
            check_writable(change.path)
            write_file(change.path, change.new, within=request.cwd)
    written = not (printed or options["dry_run"])
    lines = [line for change in changes for line in _summary(change, written=written)]
    text = "".join(f"{line}\n" for line in lines or ["no kernels found"])
    if written:
        write_stdout(fitted(text, sys.stdout))
    else:  # standard output holds the spec or the diff
        tell(text)
    for name, failure in failures:
        tell(f"{name}: {failure.message}")
    return int(bool(failures) or any(file.failure for change in changes for file in change.files))


def _summary(change: SpecChange, *, written: bool) -> list[str]:
    failed = [entry.key for entry in change.entries if entry.disabled]
    added, completed = len(change.entries) - len(failed), len(change.completed)
    counts = (
        (added, f"{plural(added, 'kernel')} added"),
        (completed, f"{completed} {'entry' if completed == 1 else 'entries'} completed"),
        (len(failed), f"{plural(len(failed), 'kernel')} to be completed by hand"),
    )
    lines = []
    if did := ", ".join(text for count, text in counts if count):
        lines.append(f"{change.display} {'written' if written else 'would be written'}: {did}")
    elif change.old is not None:
        lines.append(f"{change.display}: nothing to add")
    lines += [f"  completed {item}" for item in change.completed]
    lines += [f"  not analysed: {item} (see the comment in the spec)" for item in failed]
    return [*lines, *(f"  {remark}" for remark in change.remarks)]
