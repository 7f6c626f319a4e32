"""Merges what a program's launches were into a spec: `python -m triton_mutlint.recording.merging NOTES SPEC`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path, PurePosixPath

from triton_mutlint.config.request import Request
from triton_mutlint.process.writing import write_file
from triton_mutlint.recording.launches import (
    MOST,
    Launch,
    LaunchPlace,
    columns,
    joined,
    proposals,
    read_notes,
    read_op_notes,
)
from triton_mutlint.run.lint import Run
from triton_mutlint.run.plan import load_file, plan_kernel
from triton_mutlint.signature.variants import types_of
from triton_mutlint.source.python_text import read_source
from triton_mutlint.source.walking import first_line
from triton_mutlint.spec.as_yaml import WrittenEntry, argument_spec, entry_lines, plain_text
from triton_mutlint.spec.bind import tuned_parameters, value_parameters
from triton_mutlint.spec.entries import Settled
from triton_mutlint.spec.model import KernelSpec, Spec
from triton_mutlint.spec.read import parse_spec, spec_text
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
    request = Request((), Path.cwd(), use_spec=False)
    run = Run(request, lambda done, total, label: None)
    for place, file, launches in _recorded(notes, known, request):
        same = [k for k in file.functions if first_line(k.node) <= place.line <= k.location.line]
        kernel = same[0] if same else None
        entry = _known(known, place, kernel)
        before = (entry.verify or {}).get("launches", []) if entry is not None else []
        if entry is not None and not before:
            remarks.append(f"{place.name}: the spec has an entry of its own for it, {entry.pattern!r}")
            continue
        every = joined(before, launches)
        if every != before:
            key = entry.pattern if entry is not None else _key(place, kernel, spec.parent)
            settled = _arguments(run, file, kernel, every)
            lines = entry_lines(WrittenEntry(key, arguments=settled.arguments, guesses=settled.guesses,
                                             launches=tuple(str(plain_text(launch)) for launch in every)))
            try:
                if entry is None:
                    new[key] = lines
                else:
                    text.renew(key, lines)
                changed.append(key)
            except NoPlaceError as error:
                remarks.append(f"{place.name}: {error}")
    if new:
        text.add(new.values())
    ops = {name: calls[:MOST] for name, calls in read_op_notes(notes).items() if known is None or name not in known.ops}
    written = _with_ops(text.text, ops) if ops else text.text
    if not (changed or ops):
        return Recorded(old or "", (), tuple(remarks))
    parse_spec(written, str(spec))  # what is written must read back
    return Recorded(written, (*changed, *ops), tuple(remarks))


def _with_ops(text: str, ops: Mapping[str, Sequence[Launch]]) -> str:
    """The text with entries for ops that have none; what a person wrote stays."""
    changed = SpecText(text, "ops")
    changed.add([[f"{name}:", "  verify:", "    calls:", *(f"      - {plain_text(call)}" for call in calls)]
                 for name, calls in ops.items()])
    return changed.text


def _recorded(notes: str, spec: Spec | None,
              request: Request) -> Iterator[tuple[LaunchPlace, FileResult, list[Launch]]]:
    """Each recorded kernel with its file and its launches, in the order of their places."""
    loaded: dict[Path, FileResult] = {}
    for place, launches in sorted(read_notes(notes).items(), key=lambda item: (str(item[0].file), item[0].line)):
        if place.file not in loaded:
            loaded[place.file] = _loaded(place.file, spec, request)
        yield place, loaded[place.file], launches


def _known(spec: Spec | None, place: LaunchPlace, kernel: Kernel | None) -> KernelSpec | None:
    """What the spec says of a kernel already."""
    qualname, line = (kernel.qualname, kernel.location.line) if kernel is not None else ("", place.line)
    return spec.entry_for(place.file, place.name, qualname, line) if spec is not None else None


def _arguments(run: Run, file: FileResult, kernel: Kernel | None, launches: Sequence[Launch]) -> Settled:
    """What to write under `args`: what the launches had, in a form that can be analysed.

    Autotune configs and heuristics stand in the source: a spec does not say what they give.
    """
    if kernel is None:
        return next(proposals(columns(launches), (), ()))
    seen = columns(launches, tuned_parameters(kernel) | set(kernel.heuristics))
    tried = list(proposals(seen, value_parameters(kernel), _open(file, kernel)))
    return next((s for s in tried if _fits(run, file, kernel, s)), tried[-1])


def _open(file: FileResult, kernel: Kernel) -> frozenset[str]:
    """The parameters that the source, by itself, is analysed with several values of, or takes several of."""
    try:
        plan = plan_kernel(kernel, None, None, file, _VARIANTS)
    except StageError:
        return frozenset()
    return plan.partial | {n for n in plan.inferred if len(types_of(plan, n)) > 1}


def _fits(run: Run, file: FileResult, kernel: Kernel, settled: Settled) -> bool:
    """Whether the kernel can be analysed with these arguments."""
    specs = [spec for a in settled.arguments if (spec := argument_spec(a.name, a.text)) is not None]
    if prod(len(spec.values) for spec in specs) > _VARIANTS:  # lists multiply
        return False
    return run.analyze(file, kernel, KernelSpec(kernel.name, args=tuple(specs))).status is Status.ANALYZED


def _loaded(path: Path, spec: Spec | None, request: Request) -> FileResult:
    try:
        source = SourceFile(path, str(path), read_source(path, str(path)))
    except StageError:
        return FileResult(SourceFile(path, str(path), ""))
    return load_file(source, spec, request)


def _key(place: LaunchPlace, kernel: Kernel | None, root: Path) -> str:
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


def merge_files(notes: Path, spec: Path) -> Recorded:
    """Merge the notes in a file into a spec file. Raises UsageError for a spec that cannot be read or written."""
    found = merge(notes.read_text(encoding="utf-8"), spec_text(spec, str(spec)) if spec.exists() else None, spec)
    if found.changed:
        write_file(spec, found.text)
    return found


if __name__ == "__main__":
    try:
        merge_files(Path(sys.argv[1]), Path(sys.argv[2]))
    except UsageError as problem:
        sys.exit(f"triton-mutlint: error: {problem}")
