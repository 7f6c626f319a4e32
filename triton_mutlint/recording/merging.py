"""Merges what a program's launches were into a spec: `python -m triton_mutlint.recording.merging NOTES SPEC`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from triton_mutlint.config.request import Request
from triton_mutlint.recording.launches import Launch, Place, joined, launch_text, launches_of, read_notes
from triton_mutlint.recording.seen import Seen, columns, proposals
from triton_mutlint.run.lint import Run
from triton_mutlint.run.plan import load_file, plan_kernel
from triton_mutlint.signature.variants import types_of
from triton_mutlint.source.text import read_source
from triton_mutlint.source.walking import first_line
from triton_mutlint.spec.as_yaml import argument_spec, key_text
from triton_mutlint.spec.bind import tuned_parameters, value_parameters
from triton_mutlint.spec.entry_text import argument_lines
from triton_mutlint.spec.model import KernelSpec, Spec
from triton_mutlint.spec.read import parse_spec
from triton_mutlint.spec.write import NoPlaceError, SpecText
from triton_mutlint.types import FileResult, Kernel, SourceFile, StageError, Status, UsageError

HEADER = """\
# Kernel signatures as they were launched, written by `triton-mutlint record`.
# A later run adds launches that are new; an entry without `launches` is left as it is.
# A value in a comment was seen, and is left to inference: each check tries what the source takes.
version: 1
"""
_PACKAGES = ("site-packages", "dist-packages")
_VARIANTS = 64  # that a check analyses by default


@dataclass(frozen=True)
class Recorded:
    """What became of a spec: kernels with new launches, and remarks on those that were left alone."""

    text: str
    changed: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def merge(notes: str, old: str | None, spec: Path) -> Recorded:
    """The text of the spec file `spec` with the launches in `notes`; `old` is its text now, if there is one.

    Raises SpecError for an old text that is no spec.
    """
    known = parse_spec(old, str(spec)) if old is not None else None
    text = SpecText(old or HEADER)
    new: dict[str, list[str]] = {}
    changed: list[str] = []
    remarks: list[str] = []
    for subject, launches in _subjects(read_notes(notes), known):
        place, entry = subject.place, subject.entry(known)
        if entry is not None and not (entry.verify or {}).get("launches"):
            remarks.append(f"{place.name}: the spec has an entry of its own for it, {entry.pattern!r}")
            continue
        before = tuple(launches_of((entry.verify or {})["launches"])) if entry is not None else ()
        every = joined(before, launches)
        if every != before:
            key = entry.pattern if entry is not None else _key(place, subject.kernel, spec.parent)
            lines = _entry(key, every, subject.arguments(every))
            try:
                if entry is None:
                    new[key] = lines
                else:
                    text.renew(key, lines)
                changed.append(key)
            except NoPlaceError as error:
                remarks.append(f"{place.name}: {error}")
    if not changed:
        return Recorded(old or "", (), tuple(remarks))
    if new:
        text.add(new.values())
    parse_spec(text.text, str(spec))  # what is written must read back
    return Recorded(text.text, tuple(changed), tuple(remarks))


@dataclass(frozen=True)
class _Subject:
    """A recorded kernel; `file` and `kernel` are what its source gave, `run` analyses it."""

    place: Place
    file: FileResult
    kernel: Kernel | None
    run: Run

    def entry(self, spec: Spec | None) -> KernelSpec | None:
        """What the spec says of it already."""
        if spec is None:
            return None
        line = self.kernel.location.line if self.kernel else self.place.line
        return spec.entry_for(self.place.file, self.place.name, self.kernel.qualname if self.kernel else "", line)

    def arguments(self, launches: Sequence[Launch]) -> Seen:
        """What to write under `args`: what the launches had, in a form that can be analysed."""
        seen = columns(launches, _given_by_source(self.kernel))
        if self.kernel is None:
            return next(proposals(seen, (), ()))
        values = value_parameters(self.kernel)
        tried = list(proposals(seen, values, self._open(self.kernel)))
        return next((s for s in tried if self._fits(self.kernel, s)), tried[-1])

    def _open(self, kernel: Kernel) -> frozenset[str]:
        """The parameters that the source, by itself, is analysed with several values of, or takes several of."""
        try:
            plan = plan_kernel(kernel, None, None, self.file, _VARIANTS)
        except StageError:
            return frozenset()
        return plan.partial | {n for n in plan.inferred if len(types_of(plan, n)) > 1}

    def _fits(self, kernel: Kernel, seen: Seen) -> bool:
        """Whether the kernel can be analysed with these arguments."""
        if seen.combinations > _VARIANTS:
            return False
        specs = [spec for a in seen.arguments if (spec := argument_spec(a.name, a.text)) is not None]
        report = self.run.analyze(self.file, kernel, KernelSpec(kernel.name, args=tuple(specs)))
        return report.status is Status.ANALYZED


def _subjects(notes: Mapping[Place, list[Launch]], spec: Spec | None) -> Iterator[tuple[_Subject, list[Launch]]]:
    """Each recorded kernel with its launches, in the order of their places."""
    request = Request((), Path.cwd(), use_spec=False)
    run = Run(request, lambda done, total, label: None)
    loaded: dict[Path, FileResult] = {}
    for place in sorted(notes, key=lambda p: (str(p.file), p.line)):
        if place.file not in loaded:
            loaded[place.file] = _loaded(place.file, spec, request)
        file = loaded[place.file]
        kernels = file.functions
        same = [k for k in kernels if first_line(k.node) <= place.line <= k.location.line]
        yield _Subject(place, file, same[0] if same else None, run), notes[place]


def _loaded(path: Path, spec: Spec | None, request: Request) -> FileResult:
    try:
        source = SourceFile(path, str(path), read_source(path, str(path)))
    except StageError:
        return FileResult(SourceFile(path, str(path), ""))
    return load_file(source, spec, request)


def _key(place: Place, kernel: Kernel | None, root: Path) -> str:
    """`path.py::name`, the path from the spec's folder or from where packages are installed."""
    parts = place.file.parts
    name = place.name if kernel is None or not kernel.qualname else kernel.qualname
    for installed in _PACKAGES:
        if installed in parts:
            inner = parts[len(parts) - parts[::-1].index(installed) :]
            return f"{PurePosixPath(*inner)}::{name}"
    try:
        return f"{place.file.resolve().relative_to(root.resolve()).as_posix()}::{name}"
    except ValueError:
        return f"{place.file.as_posix()}::{name}"


def _entry(key: str, launches: Sequence[Launch], seen: Seen) -> list[str]:
    """The lines of an entry."""
    lines = [f"{key_text(key)}:"]
    if seen.arguments:
        lines += ["  args:", *argument_lines(seen.arguments, 4)]
    lines += [f"    # {line}" for line in argument_lines(seen.guesses, 0)]
    return [*lines, "  verify:", "    launches:", *(f"      - {launch_text(launch)}" for launch in launches)]


def _given_by_source(kernel: Kernel | None) -> frozenset[str]:
    """The parameters that autotune configs and heuristics give: a spec does not say them."""
    if kernel is None:
        return frozenset()
    return tuned_parameters(kernel) | set(kernel.heuristics)


def merge_files(notes: Path, spec: Path) -> Recorded:
    """Merge the notes in a file into a spec file. Raises UsageError where one cannot be read or written."""
    try:
        old = spec.read_text(encoding="utf-8-sig") if spec.exists() else None
        found = merge(notes.read_text(encoding="utf-8"), old, spec)
        if found.changed:
            from triton_mutlint.process.files import write_file

            write_file(spec, found.text)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {spec}: {error}") from error
    return found


if __name__ == "__main__":
    try:
        merge_files(Path(sys.argv[1]), Path(sys.argv[2]))
    except UsageError as problem:
        sys.exit(f"triton-mutlint: error: {problem}")
