"""The change of one spec file: entries for kernels that it lacks, and parameters that entries lack."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from triton_mutlint.basics import one_line
from triton_mutlint.contracts.declarations import declaration_of
from triton_mutlint.contracts.stale_entries import stale_entries
from triton_mutlint.run.judge import LintedFile
from triton_mutlint.run.lint import Run
from triton_mutlint.run.plan import plan_kernel
from triton_mutlint.run.request import Request
from triton_mutlint.signature.spec import KernelSpec, parse_spec
from triton_mutlint.signature.spec_merge import Insertion, NoPlaceError, SpecText, merged, new_spec
from triton_mutlint.signature.spec_values import key_text
from triton_mutlint.signature.spec_writer import WrittenEntry
from triton_mutlint.source.discover import display_path
from triton_mutlint.spec_entries import Subject, given_by_source, guesses, settle, verdict_comments
from triton_mutlint.types import Failure, Kernel, KernelReport, Plan, UsageError, Variant


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


@dataclass
class SpecWriter:
    """Collects the entries of one spec file; one use."""

    request: Request
    run: Run
    seen: dict[Kernel, list[Variant]]
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
        self.remarks += self._stale()
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

    def _stale(self) -> Iterator[str]:
        """What the spec says of these files that holds for nothing; it is left for a person to remove."""
        spec = next((f.spec for f in self.files if f.spec is not None), None)
        if spec is None:
            return
        root = self.request.cwd if self.request.spec else self.path.parent
        kernels = [k for f in self.files for k in (*f.result.kernels, *f.result.helpers)]
        failed = [name for f in self.files for name, _ in f.result.failures if name]
        for message, place in stale_entries(spec, [f.source for f in self.files], kernels, failed, root):
            yield f"{place.file}:{place.line}: {message}"

    def _own_entry(self, file: LintedFile, kernel: Kernel) -> KernelSpec | None:
        """The entry that holds for the kernel, unless it is that of a file with a similar path."""
        entry = file.entry(kernel)
        if entry is None or not entry.file_pattern:
            return entry
        named = self.path.parent / entry.file_pattern
        return None if named.is_file() and named.resolve() != kernel.path.resolve() else entry

    def _subject(self, file: LintedFile, kernel: Kernel, entry: KernelSpec | None,
                 report: KernelReport) -> Subject:
        def plan(asked: KernelSpec | None) -> Plan:
            return plan_kernel(kernel, asked, file.spec, file.result, self.request.max_variants)

        def analyze(asked: KernelSpec | None) -> KernelReport:
            return self.run.analyze(file, kernel, asked)

        return Subject(kernel, entry, report, tuple(self.seen.get(kernel, ())), plan, analyze)

    def _complete(self, file: LintedFile, kernel: Kernel, entry: KernelSpec, report: KernelReport) -> None:
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

    def _require_own(self, file: LintedFile, kernel: Kernel, entry: KernelSpec) -> None:
        if entry.compact is not None:
            raise NoPlaceError("the entry gives its signature as one text")
        if re.search(r"[*?\[]", entry.pattern):
            raise NoPlaceError(f"{entry.pattern!r} is a pattern for several kernels")
        others = [k for f in self.files for k, _ in f.reports if k and k is not kernel and f.entry(k) is entry]
        if others:
            raise NoPlaceError(f"{entry.pattern!r} is the entry of {others[0].name} in {others[0].path.name} too")

    def _add(self, file: LintedFile, kernel: Kernel, report: KernelReport) -> None:
        if file.entry(kernel) is not None:  # another file's: what it gives is not what this kernel is
            self.seen.pop(kernel, None)
            report = self.run.analyze(file, kernel, None)
        key = self._key(file, kernel.name, kernel.location.line, kernel.path)
        subject = self._subject(file, kernel, None, report)
        beside = f"line {kernel.location.line}"
        if report.failure is not None:
            self._disable(key, beside, report.failure, WrittenEntry("", arguments=guesses(subject)))
            return
        settled = settle(subject)
        declared = declaration_of(kernel, file.source, None)
        comments = [given_by_source(kernel, subject.plan(None)), *verdict_comments(report)]
        comments += [f"left to inference: {name} ({why})" for name, why in settled.left]
        if declared is not None:
            comments.append(f"line {declared.location.line} declares what is written")
        self.entries.append(WrittenEntry(
            key, beside, tuple(c for c in comments if c), settled.arguments,
            None if declared is not None else report.mutated, guesses=settled.guesses,
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


def _relative(path: Path, folders: Sequence[Path]) -> PurePosixPath:
    """The path from the first of `folders` that holds it; specs match by the end of a path."""
    for folder in folders:
        if path.is_relative_to(folder):
            return PurePosixPath(path.relative_to(folder).as_posix())
    return PurePosixPath(path.name)


def _one_line(failure: Failure) -> str:
    return one_line((failure.message.strip() or failure.stage.value).splitlines()[0])


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from error
