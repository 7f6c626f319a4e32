"""Triton's interpreter, behind a few functions (Triton 3.6 to 3.9): the only code here that knows its insides.

To be used in a process of its own that imported Triton with TRITON_INTERPRET=1: what is patched stays so.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable
from types import MethodType
from typing import Any

import numpy

from triton_mutlint.verify.extra_ops import add_missing, patch_libdevice
from triton_mutlint.verify.loops import loop_range
from triton_mutlint.verify.memory import Memory

_HELPERS = ("interpreter_semantic", "_InterpreterComparison")  # names in the interpreter that rewritten code uses
_RANGE = "_mutlint_range"
_current: Memory | None = None


class OutsideError(Exception):
    """An access that cannot be masked went beside every tensor."""


def interpret_all() -> None:
    """Make every `triton.jit` from now on an interpreted function, also where its body was left out.

    Its code is made from the source that Triton's own compiler would read.
    """
    jit = importlib.import_module("triton.runtime.jit")
    interpreter = importlib.import_module("triton.runtime.interpreter")
    importlib.import_module("triton.knobs").runtime.interpret = False  # or `triton.jit` makes Triton's own kind
    vars(jit)["JITFunction"] = _interpreted(jit.JITFunction, interpreter)
    _guard(interpreter)
    add_missing(interpreter)
    patch_libdevice(interpreter)
    _patch_language(interpreter)


def _patch_language(interpreter: Any) -> None:
    """Have `triton.language` work on NumPy, once and for good: Triton itself does so at every call."""
    import triton.language as tl

    class _Forever:
        def restore(self) -> None:
            """The process ends instead."""

    def whole(*args: object, **kwargs: object) -> None:
        """All of it: Triton patches the modules that it finds among a function's globals."""

    whole.__globals__["_language"], whole.__globals__["_core"] = tl, tl.core
    try:
        interpreter._patch_lang(whole)
    finally:
        del whole.__globals__["_language"], whole.__globals__["_core"]
    tl.tensor.__index__ = lambda tensor: int(tensor.handle.data.squeeze())  # Triton 3.6's fails from NumPy 2.4 on
    tl.range = tl.core.range = loop_range
    tl.dtype.value = property(lambda dtype: dtype)  # `dtype.value`, as of a compiled helper's constexpr parameter
    vars(interpreter)["_patch_lang"] = lambda fn: _Forever()


def watch(memory: Memory | None) -> None:
    """Check every access against `memory` from now on."""
    global _current
    _current = memory


def _interpreted(base: Any, interpreter: Any) -> Any:
    class InterpretedKernel(base):  # type: ignore[misc]  # a class of the installed Triton
        """A jit function that runs as Python, whether launched, called by another or passed as a combiner."""

        def __class_getitem__(cls, item: Any) -> Any:
            return cls  # `triton.jit` writes `JITFunction[T]` in an annotation

        def __init__(self, fn: Any, *args: Any, **kwargs: Any) -> None:
            super().__init__(fn, *args, **kwargs)
            _give_code(self, interpreter)

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            return self if instance is None else MethodType(self, instance)  # a method of an aggregate

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            return self.fn(*args, **kwargs)

        def run(self, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> None:
            interpreter.GridExecutor(self.fn, self.arg_names, grid)(*args, **kwargs)

        def __hash__(self) -> int:
            return id(self)

        def __eq__(self, other: object) -> bool:
            return self is other

    return InterpretedKernel


class _Loops(ast.NodeTransformer):
    """Has `range` count in integers that have a tensor's methods, as compiled loops do."""

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.copy_location(ast.Name(_RANGE, node.ctx), node) if node.id == "range" else node


def _give_code(jit: Any, interpreter: Any) -> None:
    """Put the code of the rewritten source into the function, whose defaults and globals stay."""
    tree = ast.parse(jit.src)
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef), "the source of a jit function is a `def`"
    definition.decorator_list, definition.returns = [], None
    arguments = definition.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        argument.annotation = None
    arguments.defaults = [ast.Constant(None) for _ in arguments.defaults]
    arguments.kw_defaults = [None if d is None else ast.Constant(None) for d in arguments.kw_defaults]
    tree = interpreter.FunctionRewriter.ast_transformer.visit(_Loops().visit(tree))
    tree.body = [_around(definition, jit.fn.__code__.co_freevars)]
    ast.fix_missing_locations(tree)
    ast.increment_lineno(tree, jit.fn.__code__.co_firstlineno - 1)
    made: dict[str, Any] = {}
    exec(compile(tree, jit.fn.__code__.co_filename, "exec"), {}, made)  # noqa: S102 - the kernel is to be run
    given = {name: getattr(interpreter, name) for name in _HELPERS if hasattr(interpreter, name)}
    for name, value in {**given, _RANGE: loop_range}.items():
        dict.__setitem__(jit.fn.__globals__, name, value)
    jit.fn.__code__ = made["_make"](*jit.fn.__code__.co_freevars).__code__


def _around(definition: ast.FunctionDef, names: tuple[str, ...]) -> ast.stmt:
    """A function that gives `definition`, which takes `names` from it: code goes into a function with as many."""
    (maker,) = ast.parse(f"def _make({', '.join(names)}):\n    return {definition.name}").body
    assert isinstance(maker, ast.FunctionDef), "it was written so"
    maker.body.insert(0, definition)
    return maker


# --------------------------------------------------------------------------- memory accesses


def _guard(interpreter: Any) -> None:
    """Put masks on all that goes beside the memory of the run, and count it."""
    builder, handle = interpreter.InterpreterBuilder, interpreter.TensorHandle
    load, store = builder.create_masked_load, builder.create_masked_store
    rmw, cas = builder.create_atomic_rmw, builder.create_atomic_cas

    def masked_load(self: Any, ptrs: Any, mask: Any, *rest: Any, **named: Any) -> Any:
        return load(self, ptrs, _allowed(handle, ptrs, mask, write=False), *rest, **named)

    def masked_store(self: Any, ptrs: Any, value: Any, mask: Any, *rest: Any, **named: Any) -> Any:
        return store(self, ptrs, value, _allowed(handle, ptrs, mask, write=True), *rest, **named)

    def atomic_rmw(self: Any, op: Any, ptr: Any, value: Any, mask: Any, *rest: Any) -> Any:
        return rmw(self, op, ptr, value, _allowed(handle, ptr, mask, write=True), *rest)

    def atomic_cas(self: Any, ptr: Any, *rest: Any) -> Any:
        everything = numpy.ones(numpy.shape(ptr.data), bool)
        if not numpy.all(_allowed(handle, ptr, handle(everything, ptr.dtype), write=True).data):
            raise OutsideError("a compare-and-swap beside every tensor")
        return cas(self, ptr, *rest)

    builder.create_masked_load, builder.create_masked_store = masked_load, masked_store
    builder.create_atomic_rmw, builder.create_atomic_cas = atomic_rmw, atomic_cas


def _allowed(handle: Callable[..., Any], ptrs: Any, mask: Any, *, write: bool) -> Any:
    """The mask without the accesses that lie beside every tensor."""
    memory = _current
    if memory is None:
        return mask
    size = max(ptrs.get_element_ty().primitive_bitwidth // 8, 1)
    inside = memory.inside(ptrs.data, size)
    if inside.all():
        return mask
    wanted = numpy.asarray(mask.data if hasattr(mask, "dtype") and not isinstance(mask, numpy.ndarray) else mask, bool)
    beside = numpy.broadcast_to(wanted, inside.shape) & ~inside
    if beside.any():
        if write:
            memory.beside(int(numpy.broadcast_to(ptrs.data, beside.shape)[beside][0]), int(beside.sum()))
        else:
            memory.read_outside += int(beside.sum())
    allowed = numpy.broadcast_to(wanted, inside.shape) & inside
    return allowed if isinstance(mask, numpy.ndarray) else handle(allowed, mask.dtype)
