"""The snapshot file: the contract of every kernel and torch op, for people to review and for CI to compare.

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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from triton_mutlint.contracts.contract import CONDITIONAL, KERNEL, MAYBE, OP, UNKNOWN, WRITTEN, Contract, Key
from triton_mutlint.process.inputs import read
from triton_mutlint.types import UsageError

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
class SnapshotEntry:
    """One kernel or op of a snapshot and the line on which its block begins."""

    contract: Contract
    line: int = 0


@dataclass(frozen=True)
class Snapshot:
    """`file` as it is shown in reports; the paths of the keys are relative to `folder`."""

    file: str
    folder: Path
    entries: Mapping[Key, SnapshotEntry] = field(default_factory=lambda: MappingProxyType({}))


def read_snapshot(path: Path, shown: str) -> Snapshot:
    """Raises UsageError for a file that is missing, unreadable or no snapshot."""
    try:
        text = read(path, named=True).decode("utf-8")
    except FileNotFoundError as error:
        raise UsageError(f"there is no snapshot {shown}; `triton-mutlint snapshot PATH...` writes one") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the snapshot {shown}: {error}") from error
    return Snapshot(shown, path.parent, MappingProxyType(parse(text, shown)))


def parse(text: str, shown: str) -> dict[Key, SnapshotEntry]:
    """The entries of a snapshot's text; raises UsageError with the line that cannot be read."""
    lines = text.splitlines()
    if not lines or not lines[0].startswith(MAGIC):
        raise UsageError(f"{shown}:1: this is no snapshot: it does not begin with {MAGIC!r}")
    try:
        return _entries(lines, shown)
    except UsageError as error:
        anew = "put it right, or delete the file and write it anew: `triton-mutlint snapshot PATH...`"
        raise UsageError(f"{error}; {anew}") from None


def _entries(lines: list[str], shown: str) -> dict[Key, SnapshotEntry]:
    version = lines[0].removeprefix(MAGIC).partition(":")[0]
    if version != VERSION:
        raise UsageError(f"{shown}:1: unsupported version {version!r}; this tool reads version {VERSION}")
    entries: dict[Key, SnapshotEntry] = {}
    block = None
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        if not line.startswith(" "):
            key = _key(line.rstrip(), f"{shown}:{number}")
            if key in entries:
                raise UsageError(f"{shown}:{number}: `{key}` is listed twice")
            block = _Block()
            entries[key] = SnapshotEntry(block.contract(), number)
        elif block is None:
            raise UsageError(f"{shown}:{number}: a line that belongs to no kernel or op")
        else:
            block.add(line.strip(), f"{shown}:{number}")
            entries[key] = SnapshotEntry(block.contract(), entries[key].line)
    return entries


def _key(line: str, place: str) -> Key:
    for kind, pattern in _HEADS:
        if match := pattern.fullmatch(line):
            return Key(match["file"], match["name"], int(match["ordinal"] or 1), kind)
    raise UsageError(f"{place}: expected `kernel FILE::NAME` or `op FILE::NAME`, not {line!r} (a conflict marker?)")


class _Block:
    """The lines under one kernel."""

    def __init__(self) -> None:
        self._writes: dict[str, tuple[str, str]] = {}
        self._indirect: set[tuple[str, str]] = set()
        self._analyzed = True

    def add(self, line: str, place: str) -> None:
        if write := _WRITE.fullmatch(line):
            name = write[2] or write[4]
            self._writes[name] = (write[1] or write[3], write[5] or "")
        elif through := _THROUGH.fullmatch(line):
            self._indirect.add((through[1], through[2]))
        elif line == _FAILED:
            self._analyzed = False
        elif line != _NOTHING:
            raise UsageError(f"{place}: cannot read {line!r}")

    def contract(self) -> Contract:
        return Contract(MappingProxyType(dict(self._writes)), frozenset(self._indirect), self._analyzed)


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
