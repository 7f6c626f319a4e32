"""Jit functions that exist already, in a running program, as loaded kernels."""

from __future__ import annotations

import ast
import contextlib
import linecache
from pathlib import Path
from typing import Any

from triton_mutlint.source.jit.kernels import Candidate
from triton_mutlint.source.slicing.closures import closure
from triton_mutlint.source.slicing.jitdefs import JitDefinition, unwrap
from triton_mutlint.source.walking import first_line
from triton_mutlint.types import Kernel, SourceFile, StageError, UsageError


def kernel_of(value: Any) -> Kernel:
    """The kernel of a `JITFunction`, autotuner or other wrapper around one.

    Raises UsageError for anything else, and for a function without source.
    """
    jit = unwrap(value)
    if jit is None:
        raise UsageError(f"{value!r} is no Triton kernel: pass what @triton.jit or @triton.autotune returned")
    function = jit.fn
    file = function.__code__.co_filename
    source, node = _definition(jit, file)
    name = function.__name__
    candidate = Candidate(name, name, JitDefinition(node, None, jit, jit), jit)  # type: ignore[arg-type]
    candidate.objects.append((value, node.lineno))
    return candidate.kernel(source, {**function.__globals__, **closure(function)},
                            candidate.tuning(with_decorators=True))


def _definition(jit: Any, file: str) -> tuple[SourceFile, ast.FunctionDef]:
    """The function's `def` in its file, or in its own source where the file cannot be read (a notebook)."""
    first = jit.fn.__code__.co_firstlineno
    source = SourceFile(Path(file), file, "".join(linecache.getlines(file)))
    with contextlib.suppress(StageError):
        for node in source.functions.values():
            if node.name == jit.fn.__name__ and first_line(node) == first:
                return source, node
    own = SourceFile(Path(file), file, "\n" * (first - 1) + jit.src)
    for node in own.functions.values():
        return own, node
    raise UsageError(f"{jit.fn.__name__} has no `def` in its source")
