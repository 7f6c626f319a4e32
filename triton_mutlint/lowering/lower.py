"""Lower one variant of a kernel to TTIR text; its arguments in the form Triton's ASTSource takes, and who owns each."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from triton_mutlint.lowering import triton_api
from triton_mutlint.lowering.advice import failure
from triton_mutlint.process.capture import captured
from triton_mutlint.source.slicing.sandbox import driven_by, stand_in_driver
from triton_mutlint.types import (
    ArgOwner,
    ArgRole,
    ArgType,
    ConstexprValue,
    DescriptorType,
    Kernel,
    Lowered,
    PointerType,
    StageError,
    Target,
    TupleType,
    Variant,
)


@dataclass
class SourceArguments:
    """`signature`, `constants` and `attributes` as ASTSource names them; `owners` in TTIR order."""

    signature: dict[str, Any] = field(default_factory=dict)
    constants: dict[tuple[int, ...], Any] = field(default_factory=dict)
    attributes: dict[tuple[int, ...], Any] = field(default_factory=dict)
    owners: list[ArgOwner] = field(default_factory=list)


def build(args: Mapping[str, ArgType]) -> SourceArguments:
    """Arguments in signature order; `args` must name every parameter in order."""
    out = SourceArguments()
    for index, (name, arg) in enumerate(args.items()):
        out.signature[name] = _entry(arg, (index,), name, out)
    return out


def flat_args(args: Mapping[str, ArgType]) -> dict[str, ArgType]:
    """What each argument of a variant is, by its flattened name."""
    return {name: kind for owner, arg in args.items() for name, kind in flat_names(owner, arg)}


def flat_names(name: str, arg: ArgType) -> Iterator[tuple[str, ArgType]]:
    """The reported parameters of one argument: itself, or a tuple's elements as `name.i`."""
    if not isinstance(arg, TupleType):
        yield name, arg
        return
    for label, element in zip(arg.labels, arg.elements, strict=True):
        yield from flat_names(f"{name}.{label}", element)


def _entry(arg: ArgType, path: tuple[int, ...], name: str, out: SourceArguments) -> Any:
    if isinstance(arg, TupleType):
        parts = [_entry(element, (*path, i), f"{name}.{label}", out)
                 for i, (label, element) in enumerate(zip(arg.labels, arg.elements, strict=True))]
        return arg.holding(parts)
    if isinstance(arg, ConstexprValue):
        out.constants[path] = arg.value
        return "constexpr"
    if isinstance(arg, DescriptorType):
        if not triton_api.has_descriptor_types():  # an address, which the kernel makes a descriptor of
            out.owners.append(ArgOwner(name, ArgRole.ADDRESS))
            return "nvTmaDesc"
        rank = len(arg.block_shape)
        out.owners.append(ArgOwner(name, ArgRole.ADDRESS))
        out.owners.extend([ArgOwner(name, ArgRole.META)] * (2 * rank))  # shape (i32), strides (i64)
        return f"tensordesc<{arg.element}{list(arg.block_shape)}{',' if arg.layout else ''}{arg.layout}>"
    role = ArgRole.ADDRESS if isinstance(arg, PointerType) else ArgRole.SCALAR
    out.owners.append(ArgOwner(name, role))
    if arg.divisibility != 1:
        out.attributes[path] = [["tt.divisibility", arg.divisibility]]
    if isinstance(arg, PointerType):
        return f"*{'k' if arg.const else ''}{arg.element}"
    return arg.name


@contextlib.contextmanager
def _telling(kernel: Kernel, variant: Variant, *kinds: type[Exception]) -> Iterator[None]:
    """What Triton raises and prints in this block, as a StageError."""
    raised: Exception | None = None
    with captured() as printed:
        try:
            yield
        except kinds as error:
            raised = error
    if raised is not None:
        raise StageError(failure(raised, kernel, printed.text, variant.args)) from raised


PTX = 87  # the version that is written; else Triton starts its assembler to ask which that knows
KERNELS_PER_CONTEXT = 256  # an MLIR context never forgets a type, attribute or location


class Lowerer:
    """Lowers kernels for one or more targets, reusing one MLIR context per target."""

    def __init__(self) -> None:
        self._backends: dict[Target, tuple[triton_api.Backend, int]] = {}

    def prepare(self, targets: Iterable[Target]) -> None:
        """Make what lowering for `targets` needs, which processes that are forked from this one then have."""
        for target in targets:
            self._backend(target).options({})

    def lower(self, kernel: Kernel, variant: Variant, target: Target) -> Lowered:
        """The TTIR of `kernel` under `variant`.

        Raises StageError with Triton's own message, file and line when it cannot be lowered, and
        UsageError when Triton has no backend for `target`.
        """
        backend = self._backend(target)
        arguments = build(variant.args)
        # The kernel's own Python runs in there: anything may be raised. Functions of `tl.target_info` ask the driver.
        with _telling(kernel, variant, Exception), driven_by(stand_in_driver(target)):
            module = backend.make_ir(kernel.jit, arguments.signature, arguments.constants, arguments.attributes,
                                     backend.options(variant.options))
        return Lowered(str(module), module.get_entry_func_name(), tuple(arguments.owners), target, module)

    def simplify(self, lowered: Lowered) -> Lowered:
        """The same kernel after Triton's inliner and clean-ups (docs/analysis.md, section 8)."""
        backend, _ = self._backends[lowered.target]
        with captured(), contextlib.suppress(RuntimeError):
            # After a failed pass the module is still valid TTIR, only larger.
            backend.simplify(lowered.handle)
        return replace(lowered, text=str(lowered.handle))

    def compile(self, kernel: Kernel, variant: Variant, lowered: Lowered, stage: str) -> str:
        """What Triton makes of a kernel by `stage` ("ttir", "ttgir", "llir", "ptx", "amdgcn"): text.

        Raises StageError with Triton's message, and UsageError for a stage that the target does not have.
        """
        backend, _ = self._backends[lowered.target]
        options = {"ptx_version": PTX, **variant.options} if lowered.target.backend == "cuda" else variant.options
        with _telling(kernel, variant, RuntimeError, ValueError, AssertionError, KeyError, OSError):
            return str(backend.compile(kernel.jit, lowered.handle, backend.options(options), stage))

    def _backend(self, target: Target) -> triton_api.Backend:
        backend, used = self._backends.get(target, (None, 0))
        if backend is None or used >= KERNELS_PER_CONTEXT:
            backend, used = triton_api.Backend(target), 0
        self._backends[target] = (backend, used + 1)
        return backend
