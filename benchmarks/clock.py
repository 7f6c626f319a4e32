"""CPU seconds by stage, taken by wrapping the functions that each stage is entered through.

Each variant that the tool answers for is lowered once more beside its own run, as Triton does it by itself, whether
the tool lowers it or tells it from others: that is `BARE`, which all shares are of.
"""

from __future__ import annotations

import contextlib
import gc
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

from triton_mutlint.lowering import lower, triton_api
from triton_mutlint.lowering.lower import build
from triton_mutlint.run import judge
from triton_mutlint.run import kernel as pipeline
from triton_mutlint.run import lint as linting
from triton_mutlint.run import run as engine
from triton_mutlint.run.siblings import Siblings
from triton_mutlint.types import Kernel, Plan, Target

BARE = "make_ir by itself"
LOWERING = "lowering"
REST = "the rest"
DEFAULT_THRESHOLD = gc.get_threshold()
# Stage -> where its functions are looked up. A stage that runs inside another is counted as itself only.
STAGES: dict[str, tuple[tuple[Any, str], ...]] = {
    LOWERING: ((triton_api.Backend, "make_ir"),),
    "MLIR context": ((triton_api.Backend, "__init__"),),  # once per run and target
    "printing, capturing": ((lower.Lowerer, "lower"),),
    "Triton's clean-ups": ((lower.Lowerer, "simplify"),),
    "loading": ((linting, "load_file"),),
    "signatures": ((linting, "plan_kernel"),),
    "parsing": ((pipeline, "parse"),),
    "analysis": ((pipeline, "may_simplify"), (pipeline, "analyze_module"), (pipeline, "judge")),
    "rules": ((judge, "report_on"),),
    REST: ((engine, "run"),),
}


@contextmanager
def bare() -> Iterator[None]:
    """In this block, `Backend.make_ir` lowers as Triton does by itself, beside Python's collector."""
    threshold = gc.get_threshold()
    gc.set_threshold(*DEFAULT_THRESHOLD)
    try:
        with patch.object(triton_api, "_parsing_once", contextlib.nullcontext):
            yield
    finally:
        gc.set_threshold(*threshold)


@contextmanager
def stage_seconds() -> Iterator[Counter[str]]:
    """Collects CPU seconds (`time.process_time`) by stage, without those of the stages inside of it."""
    seconds: Any = Counter()
    inner: list[float] = []
    running: list[str] = []

    def timed(stage: str, function: Any) -> Any:
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if running and running[-1] == BARE:
                return function(*args, **kwargs)
            running.append(stage)
            inner.append(0.0)
            start = time.process_time()
            try:
                return function(*args, **kwargs)
            finally:
                taken = time.process_time() - start
                running.pop()
                seconds[stage] += taken - inner.pop()
                if inner:
                    inner[-1] += taken

        return wrapper

    make_ir = triton_api.Backend.make_ir
    with ExitStack() as stack:
        for stage, places in STAGES.items():
            for owner, name in places:
                stack.enter_context(patch.object(owner, name, timed(stage, getattr(owner, name))))
        by_itself, lowering = timed(BARE, partial(_by_itself, make_ir)), triton_api.Backend.make_ir

        def both(*args: Any) -> Any:
            by_itself(*args)
            return lowering(*args)

        stack.enter_context(patch.object(triton_api.Backend, "make_ir", both))
        stack.enter_context(_told_variants(by_itself))
        yield seconds


@contextmanager
def _told_variants(by_itself: Callable[..., object]) -> Iterator[None]:
    """In this block, variants that are told from others are lowered, too."""
    analyze, told = pipeline._Variants.analyze, Siblings.told
    kernels: list[tuple[Kernel, Plan, Target, pipeline.Tools]] = []

    def analyzing(work: pipeline._Variants, target: Target, named: bool) -> None:
        kernels.append((work.kernel, work.plan, target, work.tools))
        analyze(work, target, named)
        kernels.pop()

    def telling(siblings: Siblings, index: int) -> Any:
        effects = told(siblings, index)
        if effects is not None:
            kernel, plan, target, tools = kernels[-1]
            variant, backend = plan.variants[index], tools.lowerer._backend(target)
            given = build(variant.args)
            by_itself(backend, kernel.jit, given.signature, given.constants, given.attributes,
                      backend.options(variant.options))
        return effects

    with patch.object(pipeline._Variants, "analyze", analyzing), patch.object(Siblings, "told", telling):
        yield


def _by_itself(make_ir: Callable[..., Any], *args: Any) -> None:
    with bare(), contextlib.suppress(Exception):  # the tool's own lowering raises it again
        make_ir(*args)


def share(seconds: Counter[str], *, lowering: bool = False) -> float:
    """The time of everything, with or without lowering, as a share of what lowering takes Triton by itself."""
    rest = sum(seconds.values()) - seconds[BARE] - (0 if lowering else seconds[LOWERING])
    return rest / seconds[BARE]
