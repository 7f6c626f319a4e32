"""What a kernel or a torch op may write, as one sees it from outside: no lines, no ops, no types."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from triton_mutlint.contracts.portable import portable
from triton_mutlint.types import KernelReport, Mutation, OpMutation, OpReport, Status

WRITTEN, CONDITIONAL, UNKNOWN = (m.value for m in (Mutation.WRITTEN, Mutation.CONDITIONAL, Mutation.UNKNOWN))


KERNEL, OP = "kernel", "op"
MAYBE = OpMutation.MAYBE.value
_Report = TypeVar("_Report", KernelReport, OpReport)
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
    `analyzed`, and writes nothing that is known.
    """

    writes: Mapping[str, tuple[str, str]] = field(default_factory=lambda: MappingProxyType({}))
    indirect: frozenset[tuple[str, str]] = frozenset()
    analyzed: bool = True


def contract_of(report: KernelReport) -> Contract:
    """The contract of one analysed kernel."""
    if report.status is Status.FAILED:
        return Contract(analyzed=False)
    writes = {
        p.name: (p.mutation.value, _one_line(" or ".join(p.when)) if p.mutation is Mutation.CONDITIONAL else "")
        for p in report.parameters if p.mutation is not Mutation.UNWRITTEN
    }
    return Contract(MappingProxyType(writes), frozenset((w.through, w.via) for w in report.indirect_writes))


def op_contract_of(report: OpReport) -> Contract:
    """The contract of one op."""
    writes = {a.name: (a.mutation.value, "") for a in report.arguments if a.mutation is not OpMutation.UNWRITTEN}
    return Contract(MappingProxyType(writes))


def keyed_ops(reports: Iterable[OpReport], cwd: Path, folder: Path) -> dict[Key, OpReport]:
    """The ops by what names them in a file that lies in `folder`, sorted."""
    return _keyed((report for report in reports if _OP_NAME.fullmatch(report.name)), OP, cwd, folder)


def keyed(reports: Iterable[KernelReport], cwd: Path, folder: Path) -> dict[Key, KernelReport]:
    """The kernels by what names them in a file that lies in `folder`, sorted."""
    return _keyed((report for report in reports if report.name), KERNEL, cwd, folder)


def _keyed(reports: Iterable[_Report], kind: str, cwd: Path, folder: Path) -> dict[Key, _Report]:
    seen: Counter[tuple[str, str]] = Counter()
    found = {}
    for report in sorted(reports, key=lambda r: (r.location, r.name)):
        file = portable(report.location.file, cwd, folder)
        seen[file, report.name] += 1
        found[Key(file, report.name, seen[file, report.name], kind)] = report
    return dict(sorted(found.items()))


def _one_line(text: str) -> str:
    return " ".join(text.split())
