"""Scalars of interpreted kernels."""

from __future__ import annotations

import importlib
from typing import Any

import numpy


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
