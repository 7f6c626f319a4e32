"""What each kernel and op may write, as one sees it from outside, and the file that keeps it for review and for CI.

    kernel kernels.py::silu_kernel
      written out_ptr
      conditional x_ptr when INPLACE=True
      unknown state
      indirect table loaded

    op kernels.py::lib::silu_into
      written out
      maybe x

A block says `writes nothing` or `not analysed` where there is nothing to list. Blocks
and lines are sorted and hold no line numbers, so that a diff shows changed contracts alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from triton_mutlint.contracts.portable import portable, read_committed
from triton_mutlint.types import EMPTY, KernelReport, Mutation, OpMutation, OpReport, Status, UsageError

WRITTEN, CONDITIONAL, UNKNOWN = (m.value for m in (Mutation.WRITTEN, Mutation.CONDITIONAL, Mutation.UNKNOWN))


KERNEL, OP = "kernel", "op"
MAYBE = OpMutation.MAYBE.value
_OP_NAME = re.compile(r"[\w.]+::[\w.]+")  # what is computed has no name that lasts


@dataclass(frozen=True, order=True)
class Key:
    """One kernel or op of one file; `ordinal` counts those of one name in a file, from 1."""

    file: str
    name: str
    ordinal: int = 1
    kind: str = KERNEL

    def __str__(self) -> str:
        return f"{self.file}::{self.name}" + (f"#{self.ordinal}" if self.ordinal > 1 else "")


@dataclass(frozen=True)
class Contract:
    """`writes` maps a parameter to (how, when): "written", "conditional" or "unknown", of an op also "maybe".

    `indirect` holds (parameter, via) of every indirect write. A kernel that has no verdict is not
    `analyzed`, and writes nothing that is known. `line` is where a snapshot says it.
    """

    writes: Mapping[str, tuple[str, str]] = EMPTY
    indirect: frozenset[tuple[str, str]] = frozenset()
    analyzed: bool = True
    line: int = field(default=0, compare=False)


def contract_of(report: KernelReport | OpReport) -> Contract:
    """The contract of one kernel or op."""
    if isinstance(report, OpReport):
        return Contract({a.name: (a.mutation.value, "") for a in report.arguments
                         if a.mutation is not OpMutation.UNWRITTEN})
    if report.status is Status.FAILED:
        return Contract(analyzed=False)
    writes = {
        p.name: (p.mutation.value, " ".join(" or ".join(p.when).split()) if p.mutation is Mutation.CONDITIONAL else "")
        for p in report.parameters if p.mutation is not Mutation.UNWRITTEN
    }
    return Contract(writes, frozenset((w.through, w.via) for w in report.indirect_writes))


def keyed(reports: Iterable[KernelReport | OpReport], cwd: Path, folder: Path) -> dict[Key, KernelReport | OpReport]:
    """Kernels and ops by what names them in a file that lies in `folder`, sorted; none without a name that lasts."""
    seen: Counter[tuple[str, str, str]] = Counter()
    found = {}
    for report in sorted(reports, key=lambda r: (r.location, r.name)):
        kind = OP if isinstance(report, OpReport) else KERNEL
        if report.name and (kind == KERNEL or _OP_NAME.fullmatch(report.name)):
            file = portable(report.location.file, cwd, folder)
            seen[file, report.name, kind] += 1
            found[Key(file, report.name, seen[file, report.name, kind], kind)] = report
    return dict(sorted(found.items()))


MAGIC = "# triton-mutlint snapshot, version "
VERSION = "1"
_NOTHING, _FAILED, _INDIRECT = "writes nothing", "not analysed", "indirect"
_ORDINAL = r"(#(?P<ordinal>[1-9]\d*))?"
_HEADS = (
    (KERNEL, re.compile(rf"kernel (?P<file>.+)::(?P<name>[^:#\s]+){_ORDINAL}")),
    (OP, re.compile(rf"op (?P<file>.+)::(?P<name>[^:#\s]+::[^:#\s]+){_ORDINAL}")),
)
_WRITE = re.compile(rf"({WRITTEN}|{UNKNOWN}|{MAYBE}) (\S+)|({CONDITIONAL}) (\S+)(?: when (.*))?")
_THROUGH = re.compile(rf"{_INDIRECT} (\S+) (\w+)")


@dataclass(frozen=True)
class Snapshot:
    """`file` as it is shown in reports; the paths of the keys are relative to `folder`."""

    file: str
    folder: Path
    entries: Mapping[Key, Contract]


def read_snapshot(path: Path, shown: str) -> Snapshot:
    """Raises UsageError for a file that is missing, unreadable or no snapshot."""
    text = read_committed(path, "snapshot", shown, "`triton-mutlint snapshot PATH...`")
    return Snapshot(shown, path.parent, parse(text, shown))


def parse(text: str, shown: str) -> dict[Key, Contract]:
    """The entries of a snapshot's text; raises UsageError with the line that cannot be read."""
    lines = text.splitlines()
    if not lines or not lines[0].startswith(MAGIC):
        raise UsageError(f"{shown}:1: this is no snapshot: it does not begin with {MAGIC!r}")
    try:
        return _entries(lines, shown)
    except UsageError as error:
        anew = "put it right, or delete the file and write it anew: `triton-mutlint snapshot PATH...`"
        raise UsageError(f"{error}; {anew}") from None


def _entries(lines: list[str], shown: str) -> dict[Key, Contract]:
    version = lines[0].removeprefix(MAGIC).partition(":")[0]
    if version != VERSION:
        raise UsageError(f"{shown}:1: unsupported version {version!r}; this tool reads version {VERSION}")
    entries: dict[Key, Contract] = {}
    key = None
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        if not line.startswith(" "):
            key = _key(line.rstrip(), f"{shown}:{number}")
            if key in entries:
                raise UsageError(f"{shown}:{number}: `{key}` is listed twice")
            entries[key] = Contract(line=number)
        elif key is None:
            raise UsageError(f"{shown}:{number}: a line that belongs to no kernel or op")
        else:
            entries[key] = _added(entries[key], line.strip(), f"{shown}:{number}")
    return entries


def _key(line: str, place: str) -> Key:
    for kind, pattern in _HEADS:
        if match := pattern.fullmatch(line):
            return Key(match["file"], match["name"], int(match["ordinal"] or 1), kind)
    raise UsageError(f"{place}: expected `kernel FILE::NAME` or `op FILE::NAME`, not {line!r} (a conflict marker?)")


def _added(contract: Contract, line: str, place: str) -> Contract:
    """The contract with what a line says."""
    if write := _WRITE.fullmatch(line):
        how, name = (write[1], write[2]) if write[1] else (write[3], write[4])
        return replace(contract, writes={**contract.writes, name: (how, write[5] or "")})
    if through := _THROUGH.fullmatch(line):
        return replace(contract, indirect=contract.indirect | {(through[1], through[2])})
    if line not in (_NOTHING, _FAILED):
        raise UsageError(f"{place}: cannot read {line!r}")
    return replace(contract, analyzed=contract.analyzed and line != _FAILED)


def dump(contracts: Mapping[Key, Contract]) -> str:
    """The text of a snapshot; equal contracts give equal text."""
    head = [
        f"{MAGIC}{VERSION}: what each kernel and torch op may write.",
        "# `triton-mutlint snapshot` writes this file; `triton-mutlint check --check-snapshot` compares.",
    ]
    blocks = ["\n".join([f"{key.kind} {key}", *_lines(contract)]) for key, contract in sorted(contracts.items())]
    return "\n\n".join(["\n".join(head), *blocks]) + "\n"


def _lines(contract: Contract) -> Iterator[str]:
    if not contract.analyzed:
        yield f"  {_FAILED}"
    elif not contract.writes and not contract.indirect:
        yield f"  {_NOTHING}"
    for name, (how, when) in sorted(contract.writes.items()):
        yield f"  {how} {name}" + (f" when {when}" if when else "")
    for name, via in sorted(contract.indirect):
        yield f"  {_INDIRECT} {name} {via}"
