"""Jit functions as they were loaded, and what linting one file gives."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from triton_mutlint.basics import EMPTY
from triton_mutlint.types.report import KernelReport
from triton_mutlint.types.source import Failure, Location, SourceFile


@dataclass(frozen=True)
class Parameter:
    """One parameter of a jit function as written: annotation text and default, if any."""

    name: str
    index: int
    is_constexpr: bool = False
    is_const: bool = False  # annotated tl.const
    annotation: str = ""
    has_default: bool = False
    default: Any = None


@dataclass(frozen=True)
class AutotuneConfig:
    """One `triton.Config`: its constexpr values, its launch options and whether it has a pre_hook."""

    kwargs: Mapping[str, Any] = EMPTY
    options: Mapping[str, Any] = EMPTY  # num_warps, num_stages, num_ctas, maxnreg, ...
    has_pre_hook: bool = False


@dataclass(frozen=True)
class Autotune:
    """What `@triton.autotune` declares on a kernel.

    `undecided` names those of `restore_value` and `reset_to_zero` that may hold more than is listed,
    because they could not be evaluated. `is_edited` says that a function which chooses among the configs may
    change their values as well.
    """

    configs: tuple[AutotuneConfig, ...]
    restore_value: tuple[str, ...] = ()
    reset_to_zero: tuple[str, ...] = ()
    has_pre_hook: bool = False
    has_post_hook: bool = False
    line: int = 0
    undecided: frozenset[str] = frozenset()
    is_edited: bool = False


@dataclass(frozen=True, eq=False)
class Kernel:
    """A jit function that was loaded from its slice.

    `jit` is the `triton.runtime.JITFunction`; `namespace` holds the globals it was defined in; `source` is its file.
    """

    name: str
    location: Location  # of the `def` line
    jit: Any
    parameters: tuple[Parameter, ...]
    source: SourceFile
    namespace: Mapping[str, Any] = field(default=EMPTY, repr=False)
    autotune: Autotune | None = None
    heuristics: Mapping[str, Any] = EMPTY  # parameter -> callable(args mapping) -> value
    is_helper: bool = False
    qualname: str = ""  # "outer.kernel" for a nested one
    notes: tuple[str, ...] = ()  # what the loader had to assume or could not give

    @property
    def parameter_names(self) -> tuple[str, ...]:
        return tuple(p.name for p in self.parameters)

    @property
    def path(self) -> Path:
        return self.source.path

    @property
    def tree(self) -> ast.Module:
        """The whole file it stands in."""
        return self.source.tree

    @property
    def node(self) -> ast.FunctionDef:
        """Its `def` in that tree."""
        return self.source.functions[self.location.line, self.location.column]

    @property
    def configs(self) -> tuple[AutotuneConfig, ...]:
        """What autotune chooses from."""
        return () if self.autotune is None else self.autotune.configs

    @property
    def is_tuned(self) -> bool:
        """Whether autotune has a choice, so that it runs the kernel several times."""
        return len(self.configs) > 1

    def detached(self) -> Kernel:
        """What rules and reports need of it, which can go between processes: no functions, no values."""
        return replace(
            self, jit=None, namespace=EMPTY, parameters=tuple(replace(p, default=None) for p in self.parameters),
            heuristics=dict.fromkeys(self.heuristics),
            autotune=self.autotune and replace(self.autotune, configs=tuple(
                replace(c, kwargs=dict.fromkeys(c.kwargs), options=dict.fromkeys(c.options))
                for c in self.autotune.configs)))


@dataclass(frozen=True)
class FileResult:
    """One file: its kernels and helpers in line order, failures by name, and a report on each kernel.

    Loading gives all but the `reports`, which say which kernel each is on (None: one that did not load).
    `sources` are the files whose text took part (the file itself first); `notes` say what else of the file is not
    analysed.
    """

    source: SourceFile
    kernels: tuple[Kernel, ...] = ()
    helpers: tuple[Kernel, ...] = ()
    failures: tuple[tuple[str, Failure], ...] = ()  # (kernel name or "", why)
    sources: tuple[Path, ...] = ()
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
    def listed(self) -> tuple[Kernel, ...]:
        """All jit functions of the file, as they are numbered: the kernels first."""
        return (*self.kernels, *self.helpers)

    @property
    def failure(self) -> Failure | None:
        """Why the file as a whole was not loaded, if it was not."""
        return next((failure for name, failure in self.failures if not name), None)

    def detached(self) -> FileResult:
        """Without what lives in one process, so that it can go to another, or to disk; `of` is the way back."""
        return self.of(replace(self.source, text=""), Kernel.detached)

    def of(self, source: SourceFile, change: Callable[[Kernel], Kernel] = lambda kernel: kernel) -> FileResult:
        """The same of this source, each kernel changed so."""
        new = {id(k): change(replace(k, source=source)) for k in self.functions}
        return replace(
            self, source=source, kernels=tuple(new[id(k)] for k in self.kernels),
            helpers=tuple(new[id(k)] for k in self.helpers),
            reports=tuple((None if k is None else new[id(k)], report) for k, report in self.reports),
        )
