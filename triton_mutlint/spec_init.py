"""`init`: the text of a spec with an entry for every kernel, made from scratch or by adding to one."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from triton_mutlint.contracts.declarations import declaration_of
from triton_mutlint.contracts.stale_entries import stale_entries
from triton_mutlint.judging import LintedFile
from triton_mutlint.linting import Run
from triton_mutlint.model import (
    Failure,
    KernelReport,
    LoadedKernel,
    SignaturePlan,
    SourceFile,
    StageError,
    UsageError,
    Variant,
)
from triton_mutlint.planning import plan_kernel
from triton_mutlint.request import Request
from triton_mutlint.signature.spec import NAMES, KernelSpec, find_spec, parse_spec, project_root
from triton_mutlint.signature.spec_merge import Insertion, NoPlaceError, SpecText, merged, new_spec
from triton_mutlint.signature.spec_values import key_text
from triton_mutlint.signature.spec_writer import WrittenEntry
from triton_mutlint.source.discover import discover, display_path
from triton_mutlint.spec_entries import Subject, given_by_source, guesses, settle, verdict_comments

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class SpecChange:
    """What `init` makes of one spec file: its text before (None: there is none) and after.

    `added` and `failed` are keys of entries, `completed` says what existing entries gained, and
    `remarks` what a person should look at.
    """

    path: Path
    display: str
    old: str | None
    new: str
    added: tuple[str, ...] = ()
    completed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class InitResult:
    """What becomes of each spec file, and the arguments that could not be read."""

    changes: tuple[SpecChange, ...]
    failures: tuple[tuple[str, Failure], ...] = ()


def init(request: Request, to: Path | None, progress: Progress) -> InitResult:
    """The specs that hold for the files of `request`, completed; writes nothing.

    `to` is the one spec file to complete or begin; without it each file's own is, else one at its
    project's root. Raises UsageError for a spec that cannot be used.
    """
    sources, failures = discover(request.arguments, request.cwd, request.config.exclude)
    if to is not None:
        to = request.cwd / to
        request = replace(request, spec=to if to.is_file() else None, use_spec=to.is_file())
    places = {s.path: to or path for s, path in zip(sources, _destinations(sources), strict=True)}
    seen: dict[LoadedKernel, list[Variant]] = {}
    run = Run(request, progress, lambda kernel, variant, _: seen.setdefault(kernel, []).append(variant))
    files = run.files(sources)
    by_place: dict[Path, list[LintedFile]] = {}
    for file in files:
        by_place.setdefault(places[file.source.path], []).append(file)
    changes = tuple(_Writer(request, run, seen, path, own).change() for path, own in by_place.items())
    return InitResult(changes, failures)


def _destinations(sources: Sequence[SourceFile]) -> Iterator[Path]:
    """Per file the spec to write: the one that holds, else one at the project's root."""
    roots = {s.path: project_root(s.path) for s in sources}
    free = [s.path.parent for s in sources if roots[s.path] is None]
    common = Path(os.path.commonpath(free)) if free else None
    for source in sources:
        root = roots[source.path] or common
        assert root is not None, "a file without a root is among those with a common folder"
        yield find_spec(source.path) or root / NAMES[0]


@dataclass
class _Writer:
    """Collects the entries of one spec file; one use."""

    request: Request
    run: Run
    seen: dict[LoadedKernel, list[Variant]]
    path: Path
    files: Sequence[LintedFile]
    entries: list[WrittenEntry] = field(default_factory=list)
    insertions: list[Insertion] = field(default_factory=list)
    completed: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def change(self) -> SpecChange:
        display = display_path(self.path, self.request.cwd)
        old = _read(self.path) if self.path.is_file() else None
        self.text = SpecText(old.removeprefix("\ufeff")) if old is not None else None
        for file in self.files:
            self._file(file)
        if not self.entries and not self.insertions:
            return SpecChange(self.path, display, old, old or "", remarks=tuple(self.remarks))
        new = self._merged(old)
        parse_spec(new.removeprefix("\ufeff"), display)  # what is written must read back
        return SpecChange(
            self.path, display, old, new, tuple(e.key for e in self.entries if not e.disabled),
            tuple(self.completed), tuple(e.key for e in self.entries if e.disabled), tuple(self.remarks),
        )

    def _merged(self, old: str | None) -> str:
        if old is None or self.text is None:
            return new_spec(self.entries)
        if not self.text.can_comment():
            for entry in self.entries:
                if entry.disabled:
                    self.remarks.append(f"{entry.key}: {entry.comments[0]}")
            self.entries = [e for e in self.entries if not e.disabled]
        if self.entries:
            self.insertions.append(self.text.add_entries(self.entries))
        mark = "\ufeff" if old.startswith("\ufeff") else ""
        return mark + merged(self.text.text, self.insertions)

    # -------------------------------------------------------------- one file

    def _file(self, file: LintedFile) -> None:
        for name, failure in file.result.failures:
            if not name:
                self.remarks.append(f"{file.source.display}: {failure.message}")
        for kernel, report in file.reports:
            entry = self._own_entry(file, kernel) if kernel else None
            if kernel is not None and entry is not None:
                self._complete(file, kernel, entry, report)
            elif kernel is not None:
                self._add(file, kernel, report)
            else:
                self._add_unloaded(file, report)
        if file.spec is not None:
            root = self.request.cwd if self.request.spec else self.path.parent
            loaded = [k for f in self.files for k in (*f.result.kernels, *f.result.helpers)]
            names = [name for f in self.files for name, _ in f.result.failures if name]
            if file is self.files[-1]:
                sources = [f.source for f in self.files]
                for message, place in stale_entries(file.spec, sources, loaded, names, root):
                    self.remarks.append(f"{place.file}:{place.line}: {message}")

    def _own_entry(self, file: LintedFile, kernel: LoadedKernel) -> KernelSpec | None:
        """The entry that holds for the kernel, unless it is that of a file with a similar path."""
        entry = file.entry(kernel)
        if entry is None or not entry.file_pattern:
            return entry
        named = self.path.parent / entry.file_pattern
        return None if named.is_file() and named.resolve() != kernel.path.resolve() else entry

    def _subject(self, file: LintedFile, kernel: LoadedKernel, entry: KernelSpec | None,
                 report: KernelReport) -> Subject:
        def plan(asked: KernelSpec | None) -> SignaturePlan:
            return plan_kernel(kernel, asked, file.spec, file.result, self.request.max_variants)

        def analyze(asked: KernelSpec | None) -> KernelReport:
            return self.run.analyze(file, kernel, asked)

        return Subject(kernel, entry, report, tuple(self.seen.get(kernel, ())), plan, analyze)

    def _complete(self, file: LintedFile, kernel: LoadedKernel, entry: KernelSpec, report: KernelReport) -> None:
        """Adds what an existing entry leaves to inference, where the entry is this kernel's alone."""
        place = f"{file.source.display}:{kernel.location.line} {kernel.name}"
        if report.failure is not None:
            self.remarks.append(f"{place}: {_one_line(report.failure)}")
            return
        settled = settle(self._subject(file, kernel, entry, report))
        if not settled.arguments or self.text is None:
            return
        names = ", ".join(a.name for a in settled.arguments)
        try:
            self._require_own(file, kernel, entry)
            self.insertions.append(self.text.add_arguments(entry.pattern, settled.arguments))
        except NoPlaceError as error:
            self.remarks.append(f"{place}: {names} stay inferred: {error}")
            return
        self.completed.append(f"{entry.pattern}: {names}")

    def _require_own(self, file: LintedFile, kernel: LoadedKernel, entry: KernelSpec) -> None:
        if entry.compact is not None:
            raise NoPlaceError("the entry gives its signature as one text")
        if re.search(r"[*?\[]", entry.pattern):
            raise NoPlaceError(f"{entry.pattern!r} is a pattern for several kernels")
        others = [k for f in self.files for k, _ in f.reports if k and k is not kernel and f.entry(k) is entry]
        if others:
            raise NoPlaceError(f"{entry.pattern!r} is the entry of {others[0].name} in {others[0].path.name} too")

    def _add(self, file: LintedFile, kernel: LoadedKernel, report: KernelReport) -> None:
        if file.entry(kernel) is not None:  # another file's: what it gives is not what this kernel is
            self.seen.pop(kernel, None)
            report = self.run.analyze(file, kernel, None)
        key = self._key(file, kernel.name, kernel.location.line, kernel.path)
        subject = self._subject(file, kernel, None, report)
        beside = f"line {kernel.location.line}"
        if report.failure is not None:
            self._disable(key, beside, report.failure, guesses_of(subject))
            return
        settled = settle(subject)
        declared = declaration_of(kernel, file.source, None)
        comments = [given_by_source(kernel, subject.plan(None)), *verdict_comments(report)]
        comments += [f"left to inference: {name} ({why})" for name, why in settled.left]
        if declared is not None:
            comments.append(f"line {declared.location.line} declares what is written")
        self.entries.append(WrittenEntry(
            key, beside, tuple(c for c in comments if c), settled.arguments,
            None if declared is not None else report.mutated,
        ))

    def _add_unloaded(self, file: LintedFile, report: KernelReport) -> None:
        assert report.failure is not None, "a kernel that was not loaded has failed"
        key = self._key(file, report.name, report.location.line, file.source.path)
        self._disable(key, f"line {report.location.line}", report.failure, WrittenEntry(""))

    def _disable(self, key: str, beside: str, failure: Failure, entry: WrittenEntry) -> None:
        if self.text is not None and self.text.mentions(key_text(key)):
            self.remarks.append(f"{key}: still not analysed: {_one_line(failure)}")
            return
        comments = (f"not analysed ({failure.stage.value}): {_one_line(failure)}", failure.hint)
        self.entries.append(replace(
            entry, key=key, beside=beside, comments=tuple(c for c in comments if c), disabled=True,
        ))

    def _key(self, file: LintedFile, name: str, line: int, path: Path) -> str:
        """The key that names one kernel: by the file's path, and by the line where names repeat."""
        names = [k.name for k in (*file.result.kernels, *file.result.helpers)]
        names += [n for n, _ in file.result.failures]
        named = f"{name}:{line}" if names.count(name) > 1 else name
        shown = _relative(path, (self.path.parent, self.request.cwd))
        return f"{re.sub(r'[*?[]', '?', shown.as_posix())}::{named}"


def guesses_of(subject: Subject) -> WrittenEntry:
    """What a person may start from to complete the entry of a kernel that failed."""
    try:
        plan = subject.plan(subject.entry)
    except StageError:
        plan = None
    return WrittenEntry("", arguments=guesses(subject.kernel, plan))


def _relative(path: Path, folders: Sequence[Path]) -> PurePosixPath:
    """The path from the first of `folders` that holds it; specs match by the end of a path."""
    for folder in folders:
        if path.is_relative_to(folder):
            return PurePosixPath(path.relative_to(folder).as_posix())
    return PurePosixPath(path.name)


def _one_line(failure: Failure) -> str:
    return " ".join(failure.message.splitlines()[0].split()) if failure.message.strip() else failure.stage.value


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from error
