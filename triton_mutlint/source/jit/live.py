"""Jit functions that exist already: in a running program, or once a file was really imported (`--import`)."""

from __future__ import annotations

import ast
import contextlib
import importlib
import importlib.util
import linecache
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from triton_mutlint.basics import error_text
from triton_mutlint.source.finder import ModulePlace
from triton_mutlint.source.function_text import closure
from triton_mutlint.source.jit.kernels import Candidate
from triton_mutlint.source.outline import Outline
from triton_mutlint.source.slicing.jitdefs import JitDefinition, unwrap
from triton_mutlint.source.walking import first_line
from triton_mutlint.types import Kernel, SourceFile, StageError, UsageError

_HINT = "leave out --import: the file is then sliced, and what it lacks is stood in for"
_FACTORY_HINT = (
    "give what `{maker}` makes a name at the top level of the file: `kernel = {maker}(…)`, or leave out --import and "
    "give what `{maker}` takes in the spec under `globals:`"
)


def kernel_of(value: Any) -> Kernel:
    """The kernel of a `JITFunction`, autotuner or other wrapper around one.

    Raises UsageError for anything else, and for a function without source.
    """
    jit = unwrap(value)
    if jit is None:
        raise UsageError(f"{value!r} is no Triton kernel: pass what @triton.jit or @triton.autotune returned")
    source, node = _definition(jit, jit.fn.__code__.co_filename)
    candidate = _candidate(jit.fn.__name__, jit.fn.__name__, value, node, jit.fn.__globals__)
    return candidate.kernel(source, candidate.definition.namespace, candidate.tuning(with_decorators=True))


def _candidate(name: str, qualname: str, value: Any, node: ast.FunctionDef, names: Mapping[str, Any]) -> Candidate:
    jit = unwrap(value)
    definition = JitDefinition(node, {**names, **closure(jit.fn)}, jit, jit)
    return Candidate(name, qualname, definition, jit, objects=[(value, node.lineno)])


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


def imported(source: SourceFile, file: Outline) -> list[Candidate]:
    """The jit functions that a file defines, once it is imported (by its package, if it has one), in line order.

    Raises `StageError`.
    """
    try:
        module = _import(source.path)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # the file's own top level may raise anything, SystemExit included
        message = f"importing {source.display} failed: {error_text(error)}".split("\n")[0]
        raise StageError.of_file(source.display, message, _HINT, last_line(error, source.path)) from error
    qualnames = {f.node: f.qualname for f in file.functions if f.parents}
    found: dict[int, Candidate] = {}
    for name, value in list(vars(module).items()):
        jit = unwrap(value) if not isinstance(value, ModuleType) else None
        code = getattr(getattr(jit, "fn", None), "__code__", None)
        node = file.function_at(code.co_firstlineno) if code and Path(code.co_filename) == source.path else None
        if node is not None:
            found.setdefault(id(jit), _candidate(name, qualnames.get(node, name), value, node, vars(module)))
    if not found:
        made = sorted({f.parents[0].name for f in file.jits if f.parents})
        hint = _FACTORY_HINT.format(maker=made[0]) if made and all(f.parents for f in file.jits) else _HINT
        message = f"importing {source.display} gave no jit function, but its text defines some"
        raise StageError.of_file(source.display, message, hint)
    return sorted(found.values(), key=lambda candidate: candidate.node.lineno)


def _import(path: Path) -> ModuleType:
    place = ModulePlace(path)
    root = str(place.around.roots[0])
    sys.path.insert(0, root)
    try:
        if "." in place.dotted:
            return importlib.import_module(place.dotted)
        spec = importlib.util.spec_from_file_location(place.dotted, path)
        if spec is None or spec.loader is None:
            raise ImportError(f"no loader for {path}")
        module = sys.modules[place.dotted] = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[place.dotted]
            raise
        return module
    finally:
        sys.path.remove(root)


def last_line(error: BaseException, path: Path) -> int:
    """The last line of the file that the traceback passes through."""
    frames = reversed(traceback.extract_tb(error.__traceback__))
    return next((frame.lineno or 1 for frame in frames if Path(frame.filename) == path), 1)
