"""Triton's internals behind a few small functions (Triton 3.3 to 3.9).

Version differences live here: import paths, how columns are counted, how passes are run.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from triton_mutlint.source.slicing.sandbox import gpu_of
from triton_mutlint.types import Target, UsageError

SUPPORTED = ((3, 3), (3, 10))  # [first, end)
_RECURSION_LIMIT = 2500  # a call of a helper nests some fifty Python frames
_PARSED = 1024  # texts of functions kept
_trees: dict[str, Any] = {}  # by text
_GLUON = "triton.experimental.gluon"
_NO_LINE_INFO = "TRITON_DISABLE_LINE_INFO"
_USED = ("triton.compiler.code_generator", "triton.language.semantic")  # by every process that lowers


@lru_cache(maxsize=1)
def triton() -> Any:
    """The installed triton module, checked for a supported version.

    Raises UsageError when it is missing or too old.
    """
    # Decides only how floats are fused, never what is written; unset, Triton 3.9 warns about it.
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
    try:
        import triton as module
    except ImportError as error:
        raise UsageError(f"cannot import triton ({error}); install it: pip install 'triton>=3.3'") from error
    if version(module) < SUPPORTED[0]:
        raise UsageError(f"triton {module.__version__} is not supported: triton-mutlint needs triton >= 3.3")
    if type(module.language.standard.cdiv).__name__ == "InterpretedFunction":
        raise UsageError("triton was imported with TRITON_INTERPRET=1, so it compiles nothing: unset it, or run the "
                         "triton-mutlint command")
    return module


def version(module: Any = None) -> tuple[int, int]:
    """(major, minor) of the installed Triton."""
    text = (module or triton()).__version__
    major, minor = text.split(".")[:2]
    return int(major), int("".join(c for c in minor if c.isdigit()) or 0)


def preload() -> None:
    """Import what lowering needs, for the processes that are forked from this one."""
    triton()
    for name in _USED:
        importlib.import_module(name)


def triton_version() -> str:
    return str(triton().__version__)


def newer_than_tested() -> str:
    """A remark on the installed Triton if it is newer than those that were tested, else ""."""
    first, end = SUPPORTED
    if version() < end:
        return ""
    tested = f"{first[0]}.{first[1]} to {end[0]}.{end[1] - 1}"
    return f"triton {triton_version()} is newer than those tested ({tested})"


def column_base() -> int:
    """What Triton's locations call the first column: 0 up to 3.7, 1 from 3.8 on [measured]."""
    return 0 if version() < (3, 8) else 1


def has_descriptor_types() -> bool:
    """Whether host descriptors are arguments of a type of their own: before 3.4, they are pointers."""
    return version() >= (3, 4)


@contextlib.contextmanager
def _line_info() -> Iterator[None]:
    """Locations on every op, also where the environment turns them off: reports say where a write is."""
    disabled = os.environ.pop(_NO_LINE_INFO, None)
    try:
        yield
    finally:
        if disabled is not None:
            os.environ[_NO_LINE_INFO] = disabled


@contextlib.contextmanager
def _parsing_once() -> Iterator[None]:
    """Functions with the same text share one syntax tree: Triton parses a helper anew in each kernel that calls it."""
    from triton.runtime.jit import JITFunction

    owner = next(cls for cls in JITFunction.__mro__ if "parse" in vars(cls))
    plain = owner.parse

    def parse(function: Any) -> Any:
        if function.src not in _trees:
            _trees[function.src] = plain(function)
        return _trees[function.src]

    owner.parse = parse
    try:
        yield
    finally:
        owner.parse = plain
        if len(_trees) > _PARSED:
            _trees.clear()


@contextlib.contextmanager
def deep_calls() -> Iterator[None]:
    """Room for as many nested calls as Triton has where nothing else is on the stack, and more."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


class Backend:
    """One target's backend and its MLIR context, reused for every kernel of a run."""

    def __init__(self, target: Target) -> None:
        triton()
        from triton._C.libtriton import ir
        from triton.compiler import make_backend

        self._gpu = gpu_of(target)
        try:
            self._backend = make_backend(self._gpu)
        except (RuntimeError, ValueError, AssertionError, KeyError) as error:
            raise UsageError(f"Triton has no backend for target {target}: {error}") from error
        self.context = ir.context()
        ir.load_dialects(self.context)
        self._backend.load_dialects(self.context)
        self._module_map = self._backend.get_module_map()
        self._options: dict[tuple[tuple[str, str], ...], Any] = {}

    def options(self, given: Mapping[str, Any]) -> Any:
        """Triton's options object for launch options; most kernels of a run share one."""
        key = tuple((name, repr(value)) for name, value in given.items())
        if key not in self._options:
            self._options[key] = self._parse_options(given)
        return self._options[key]

    def _parse_options(self, given: Mapping[str, Any]) -> Any:
        # Overflow checks add ops and no writes: no verdict needs them.
        wanted = {**given, "sanitize_overflow": False}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return self._backend.parse_options(wanted)
            except (ValueError, AssertionError, TypeError, KeyError):
                # A launch option this Triton refuses (num_warps=3, ...) has no bearing on writes.
                return self._backend.parse_options({"sanitize_overflow": False})

    def make_ir(self, jit: Any, signature: dict[str, Any], constants: dict[tuple[int, ...], Any],
                attributes: dict[tuple[int, ...], Any], options: Any) -> Any:
        """The MLIR module of `jit`; whatever Triton raises passes through."""
        from triton.compiler import ASTSource

        make: Any = ASTSource
        if getattr(jit, "is_gluon", bool)():
            make = importlib.import_module(f"{_GLUON}._runtime").GluonASTSource
            signature = {name: _with_layouts(type_, self._gpu.backend) for name, type_ in signature.items()}
        source = make(jit, signature, constants, attributes)
        codegen = self._backend.get_codegen_implementation(options)
        with warnings.catch_warnings(), _line_info(), _parsing_once(), deep_calls():
            warnings.simplefilter("ignore")
            given = {"target": self._gpu, "options": options, "codegen_fns": codegen,
                     "module_map": self._module_map, "context": self.context}
            wanted = inspect.signature(source.make_ir).parameters  # no target before 3.5
            return source.make_ir(**{name: given[name] for name in wanted})

    def simplify(self, module: Any) -> None:
        """Run Triton's own inliner and clean-ups in place (see docs/analysis.md).

        Raises RuntimeError when a pass fails.
        """
        from triton._C.libtriton import ir, passes

        manager = ir.pass_manager(self.context)
        common = passes.common
        common.add_inliner(manager)
        common.add_canonicalizer(manager)
        common.add_sccp(manager)
        common.add_canonicalizer(manager)
        common.add_cse(manager)
        common.add_symbol_dce(manager)
        manager.run(*((module, "mutlint") if version() >= (3, 6) else (module,)))

    def compile(self, jit: Any, module: Any, options: Any, last: str) -> Any:
        """What Triton's own stages make of a module of `make_ir`, up to the stage `last`: a module, or text.

        Raises UsageError for a stage that this target does not have; whatever Triton raises passes through.
        """
        stages: dict[str, Any] = {}
        given = (stages, options, _language(jit))
        self._backend.add_stages(*given[:len(inspect.signature(self._backend.add_stages).parameters)])
        if last not in stages:
            raise UsageError(f"this target has no stage {last!r}: source, {', '.join(stages)}")
        metadata = {"target": self._gpu, **vars(options)}
        for name, stage in stages.items():
            module = stage(module, metadata)
            if name == last:
                break
        return module


def _language(jit: Any) -> Any:
    """What Triton calls the language of a kernel; nothing where it knows but one."""
    languages = getattr(importlib.import_module("triton.backends.compiler"), "Language", None)
    return languages and (languages.GLUON if getattr(jit, "is_gluon", bool)() else languages.TRITON)


def _with_layouts(type_: Any, backend: str) -> Any:
    """A type of Gluon's arguments, descriptors without a layout having the default one."""
    if isinstance(type_, tuple):
        parts = [_with_layouts(part, backend) for part in type_]
        return type(type_)(*parts) if hasattr(type_, "_fields") else tuple(parts)
    if not type_.startswith("tensordesc") or "Layout" in type_:
        return type_
    layouts = importlib.import_module(f"{_GLUON}.language._layouts")
    language = importlib.import_module("triton.language")
    element, _, sizes = type_.removeprefix("tensordesc<").removesuffix("]>").partition("[")
    shape = [int(size) for size in sizes.split(",")]
    if backend == "cuda":
        layout = layouts.NVMMASharedLayout.get_default_for(shape, language.str_to_ty(element, None))
    else:
        layout = layouts.SwizzledSharedLayout(1, 1, 1, [*reversed(range(len(shape)))])
    return f"{type_.removesuffix('>')},{layout!r}>"


def compilation_error() -> type[Exception]:
    triton()
    from triton.compiler.errors import CompilationError

    return CompilationError  # type: ignore[no-any-return]
