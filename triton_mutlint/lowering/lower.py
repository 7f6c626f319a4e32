"""Lower one variant of a kernel to TTIR text."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import replace

from triton_mutlint.lowering import triton_api
from triton_mutlint.lowering.advice import failure
from triton_mutlint.lowering.arguments import build
from triton_mutlint.process.capture import captured
from triton_mutlint.types import Kernel, Lowered, StageError, Target, Variant

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
        with captured() as printed:
            raised: Exception | None = None
            try:
                module = backend.make_ir(kernel.jit, arguments.signature, arguments.constants, arguments.attributes,
                                         backend.options(variant.options))
            except Exception as error:  # the kernel's own Python runs in there: anything may be raised
                raised = error
        if raised is not None:
            raise StageError(failure(raised, kernel, printed.text, variant.args)) from raised
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
        with captured() as printed:
            try:
                return str(backend.compile(kernel.jit, lowered.handle, backend.options(options), stage))
            except (RuntimeError, ValueError, AssertionError, KeyError, OSError) as error:
                raised = error
        raise StageError(failure(raised, kernel, printed.text, variant.args)) from raised

    def _backend(self, target: Target) -> triton_api.Backend:
        backend, used = self._backends.get(target, (None, 0))
        if backend is None or used >= KERNELS_PER_CONTEXT:
            backend, used = triton_api.Backend(target), 0
        self._backends[target] = (backend, used + 1)
        return backend
