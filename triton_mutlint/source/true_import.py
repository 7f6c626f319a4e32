"""`--import`: really import the file, as Python would, and collect its jit functions."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from triton_mutlint.basics import error_text
from triton_mutlint.source.finder import ModulePlace
from triton_mutlint.source.function_text import called_from_outside, called_names, returns_value
from triton_mutlint.source.jit.kernels import Candidate
from triton_mutlint.source.jit.launched import launches
from triton_mutlint.source.outline import Outline
from triton_mutlint.source.slicing.closures import closure
from triton_mutlint.source.slicing.jitdefs import JitDefinition, unwrap
from triton_mutlint.types import Failure, FileResult, Kernel, Location, SourceFile, Stage

_HINT = "leave out --import: the file is then sliced, and what it lacks is stood in for"
_FACTORY_HINT = (
    "give what `{maker}` makes a name at the top level of the file: `kernel = {maker}(…)`, or leave out --import and "
    "give what `{maker}` takes in the spec under `globals:`"
)


def load_by_import(source: SourceFile, file: Outline) -> FileResult:
    """Import the file (by its package, if it has one) and collect the jit functions it defines."""
    try:
        module = _import(source.path)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # the file's own top level may raise anything, SystemExit included
        line = _line(error, source.path)
        message = f"importing {source.display} failed: {error_text(error)}".split("\n")[0]
        failure = Failure(Stage.LOAD, message, Location(source.display, line), _HINT)
        return FileResult.failed(source, failure)
    found = _collect(module, source.path, file)
    if not found:
        message = f"importing {source.display} gave no jit function, but its text defines some"
        made = sorted({f.parents[0].name for f in file.jits if f.parents})
        hint = _FACTORY_HINT.format(maker=made[0]) if made and all(f.parents for f in file.jits) else _HINT
        failure = Failure(Stage.LOAD, message, Location(source.display, 1), hint)
        return FileResult.failed(source, failure)
    return _result(source, file, module, found)


def _import(path: Path) -> ModuleType:
    place = ModulePlace(path)
    if "." in place.dotted:
        sys.path.insert(0, str(place.around.roots[0]))
        try:
            return importlib.import_module(place.dotted)
        finally:
            sys.path.remove(str(place.around.roots[0]))
    spec = importlib.util.spec_from_file_location(place.dotted, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"no loader for {path}")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    sys.modules[place.dotted] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[place.dotted]
        raise
    finally:
        sys.path.remove(str(path.parent))
    return module


def _collect(module: ModuleType, path: Path, file: Outline) -> list[tuple[str, Any, Any, ast.FunctionDef]]:
    """(name, object, jit function, its node), in line order, each once."""
    nodes = {f.first_line: f.node for f in file.functions} | {f.node.lineno: f.node for f in file.functions}
    found: dict[int, tuple[str, Any, Any, ast.FunctionDef]] = {}
    for name, value in list(vars(module).items()):
        jit = unwrap(value) if not isinstance(value, ModuleType) else None
        code = getattr(getattr(jit, "fn", None), "__code__", None)
        if code is None or Path(code.co_filename) != path:
            continue
        node = nodes.get(code.co_firstlineno)
        if isinstance(node, ast.FunctionDef):
            found.setdefault(id(jit), (name, value, jit, node))
    return sorted(found.values(), key=lambda item: item[3].lineno)


def _result(
    source: SourceFile,
    file: Outline,
    module: ModuleType,
    found: list[tuple[str, Any, Any, ast.FunctionDef]],
) -> FileResult:
    launched = launches(file)
    qualnames = {f.node: f.qualname for f in file.functions if f.parents}
    called = called_from_outside({node.name: called_names(node) for *_, node in found})
    kernels: list[Kernel] = []
    helpers: list[Kernel] = []
    for name, value, jit, node in found:
        qualname = qualnames.get(node, name)
        candidate = Candidate(name, qualname, JitDefinition(node, None, jit, jit), jit)  # type: ignore[arg-type]
        if source.kernels:
            is_kernel = bool(source.kernels & candidate.names)
        else:
            is_kernel = name in launched.direct or (
                not returns_value(node) and (name not in called or name in launched.passed)
            )
        candidate.objects.append((value, node.lineno))
        kernel = candidate.kernel(source, {**vars(module), **closure(jit.fn)}, candidate.tuning(with_decorators=True),
                                  is_helper=not is_kernel)
        (kernels if is_kernel else helpers).append(kernel)
    return FileResult(source, tuple(kernels), tuple(helpers), (), (source.path,))


def _line(error: BaseException, path: Path) -> int:
    """The last line of the file that the traceback passes through."""
    line, trace = 1, error.__traceback__
    while trace is not None:
        if Path(trace.tb_frame.f_code.co_filename) == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
