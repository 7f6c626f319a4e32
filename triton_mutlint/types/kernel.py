"""Files and the kernels that were loaded from them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from triton_mutlint.basics import EMPTY
from triton_mutlint.types.failure import Failure
from triton_mutlint.types.place import Location


@dataclass(frozen=True)
class SourceFile:
    """A file to lint: its path, the name shown in reports, its text and the kernels asked for.

    `kernels` is empty when all of them are wanted (`path.py::name` and `module:name` name some).
    """

    path: Path
    display: str
    text: str
    kernels: frozenset[str] = frozenset()


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
    pre_hook: Any = field(default=None, repr=False, compare=False)  # the hook itself, where it is known


@dataclass(frozen=True)
class Autotune:
    """What `@triton.autotune` declares on a kernel.

    `undecided` names those of `restore_value` and `reset_to_zero` that may hold more than is listed,
    because they could not be evaluated.
    """

    configs: tuple[AutotuneConfig, ...]
    restore_value: tuple[str, ...] = ()
    reset_to_zero: tuple[str, ...] = ()
    has_pre_hook: bool = False
    has_post_hook: bool = False
    line: int = 0
    undecided: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class Kernel:
    """A jit function that was loaded from its slice.

    `jit` is the `triton.runtime.JITFunction`; `namespace` the globals it was defined in;
    `node` its `def` in the file's own AST (line numbers are the file's).
    """

    name: str
    location: Location  # of the `def` line
    jit: Any
    parameters: tuple[Parameter, ...]
    node: ast.FunctionDef
    tree: ast.Module  # the whole file it stands in
    path: Path  # absolute path of that file
    namespace: Mapping[str, Any] = field(default=EMPTY, repr=False)
    autotune: Autotune | None = None
    heuristics: Mapping[str, Any] = EMPTY  # parameter -> callable(args mapping) -> value
    is_helper: bool = False
    qualname: str = ""  # "outer.kernel" for a nested one
    notes: tuple[str, ...] = ()  # what the loader had to assume or could not give

    @property
    def parameter_names(self) -> tuple[str, ...]:
        return tuple(p.name for p in self.parameters)


@dataclass(frozen=True)
class LoadResult:
    """What loading one file gave: kernels and helpers in line order, and failures by name.

    `sources` are the files whose text took part (the file itself first); `reads` gives the files that
    were read so far, where names were looked for, and whether that is all that the result depends on;
    `notes` say what else of the file is not analysed.
    """

    kernels: tuple[Kernel, ...] = ()
    helpers: tuple[Kernel, ...] = ()
    failures: tuple[tuple[str, Failure], ...] = ()  # (kernel name or "", why)
    sources: tuple[Path, ...] = ()
    reads: Callable[[], tuple[tuple[str, ...], tuple[tuple[str, str], ...], bool]] | None = field(
        default=None, compare=False)
    notes: tuple[str, ...] = ()
    calls: tuple[tuple[str, int], ...] = ()  # jit functions of other files that its own reach: file, line
    launched: frozenset[str] = frozenset()  # names that its host code may launch, as they are defined
