"""What linting one file gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from triton_mutlint.types.failure import Failure
from triton_mutlint.types.kernel import Kernel
from triton_mutlint.types.report import KernelReport
from triton_mutlint.types.source import SourceFile


class Reads(NamedTuple):
    """The files that an answer comes from, where names were looked for, and whether that is all that it depends on."""

    files: tuple[str, ...] = ()
    looks: tuple[tuple[str, str], ...] = ()
    is_all: bool = True

    def joined(self, other: Reads) -> Reads:
        """What both of two answers come from."""
        files, looks = dict.fromkeys((*self.files, *other.files)), dict.fromkeys((*self.looks, *other.looks))
        return Reads(tuple(files), tuple(looks), self.is_all and other.is_all)


@dataclass(frozen=True)
class FileResult:
    """One file: its kernels and helpers in line order, failures by name, and a report on each kernel.

    Loading gives all but the `reports`, which say which kernel each is on (None: one that did not load).
    `sources` are the files whose text took part (the file itself first); `reads` gives the parts of its `Reads` so far;
    `notes` say what else of the file is not analysed.
    """

    source: SourceFile
    kernels: tuple[Kernel, ...] = ()
    helpers: tuple[Kernel, ...] = ()
    failures: tuple[tuple[str, Failure], ...] = ()  # (kernel name or "", why)
    sources: tuple[Path, ...] = ()
    reads: Callable[[], tuple[Any, ...]] | None = field(default=None, compare=False)
    notes: tuple[str, ...] = ()
    calls: tuple[tuple[str, int], ...] = ()  # jit functions of other files that its own reach: file, line
    launched: frozenset[str] = frozenset()  # names that its host code may launch, as they are defined
    reports: tuple[tuple[Kernel | None, KernelReport], ...] = ()

    @classmethod
    def failed(cls, source: SourceFile, failure: Failure) -> FileResult:
        """Of a file that could not be loaded."""
        return cls(source, failures=(("", failure),), sources=(source.path,))

    @property
    def functions(self) -> tuple[Kernel, ...]:
        """All jit functions of the file."""
        return (*self.helpers, *self.kernels)

    @property
    def failure(self) -> Failure | None:
        """Why the file as a whole was not loaded, if it was not."""
        return next((failure for name, failure in self.failures if not name), None)

    @property
    def failed_names(self) -> list[str]:
        """The kernels that were not loaded."""
        return [name for name, _ in self.failures if name]

    def detached(self) -> FileResult:
        """Without what lives in one process, so that it can go to another, or to disk; `of` is the way back."""
        return replace(self.of(self.source.without_text(), Kernel.detached), reads=None)

    def of(self, source: SourceFile, change: Callable[[Kernel], Kernel] = lambda kernel: kernel) -> FileResult:
        """The same of this source, each kernel changed so."""
        new = {id(k): change(replace(k, source=source)) for k in self.functions}
        return replace(
            self, source=source, kernels=tuple(new[id(k)] for k in self.kernels),
            helpers=tuple(new[id(k)] for k in self.helpers),
            reports=tuple((None if k is None else new[id(k)], report) for k, report in self.reports),
        )
