"""Merges what a program's launches were into a spec: `python -m triton_mutlint.recording.merging NOTES SPEC`.

Launches stand under `verify.launches`. A recorded run shows some of the values that a parameter takes. All that were
seen are written; a flag that was seen with one value only is shown as a comment and left to inference, so that a write
under the other value is still found.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path, PurePosixPath
from typing import Any

from triton_mutlint.config.request import Request, silent
from triton_mutlint.process.writing import write_file
from triton_mutlint.run.lint import Run
from triton_mutlint.run.plan import load_file, plan_kernel
from triton_mutlint.signature.variants import types_of
from triton_mutlint.source.python_text import read_source
from triton_mutlint.source.walking import first_line
from triton_mutlint.spec.as_yaml import WrittenArgument, WrittenEntry, argument_spec, entry_lines, listed, plain_text
from triton_mutlint.spec.bind import tuned_parameters, value_parameters
from triton_mutlint.spec.entries import Settled
from triton_mutlint.spec.model import KernelSpec, Spec
from triton_mutlint.spec.read import parse_spec, spec_text
from triton_mutlint.spec.write import NoPlaceError, SpecText
from triton_mutlint.types import FileResult, Kernel, SourceFile, StageError, Status, UsageError

MOST = 16  # launches that a spec keeps of one kernel
Launch = Mapping[str, Any]  # `args`, which leaves out what a spec has no words for; `values`, `shapes`, `grid`
Columns = Mapping[str, tuple[str, ...]]  # what each parameter was, as YAML

_FLAGS = frozenset({"true", "false", "null"})
_ALONE = "no other value was seen: a check tries what else the source takes"
_TOGETHER = "these values were seen, and go together with those of other parameters"
_TAKEN = "None was not seen, and the source takes it"


@dataclass(frozen=True)
class LaunchPlace:
    """Where a kernel stands: `line` is that of its first decorator."""

    file: Path
    name: str
    line: int


def read_notes(text: str) -> tuple[dict[LaunchPlace, list[Launch]], dict[str, list[Launch]]]:
    """The launches of a program by kernel, and its calls of ops; torn lines (of a killed process) are left out."""
    launches: dict[LaunchPlace, list[Launch]] = {}
    calls: dict[str, list[Launch]] = {}
    for line in text.splitlines():
        with contextlib.suppress(ValueError, KeyError, TypeError):
            note = json.loads(line)
            if "op" in note:
                calls.setdefault(note["op"], []).append(note["call"])
                continue
            place = LaunchPlace(Path(note["file"]), note["name"], note["line"])
            launch = {"args": note["args"], **{n: note[n] for n in ("values", "shapes", "grid") if note[n]}}
            if place.file.is_file():  # compiled from a text that is gone: nobody can look at it again
                launches.setdefault(place, []).append(launch)
    return launches, calls


def joined(known: Iterable[Launch], new: Iterable[Launch]) -> list[Launch]:
    """All of them, each signature once, those known first; at most MOST."""
    found: dict[str | None, Launch] = {}
    for launch in (*known, *sorted(new, key=_signature)):
        found.setdefault(_signature(launch), launch)
    return list(found.values())[:MOST]


def _signature(launch: Launch) -> str:
    return str(plain_text(launch.get("args", {})))


# --------------------------------------------------------------------------- what to write under `args`


def _settled(seen: Columns, left: Mapping[str, str], taken: Collection[str] = ()) -> Settled:
    """What the parameters were, those `left` to inference as comments; None was added to those `taken`."""
    return Settled(tuple(WrittenArgument(name, listed(texts), _TAKEN if name in taken else "")
                         for name, texts in seen.items() if name not in left),
                   tuple(WrittenArgument(name, listed(seen[name]), why) for name, why in left.items()))


def columns(launches: Sequence[Launch], left_out: Iterable[str] = ()) -> Columns:
    """What each parameter was in the launches; without those of `left_out` and those that some launch has no words for.

    A type keeps its divisibility only where every launch has it.
    """
    rows = [launch.get("args", {}) for launch in launches]
    names = [n for n in rows[0] if n not in set(left_out) and all(n in row for row in rows)]
    found = {}
    for name in names:
        texts = _distinct(row[name] for row in rows)
        plain = _distinct(re.sub(r":16\b", "", v) if isinstance(v := row[name], str) else v for row in rows)
        found[name] = plain if len(plain) < len(texts) else texts
    return found


def _distinct(values: Iterable[Any]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(plain_text(value)) for value in values))


def proposals(seen: Columns, values: Collection[str], open_: Collection[str]) -> Iterator[Settled]:
    """What may be written, the fullest first: lists multiply, and a product may hold what cannot be launched.

    `values` are the compile-time parameters; `open_` are parameters that the source takes several values of.
    """
    alone = {n: _ALONE for n, texts in seen.items()
             if len(texts) == 1 and (texts[0] in _FLAGS or (n in values and n in open_))}
    several = {n: _TOGETHER for n, texts in seen.items() if len(texts) > 1}
    absent = [n for n in seen if n in open_ and n not in values and n not in alone and "null" not in seen[n]]
    yield _settled({**seen, **{n: (*seen[n], "null") for n in absent}}, alone, absent)
    yield _settled(seen, alone)
    yield _settled(seen, {**{n: why for n, why in several.items() if n in values}, **alone})
    yield _settled(seen, {**several, **alone})
    yield _settled(seen, dict.fromkeys(seen, _TOGETHER))


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
    run = Run(request, silent)
    seen, calls = read_notes(notes)
    files = {path: _loaded(path, known, request) for path in dict.fromkeys(place.file for place in seen)}
    for place, launches in sorted(seen.items(), key=lambda item: (str(item[0].file), item[0].line)):
        file = files[place.file]
        kernel = next((k for k in file.functions if first_line(k.node) <= place.line <= k.location.line), None)
        qualname, line = (kernel.qualname, kernel.location.line) if kernel is not None else ("", place.line)
        entry = known.entry_for(place.file, place.name, qualname, line) if known is not None else None
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
    ops = {name: each[:MOST] for name, each in calls.items() if known is None or name not in known.ops}
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
