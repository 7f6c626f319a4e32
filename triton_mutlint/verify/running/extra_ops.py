"""What Triton's interpreter lacks and kernels use: descriptor reductions, and libdevice's functions by NumPy.

The values need only be good enough for a kernel to go on: what it writes to is what is looked at.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy

_PREFIX = "__nv_"
_BY_NAME: dict[str, Callable[..., Any]] = {
    "rsqrt": lambda x: 1 / numpy.sqrt(x), "exp10": lambda x: numpy.power(10.0, x), "erf": numpy.vectorize(math.erf),
    "erfc": numpy.vectorize(math.erfc), "asin": numpy.arcsin, "acos": numpy.arccos, "atan": numpy.arctan,
    "asinh": numpy.arcsinh, "acosh": numpy.arccosh, "atanh": numpy.arctanh, "atan2": numpy.arctan2,
    "pow": numpy.power, "fmax": numpy.fmax, "fmin": numpy.fmin, "abs": numpy.abs, "fabs": numpy.abs,
    "round": numpy.round, "finite": numpy.isfinite, "isfinited": numpy.isfinite, "isnan": numpy.isnan,
    "isinf": numpy.isinf, "signbit": numpy.signbit, "div_rn": numpy.divide, "dividef": numpy.divide,
    "fdividef": numpy.divide, "fdivide": numpy.divide, "mul_rn": numpy.multiply, "add_rn": numpy.add,
    "sub_rn": numpy.subtract, "rcp_rn": numpy.reciprocal, "sqrt_rn": numpy.sqrt, "fma": lambda x, y, z: x * y + z,
    "float_as_int": lambda x: x.view(numpy.int32), "int_as_float": lambda x: x.view(numpy.float32),
    "nearbyint": numpy.rint, "lgamma": numpy.vectorize(math.lgamma), "tgamma": numpy.vectorize(math.gamma),
    "float2int_rn": numpy.rint, "float2int_rz": numpy.trunc, "float2int_rd": numpy.floor, "llrint": numpy.rint,
}  # fmt: skip
_BY_NUMPY = ("exp", "exp2", "log", "log2", "log10", "log1p", "expm1", "sqrt", "cbrt", "sin", "cos", "tan", "sinh",
             "cosh", "tanh", "floor", "ceil", "trunc", "rint", "copysign", "fmod", "hypot", "ldexp", "nextafter")


def add_missing(interpreter: Any) -> None:
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
    if not hasattr(builder, "create_descriptor_reduce"):
        builder.create_descriptor_reduce = descriptor_reduce


def _libdevice(symbol: str) -> Callable[..., Any] | None:
    """NumPy's function for one of libdevice's: `__nv_fast_expf`, `__nv_exp`."""
    if not symbol.startswith(_PREFIX):
        return None
    name = symbol.removeprefix(_PREFIX).removeprefix("fast_")
    for tried in (name, name.removesuffix("f"), name.removeprefix("f"), name.removesuffix("d")):
        if tried in _BY_NAME:
            return _BY_NAME[tried]
        if tried in _BY_NUMPY:
            function: Callable[..., Any] = getattr(numpy, tried)
            return function
    return None


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


def patch_libdevice(interpreter: Any) -> None:
    """Have libdevice's functions reach the builder, under every name by which kernels import them."""
    common = importlib.import_module("triton.language.extra.libdevice")
    cuda = importlib.import_module("triton.language.extra.cuda.libdevice")
    interpreter._patch_builtin(cuda, interpreter.interpreter_builder, _Forever())
    for name, stub in list(vars(common).items()):
        if callable(stub) and name in vars(cuda):
            setattr(common, name, vars(cuda)[name])


class _Forever:
    """A patch scope that is never restored."""

    def set_attr(self, target: object, name: str, value: object) -> None:
        setattr(target, name, value)
