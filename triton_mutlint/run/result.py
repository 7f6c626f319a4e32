"""What linting one file gave, without what lives in one process: it goes between processes, and to disk."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

from triton_mutlint.run.judge import LintedFile
from triton_mutlint.source.text import parse_source
from triton_mutlint.spec.model import Spec
from triton_mutlint.types import (
    EMPTY,
    Autotune,
    Kernel,
    KernelReport,
    LoadResult,
    SourceFile,
)

_OF_TREE = ("node", "tree")


@dataclass(frozen=True)
class FileOutcome:
    """The kernels of a file and a report on each.

    The kernels in `result` are `detached`; `reports` say which of them each report is on (None: one that did
    not load).
    """

    result: LoadResult
    reports: tuple[tuple[int | None, KernelReport], ...] = ()

    def linted(self, source: SourceFile, spec: Spec | None) -> LintedFile:
        """The file as rules look at it."""
        kernels = tuple(_attached(kernel, source) for kernel in self.result.kernels)
        helpers = tuple(_attached(kernel, source) for kernel in self.result.helpers)
        reports = tuple((None if i is None else kernels[i], report) for i, report in self.reports)
        return LintedFile(source, spec, replace(self.result, kernels=kernels, helpers=helpers), reports)


def as_helper(kernel: Kernel) -> Kernel:
    """The same function where it turned out to be no kernel."""
    if isinstance(kernel, _Detached):
        return _without_tree({**vars(kernel), "is_helper": True})
    return replace(kernel, is_helper=True)


def detached(result: LoadResult) -> LoadResult:
    """What rules and reports need of a file's kernels: no functions, no syntax tree, no values."""
    kernels, helpers = tuple(map(_detached, result.kernels)), tuple(map(_detached, result.helpers))
    return replace(result, kernels=kernels, helpers=helpers, reads=None)


def _detached(kernel: Kernel) -> Kernel:
    return _without_tree({
        **{f.name: getattr(kernel, f.name) for f in fields(kernel) if f.name not in _OF_TREE},
        "jit": None,
        "namespace": EMPTY,
        "parameters": tuple(replace(p, default=None) for p in kernel.parameters),
        "heuristics": dict.fromkeys(kernel.heuristics),
        "autotune": None if kernel.autotune is None else _named(kernel.autotune),
    })


def _named(autotune: Autotune) -> Autotune:
    """With the names that the configs set, and without the values."""
    return replace(autotune, configs=tuple(
        replace(config, kwargs=dict.fromkeys(config.kwargs), options=dict.fromkeys(config.options), pre_hook=None)
        for config in autotune.configs))


def _attached(kernel: Kernel, source: SourceFile) -> Kernel:
    given = {f.name: getattr(kernel, f.name) for f in fields(kernel) if f.name not in _OF_TREE}
    return _without_tree({**given, "source": source})


def _without_tree(given: Mapping[str, Any]) -> Kernel:
    made = object.__new__(_Detached)
    vars(made).update(given)
    return made


class _Detached(Kernel):
    """A kernel whose syntax tree is read from the file's text when somebody asks for it."""

    source: SourceFile

    def __getattr__(self, name: str) -> Any:  # asked for what is not there
        if name not in _OF_TREE or "source" not in vars(self):
            raise AttributeError(name)
        tree = _parsed(self.source)
        found = tree if name == "tree" else _functions(tree)[self.location.line, self.location.column]
        vars(self)[name] = found
        return found


@lru_cache(maxsize=64)
def _parsed(source: SourceFile) -> ast.Module:
    return parse_source(source.text, str(source.path), source.display)


@lru_cache(maxsize=64)
def _functions(tree: ast.Module) -> dict[tuple[int, int], ast.FunctionDef]:
    """The functions of a file by line and column of their `def`, from 1."""
    return {(n.lineno, n.col_offset + 1): n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
