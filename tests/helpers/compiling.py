"""Compiling the kernels of a book into a cache of Triton, as a launch would; no GPU is needed for that."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from triton_mutlint.config.request import Request
from triton_mutlint.lowering.lower import build
from triton_mutlint.run.judge import report_on
from triton_mutlint.run.lint import Run
from triton_mutlint.run.run import compiling, sources_of
from triton_mutlint.types import Kernel, Report, Variant


def compiled(request: Request, folder: Path, wanted: Callable[[Kernel], bool] = lambda kernel: True) -> Report:
    """The report on sources; the wanted kernels are compiled into `folder` with the arguments of each variant."""
    launched: list[tuple[Kernel, Variant]] = []
    sources, failures = sources_of(request)
    with compiling():
        run = Run(request, lambda *_: None, lambda kernel, variant, *_: launched.append((kernel, variant)))
        report = report_on(run, sources, failures)
        before = os.environ.get("TRITON_CACHE_DIR")
        os.environ["TRITON_CACHE_DIR"] = str(folder)
        try:
            for kernel, variant in launched:
                if wanted(kernel):
                    compile_kernel(kernel, variant)
        finally:
            os.environ.pop("TRITON_CACHE_DIR")
            if before is not None:
                os.environ["TRITON_CACHE_DIR"] = before
    return report


def compile_kernel(kernel: Kernel, variant: Variant) -> None:
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    arguments = build(variant.args)
    source = ASTSource(kernel.jit, arguments.signature, constexprs=arguments.constants, attrs=arguments.attributes)
    triton.compile(source, target=GPUTarget("cuda", 90, 32), options=dict(variant.options))
