"""CPU seconds by stage, taken by wrapping the functions that each stage is entered through."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from triton_mutlint import engine, linting, pipeline
from triton_mutlint.lowering import lower, triton_api

LOWERING = "make_ir"
REST = "the rest"
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
    "rules": ((linting, "findings_of"),),
    REST: ((engine, "run"),),
}


@contextmanager
def stage_seconds() -> Iterator[Counter[str]]:
    """Collects CPU seconds (`time.process_time`) by stage, without those of the stages inside of it."""
    seconds: Counter[str] = Counter()
    inner: list[float] = []

    def timed(stage: str, function: Any) -> Any:
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            inner.append(0.0)
            start = time.process_time()
            try:
                return function(*args, **kwargs)
            finally:
                taken = time.process_time() - start
                seconds[stage] += taken - inner.pop()
                if inner:
                    inner[-1] += taken

        return wrapper

    with ExitStack() as stack:
        for stage, places in STAGES.items():
            for owner, name in places:
                stack.enter_context(patch.object(owner, name, timed(stage, getattr(owner, name))))
        yield seconds


def share(seconds: Counter[str]) -> float:
    """The time of everything but Triton's own lowering as a share of that."""
    return (sum(seconds.values()) - seconds[LOWERING]) / seconds[LOWERING]
