"""Triton's interpreter, behind a few functions (Triton 3.6 to 3.9): the only code here that knows its insides.

To be used in a process of its own that imported Triton with TRITON_INTERPRET=1: what is patched stays so.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import MethodType
from typing import Any

import numpy

from triton_mutlint.verify.running.memory import RunMemory

_HELPERS = ("interpreter_semantic", "_InterpreterComparison")  # names in the interpreter that rewritten code uses
_RANGE = "_mutlint_range"
_PREFIX = "__nv_"  # of libdevice's symbols
_current: RunMemory | None = None


class _Forever:
    """A scope of patches that are never taken back."""

    def set_attr(self, target: object, name: str, value: object) -> None:
        setattr(target, name, value)

    def restore(self) -> None:
        """The process ends instead."""


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
    _add_missing(interpreter)
    _patch_libdevice(interpreter)
    _patch_language(interpreter)


def _patch_language(interpreter: Any) -> None:
    """Have `triton.language` work on NumPy, once and for good: Triton itself does so at every call."""
    import triton.language as tl

    def whole(*args: object, **kwargs: object) -> None:
        """All of it: Triton patches the modules that it finds among a function's globals."""

    whole.__globals__["_language"], whole.__globals__["_core"] = tl, tl.core
    try:
        interpreter._patch_lang(whole)
    finally:
        del whole.__globals__["_language"], whole.__globals__["_core"]
    tl.tensor.__index__ = lambda tensor: int(tensor.handle.data.squeeze())  # Triton 3.6's fails from NumPy 2.4 on
    tl.range = tl.core.range = _loop_range
    tl.dtype.value = property(lambda dtype: dtype)  # `dtype.value`, as of a compiled helper's constexpr parameter
    vars(interpreter)["_patch_lang"] = lambda fn: _Forever()


@contextmanager
def watching(memory: RunMemory) -> Iterator[None]:
    """Under the interpreter, every access in this block is checked against `memory`."""
    global _current
    _current = memory
    try:
        yield
    finally:
        _current = None


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
            if warmup:
                return
            memory = _current or RunMemory("cpu")
            memory.is_launching = True
            try:
                interpreter.GridExecutor(self.fn, self.arg_names, grid)(*args, **kwargs)
            finally:
                memory.is_launching = False

        def __hash__(self) -> int:
            return id(self)

        def __eq__(self, other: object) -> bool:
            return self is other

    return InterpretedKernel


def typed_scalar(value: Any, kind: str) -> Any:
    """A scalar of the type that compiled code would give it: the interpreter leaves floats as Python's."""
    import triton.language as tl

    interpreter = importlib.import_module("triton.runtime.interpreter")
    element = tl.str_to_ty({"u1": "i1"}.get(kind, kind), None)
    stored = interpreter._get_np_dtype(element)
    if kind == "bf16":
        data = (numpy.array([value], numpy.float32).view(numpy.uint32) >> 16).astype(stored)
    else:
        data = numpy.array([value]).astype(stored)
    return tl.tensor(interpreter.TensorHandle(data, element), element)


def _loop_range(first: Any, second: Any = None, step: Any = None, **options: Any) -> Iterator[Any]:
    """`range` and `tl.range`, counting in tensors as compiled loops do; what tells the compiler is ignored."""
    bounds = (0, first) if second is None else (first, second)
    values = [value.value if type(value).__name__ == "constexpr" else value
              for value in (*bounds, 1 if step is None else step)]
    return (typed_scalar(value, "i32") for value in range(*values))


class _Loops(ast.NodeTransformer):
    """Has `range` count as `_loop_range` does."""

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
    for name, value in {**given, _RANGE: _loop_range}.items():
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
    cas = builder.create_atomic_cas

    def masking(access: Any, pointer: int, mask: int) -> Any:
        """The access of this kind with what is allowed of its mask; loads alone have it right after the pointer."""
        def masked(self: Any, *args: Any, **named: Any) -> Any:
            allowed = _allowed(handle, args[pointer], args[mask], write=mask - pointer > 1)
            return access(self, *args[:mask], allowed, *args[mask + 1:], **named)

        return masked

    def atomic_cas(self: Any, ptr: Any, *rest: Any) -> Any:
        everything = numpy.ones(numpy.shape(ptr.data), bool)
        if not numpy.all(_allowed(handle, ptr, handle(everything, ptr.dtype), write=True).data):
            raise OutsideError("a compare-and-swap beside every tensor")
        return cas(self, ptr, *rest)

    builder.create_masked_load = masking(builder.create_masked_load, 0, 1)
    builder.create_masked_store = masking(builder.create_masked_store, 0, 2)
    builder.create_atomic_rmw, builder.create_atomic_cas = masking(builder.create_atomic_rmw, 1, 3), atomic_cas


def _allowed(handle: Callable[..., Any], ptrs: Any, mask: Any, *, write: bool) -> Any:
    """The mask without the accesses that lie beside every tensor."""
    memory = _current
    if memory is None:
        return mask
    wanted = numpy.asarray(mask.data if hasattr(mask, "dtype") and not isinstance(mask, numpy.ndarray) else mask, bool)
    if memory.is_open:
        if write:
            memory.note(ptrs.data[numpy.broadcast_to(wanted, ptrs.data.shape)])
        return mask
    size = max(ptrs.get_element_ty().primitive_bitwidth // 8, 1)
    inside = memory.inside(ptrs.data, size)
    if inside.all():
        return mask
    beside = numpy.broadcast_to(wanted, inside.shape) & ~inside
    if beside.any():
        if write:
            memory.beside(int(numpy.broadcast_to(ptrs.data, beside.shape)[beside][0]), int(beside.sum()))
        else:
            memory.read_outside += int(beside.sum())
    allowed = numpy.broadcast_to(wanted, inside.shape) & inside
    return allowed if isinstance(mask, numpy.ndarray) else handle(allowed, mask.dtype)


# --------------------------------------------------------------------------- what the interpreter lacks


def _add_missing(interpreter: Any) -> None:
    """Give the interpreter's builder what it lacks; what it has stays as it is."""
    builder, handle = interpreter.InterpreterBuilder, interpreter.TensorHandle
    own = builder.create_extern_elementwise

    def extern(self: Any, library: str, path: str, symbol: str, args: list[Any], result: Any, pure: bool) -> Any:
        function = _libdevice(symbol) if pure else None
        if function is None:
            return own(self, library, path, symbol, args, result, pure)
        kind = interpreter._get_np_dtype(result.scalar)
        with numpy.errstate(all="ignore"):
            values = function(*(numpy.asarray(a.data) for a in args))
        whole = numpy.nan_to_num(values) if numpy.dtype(kind).kind in "iu" else values
        return handle(whole.astype(kind), result.scalar)

    def descriptor_reduce(self: Any, kind: Any, desc: Any, value: Any, indices: Any) -> None:
        ptrs, mask = desc.materialize_pointers(indices)
        mask = mask if hasattr(mask, "dtype") and not isinstance(mask, numpy.ndarray) else handle(mask, ptrs.dtype)
        self.create_atomic_rmw(_atomic(interpreter, kind, value.dtype.scalar), ptrs, value, mask,
                               interpreter._ir.MEM_SEMANTIC.RELAXED, None)

    builder.create_extern_elementwise = extern
    given, tl = interpreter._implicit_cvt, interpreter.tl  # a number has methods in a kernel: `eps.to(tl.float32)`
    interpreter._implicit_cvt = lambda arg: given(arg) if type(arg) is not float else \
        tl.tensor(handle(numpy.array([arg], numpy.float32), tl.float32), tl.float32)
    if not hasattr(builder, "create_descriptor_reduce"):
        builder.create_descriptor_reduce = descriptor_reduce


def _libdevice(symbol: str) -> Callable[..., Any] | None:
    """NumPy's function for one of libdevice's: `__nv_fast_expf`, `__nv_exp`.

    Of others the first argument stands for the result: what is written does not hang on it, and the kernel goes on.
    """
    if not symbol.startswith(_PREFIX):
        return None
    name = symbol.removeprefix(_PREFIX).removeprefix("fast_")
    names = (name, name.removesuffix("f"), name.removeprefix("f"), name.removesuffix("d"))
    return next((getattr(numpy, tried) for tried in names if hasattr(numpy, tried)), lambda first, *others: first)


def _atomic(interpreter: Any, kind: Any, element: Any) -> Any:
    """The atomic that a descriptor's reduction makes of each element."""
    operations = interpreter._ir.ATOMIC_OP
    name = str(kind.name if hasattr(kind, "name") else kind).rpartition(".")[2]
    if element.is_floating():
        name = {"ADD": "FADD"}.get(name, name)
    elif not element.is_int_signed():
        name = {"MIN": "UMIN", "MAX": "UMAX"}.get(name, name)
    if not hasattr(operations, name):
        raise NotImplementedError(f"descriptor reduction {name}")
    return getattr(operations, name)


def _patch_libdevice(interpreter: Any) -> None:
    """Have libdevice's functions reach the builder, under every name by which kernels import them."""
    common = importlib.import_module("triton.language.extra.libdevice")
    cuda = importlib.import_module("triton.language.extra.cuda.libdevice")
    interpreter._patch_builtin(cuda, interpreter.interpreter_builder, _Forever())
    for name, stub in list(vars(common).items()):
        if callable(stub) and name in vars(cuda):
            setattr(common, name, vars(cuda)[name])
