"""One call of an op, twice with different values, and what it did to its arguments."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from triton_mutlint.verify.ops.arguments import CallableOp, made, tensors_in
from triton_mutlint.verify.ops.wire import Case, OpJob
from triton_mutlint.verify.running import runtime
from triton_mutlint.verify.running.memory import Allocation, RunMemory
from triton_mutlint.verify.wire import RunResult

FILLS = (0, 1)


def observed(job: OpJob, op: CallableOp, number: int, case: Case) -> RunResult:
    """What a call shows with either fill."""
    seen = [_once(job, op, case, fill) for fill in FILLS]
    changed = {name for one in seen for name in one.changed}
    outside: dict[str, int] = {}
    for one in seen:
        outside.update(one.outside)
    return RunResult(
        number, changed=tuple(sorted(changed)), outside=outside,
        same=tuple(sorted({name for one in seen for name in one.touched} - changed)),
        returned=tuple(sorted({name for one in seen for name in one.returned})),
        reached=tuple(sorted({place for one in seen for place in one.reached})),
    )


@dataclass(frozen=True)
class _Seen:
    changed: set[str]
    touched: set[str]
    returned: set[str]
    outside: dict[str, int]
    reached: set[int]


def _once(job: OpJob, op: CallableOp, case: Case, fill: int) -> _Seen:
    memory = RunMemory(job.settings.device)
    memory.is_open = True
    given = made(case, op.takes, memory, job.values, fill)
    before = {name: [_looks(t) for t in tensors_in(value)] for name, value in given.items()}
    with _stores(job, memory), _Writes(memory), _reaching(job) as reached:
        result = op.call(**given)
    if job.settings.device == "cuda":
        torch.cuda.synchronize()
    changed = {_argument(r) for r in memory if r.changed()}
    changed |= {name for name, value in given.items() if before[name] != [_looks(t) for t in tensors_in(value)]}
    held = {r.raw.untyped_storage().data_ptr(): _argument(r) for r in memory}
    allowed = [r.alias_info is not None for r in op.overload._schema.returns]
    returned = {held[t.untyped_storage().data_ptr()] for i, one in enumerate(_results(result))
                for t in tensors_in(one) if not (allowed[i:i + 1] or [False])[0]
                and t.untyped_storage().data_ptr() in held}
    return _Seen(changed, {_argument(r) for r in memory if r.is_touched}, returned,
                 {_argument(r): r.spilled() for r in memory if r.spilled()}, reached)


def _results(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple) else [result]


def _looks(tensor: torch.Tensor) -> tuple[Any, ...]:
    """What a caller sees of a tensor besides its elements: `t_` and `set_` change that."""
    return tuple(tensor.shape), tensor.stride(), tensor.data_ptr()


def _argument(region: Allocation) -> str:
    return region.label.partition("[")[0]


@contextmanager
def _stores(job: OpJob, memory: RunMemory) -> Iterator[None]:
    """Note what kernels store to: under the interpreter, each store is seen."""
    if job.settings.device == "cpu":
        runtime.watch(memory)
    try:
        yield
    finally:
        runtime.watch(None)


class _Writes(TorchDispatchMode):  # type: ignore[misc]  # torch has no types here
    """Notes the arguments that torch's own functions write inside an op, by their schemas, whatever they put there.

    Other ops are looked into: what they declare may be wrong.
    """

    def __init__(self, memory: RunMemory) -> None:
        super().__init__()
        self._memory = memory

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        key = "CUDA" if self._memory.device == "cuda" else "CPU"
        is_own = func.namespace in ("aten", "prims")
        if not is_own and torch._C._dispatch_has_computed_kernel_for_dispatch_key(func.name(), key):
            keys = torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, key))
            with self:
                return func.redispatch(keys, *args, **kwargs)
        if is_own and not self._memory.is_launching:
            named = {a.name: value for a, value in zip(func._schema.arguments, args, strict=False)} | kwargs
            for argument in func._schema.arguments:
                if argument.alias_info is not None and argument.alias_info.is_write:
                    self._note(named.get(argument.name))
        return func(*args, **kwargs)

    def _note(self, value: Any) -> None:
        for tensor in tensors_in(value):
            for region in self._memory:
                is_own = tensor.untyped_storage().data_ptr() == region.raw.untyped_storage().data_ptr()
                region.is_touched |= is_own and tensor.numel() > 0


@contextmanager
def _reaching(job: OpJob) -> Iterator[set[int]]:
    """Which of the job's places are executed."""
    found: set[int] = set()
    wanted: dict[str, dict[int, list[int]]] = {}
    for number, (file, line) in enumerate(job.places):
        wanted.setdefault(str(Path(file).resolve()), {}).setdefault(line, []).append(number)

    def call(frame: FrameType, event: str, value: Any) -> Any:
        lines = wanted.get(frame.f_code.co_filename)
        if lines is None:
            return None

        def line(frame: FrameType, event: str, value: Any) -> Any:
            found.update(lines.get(frame.f_lineno, ()))
            return line

        return line

    before = sys.gettrace()
    sys.settrace(call if wanted else before)
    try:
        yield found
    finally:
        sys.settrace(before)
