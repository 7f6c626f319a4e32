"""torch's own pass over a kernel: what torch.compile takes for written where code that it compiles launches the kernel.

Newer versions (2.13) have `identify_accessed_tensors`, which also says whether an epilogue may be fused into a kernel;
older ones (2.7 to 2.12) `identify_mutated_tensors`, which names what is written. It is asked what the module has.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from inspect import signature
from typing import Any
from unittest.mock import patch

from triton_mutlint.basics import UsageError
from triton_mutlint.kernel_source.dtypes import canonical_dtype
from triton_mutlint.lowering.advice import said
from triton_mutlint.process.capture import captured
from triton_mutlint.source.slicing.sandbox import driven_by, stand_in_driver
from triton_mutlint.source.slicing.tracing import patched
from triton_mutlint.types import (
    ArgType,
    ConstexprValue,
    DescriptorType,
    Kernel,
    ScalarType,
    Target,
    TupleType,
    Variant,
)

_PASS = "torch._higher_order_ops.triton_kernel_wrap"  # noqa: S105 - no password
_USED = (_PASS, "torch._inductor.dependencies", "torch._inductor.ir", "torch._inductor.utils")  # it imports them late
_WIDE = {"i64": 1 << 40, "u32": 1 << 31, "u64": 1 << 63}  # the least integers, nearly, that Triton gives these types

_HAS_DESCRIPTORS, _FIRST_WITH_DESCRIPTORS = "has_triton_tensor_descriptor_host_tma", 90


@dataclass(frozen=True)
class TorchAnswer:
    """What the pass says of one variant: what it takes for written, and why it gave up and took all, or "".

    `fuses_epilogue` is None where this torch does not say.
    """

    written: frozenset[str]
    gave_up: str = ""
    fuses_epilogue: bool | None = None


def preload() -> None:
    """Import the pass, for the processes that are forked from this one. Raises UsageError where it cannot be had.

    Nothing of it starts a thread, which a process that forks must not have: not NumPy, and not a driver of a GPU.
    """
    try:
        with patch.dict(os.environ, OMP_NUM_THREADS="1"):
            cuda = importlib.import_module("torch.cuda")
        with patch.object(cuda, "is_available", lambda: False):
            for name in _USED:
                importlib.import_module(name)
    except (ImportError, OSError, RuntimeError) as error:  # OSError: a library of its own that does not load
        raise UsageError(f"--compare torch: the pass of this torch cannot be used: {error}") from error


def arguments_for(variant: Variant) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """The arguments as the pass takes them, and what it is told of descriptors; None where it has no form for one."""
    wrap, descriptors = importlib.import_module(_PASS), {}
    for name, arg in variant.args.items():
        if isinstance(arg, DescriptorType):
            if not hasattr(wrap, "create_tma_stable_metadata"):
                return None
            descriptors[name] = wrap.create_tma_stable_metadata(list(arg.block_shape))
    try:
        return {name: _value(arg) for name, arg in variant.args.items()}, descriptors
    except KeyError:
        return None


def _value(arg: ArgType) -> Any:
    """Raises KeyError for a type that torch does not have."""
    import torch

    if isinstance(arg, ConstexprValue):
        return arg.value
    if isinstance(arg, TupleType):
        return arg.holding([_value(element) for element in arg.elements])
    if not isinstance(arg, ScalarType):
        return torch.empty(64, dtype=torch_dtypes()[arg.element])
    if arg.name in ("i1", "u1"):
        return True
    return 1.5 if arg.name.startswith(("fp", "bf")) else _WIDE.get(arg.name, 32) + (arg.divisibility == 1)


@cache
def torch_dtypes() -> Mapping[str | None, Any]:
    """The types of elements that this torch has, by Triton's names."""
    import torch

    found = {canonical_dtype(str(d)): d for d in vars(torch).values() if isinstance(d, torch.dtype)}
    return {**found, "i1": torch.bool}  # it has an int1, which can do nothing


def ask(kernel: Kernel, variant: Variant, target: Target) -> TorchAnswer | None:
    """What the pass says of one variant; None where it cannot be asked about such arguments."""
    given = arguments_for(variant)
    if given is None:
        return None
    wrap, failures = importlib.import_module(_PASS), list[BaseException]()

    def told(*_: object, **__: object) -> None:
        failures.extend(error for error in sys.exc_info()[1:2] if error is not None)

    with captured() as printed, driver(target), patch.object(wrap.log, "warning", told):
        found = identify(kernel.jit, *given)
    reads_writes = getattr(found, "read_writes", found)  # of an older one: names
    written = frozenset(getattr(dep, "name", dep) for dep in getattr(reads_writes, "writes", reads_writes))
    why = ": ".join(said(failures[0], printed.text).splitlines()[:2]) if failures else ""
    return TorchAnswer(written, why, getattr(found, "can_fuse_epilogue", None))


def identify(jit: Any, arguments: Mapping[str, Any], descriptors: Mapping[str, Any]) -> Any:
    """The pass itself, under whichever name this torch has it."""
    wrap = importlib.import_module(_PASS)
    run = getattr(wrap, "identify_accessed_tensors", None) or wrap.identify_mutated_tensors
    knows_descriptors = len(signature(run).parameters) > 2  # since torch 2.8
    return run(jit, dict(arguments), *([dict(descriptors)] if knows_descriptors else []))


@contextlib.contextmanager
def driver(target: Target) -> Iterator[None]:
    """What the pass asks of the GPU, answered for `target`: Triton's active driver, and whether it has descriptors."""
    has_descriptors = target.backend == "cuda" and int(target.arch) >= _FIRST_WITH_DESCRIPTORS
    asked = importlib.import_module("torch.utils._triton")
    known = {name: lambda: has_descriptors for name in (_HAS_DESCRIPTORS,) if hasattr(asked, name)}
    with driven_by(stand_in_driver(target)), patched(asked, **known):
        yield
