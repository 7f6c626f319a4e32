"""Jit functions as they were loaded."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from triton_mutlint.basics import EMPTY
from triton_mutlint.types.place import Location
from triton_mutlint.types.source import SourceFile


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
    def is_tuned(self) -> bool:
        """Whether autotune has a choice, so that it runs the kernel several times."""
        return self.autotune is not None and len(self.autotune.configs) > 1

    def detached(self) -> Kernel:
        """What rules and reports need of it, which can go between processes: no functions, no values."""
        return replace(
            self, jit=None, namespace=EMPTY, parameters=tuple(replace(p, default=None) for p in self.parameters),
            heuristics=dict.fromkeys(self.heuristics),
            autotune=None if self.autotune is None else _named(self.autotune),
        )


def _named(autotune: Autotune) -> Autotune:
    """With the names that the configs set, and without the values."""
    return replace(autotune, configs=tuple(
        replace(config, kwargs=dict.fromkeys(config.kwargs), options=dict.fromkeys(config.options))
        for config in autotune.configs))
