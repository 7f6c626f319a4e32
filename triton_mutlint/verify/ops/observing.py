"""One call of an op, twice with different values, and what it did to its arguments."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from triton_mutlint.kernel_source.dtypes import canonical_dtype
from triton_mutlint.verify.ops.arguments import CallableOp, made, one_value, tensor_text, tensors_in
from triton_mutlint.verify.running.memory import Allocation, RunMemory
from triton_mutlint.verify.running.runtime import watching
from triton_mutlint.verify.wire import Case, OpJob, RunResult

FILLS = (0, 1)


@dataclass(frozen=True)
class _Seen:
    """What calls did to arguments, or to places of the code."""

    early: set[str]  # written before `backward`
    unmarked: set[str]
    changed: set[str]
    touched: set[str]
    returned: set[str]
    outside: dict[str, int]
    reached: set[int]
    raised: set[str]  # by `backward`


def observed(job: OpJob, op: CallableOp, number: int, case: Case) -> RunResult:
    """What a call shows with either fill."""
    one, other = (_once(job, op, case, fill) for fill in FILLS)
    seen = _Seen(*(getattr(one, f.name) | getattr(other, f.name) for f in fields(_Seen)))
    return RunResult(
        number, message=min(seen.raised, default=""), outside=seen.outside, changed=tuple(sorted(seen.changed)),
        same=tuple(sorted(seen.touched - seen.changed)), returned=tuple(sorted(seen.returned)),
        later=tuple(sorted((seen.changed | seen.touched) - seen.early)), unmarked=tuple(sorted(seen.unmarked)),
        reached=tuple(sorted(seen.reached)))


def _once(job: OpJob, op: CallableOp, case: Case, fill: int) -> _Seen:
    memory = RunMemory(job.settings.device)
    memory.is_open = True
    given = made(case, op.takes, memory, job.values, fill)
    raised: set[str] = set()
    if op.gradients is not None:
        differentiable(given)
    before = {name: [_looks(t) for t in tensors_in(value)] for name, value in given.items()}
    with watching(memory), _Writes(memory), _reaching(job) as reached, _marking(memory) as marked:
        result = op.call(**given)
        _wait(memory)
        early = {_argument(r) for r in memory if r.is_touched or r.changed()}
        if op.gradients is not None:
            raised = _backward(op, given, result, memory, fill)
    _wait(memory)
    changed = {_argument(r) for r in memory if r.changed()}
    changed |= {name for name, value in given.items() if before[name] != [_looks(t) for t in tensors_in(value)]}
    allowed = [r.alias_info is not None for r in op.schema.returns] if op.schema is not None else []
    results = result if isinstance(result, tuple) else (result,)
    returned = {_argument(r) for i, one in enumerate(results) if not (allowed[i:i + 1] or [False])[0]
                for t in tensors_in(one) if (r := memory.owner(t)) is not None}
    unmarked = early - marked if op.gradients is not None else set()
    return _Seen(early, unmarked, changed, {_argument(r) for r in memory if r.is_touched}, returned,
                 {_argument(r): r.spilled() for r in memory if r.spilled()}, reached, raised)


def _wait(memory: RunMemory) -> None:
    if memory.device == "cuda":
        torch.cuda.synchronize()


def _backward(op: CallableOp, given: dict[str, Any], result: Any, memory: RunMemory, fill: int) -> set[str]:
    """Go back through an autograd function with gradients of its own memory; what that raises."""
    pairs = _gradients(result, op.gradients or (), memory, fill)
    leaves = [t for t in tensors_in(given) if t.requires_grad]
    try:
        if pairs and leaves:
            torch.autograd.grad([r for r, _ in pairs], leaves, [g for _, g in pairs], allow_unused=True)
    except Exception as error:  # the user's own code; what `forward` did is known all the same
        return {f"backward: {type(error).__name__}: {(str(error).strip().splitlines() or [''])[0]}"}
    return set()


def _gradients(results: Any, names: Sequence[str], memory: RunMemory, fill: int) -> list[tuple[Any, Any]]:
    """Each result that has a gradient, with one; `names` are what `backward` calls them, the last of them the rest."""
    found: list[tuple[Any, Any]] = []
    for i, result in enumerate(results if isinstance(results, tuple) else (results,)):
        if isinstance(result, torch.Tensor) and result.requires_grad and names:
            text = tensor_text(canonical_dtype(str(result.dtype)) or "", result.shape)
            name = names[min(i, len(names) - 1)].replace("[]", f"[{i}]")
            found.append((result, one_value(text, name, memory, None, fill)))
    return found


def differentiable(value: dict[str, Any]) -> dict[str, Any]:
    """The tensors of floating point in a value, as leaves that get gradients."""
    for tensor in tensors_in(value):
        if tensor.is_floating_point():
            tensor.requires_grad_()
    return value


def _looks(tensor: torch.Tensor) -> tuple[Any, ...]:
    """What a caller sees of a tensor besides its elements: `t_` and `set_` change that."""
    return tuple(tensor.shape), tensor.stride(), tensor.data_ptr()


def _argument(region: Allocation) -> str:
    return region.label.partition("[")[0]


@contextmanager
def _marking(memory: RunMemory) -> Iterator[set[str]]:
    """The arguments that an autograd function says to write."""
    found: set[str] = set()
    context = torch.autograd.function.FunctionCtx
    before = context.mark_dirty

    def mark_dirty(self: Any, *tensors: Any) -> None:
        found.update(_argument(r) for t in tensors_in(tensors) if (r := memory.owner(t)) is not None)
        before(self, *tensors)

    with patch.object(context, "mark_dirty", mark_dirty):
        yield found


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
                is_written = argument.alias_info is not None and argument.alias_info.is_write
                for tensor in tensors_in(named.get(argument.name)) if is_written else ():
                    region = self._memory.owner(tensor)
                    if region is not None and tensor.numel():
                        region.is_touched = True
        return func(*args, **kwargs)


_real = lru_cache(maxsize=None)(os.path.realpath)


@contextmanager
def _reaching(job: OpJob) -> Iterator[set[int]]:
    """Which of the job's places are executed."""
    found: set[int] = set()
    wanted: dict[str, dict[int, list[int]]] = {}
    for number, (file, line) in enumerate(job.places):
        wanted.setdefault(str(Path(file).resolve()), {}).setdefault(line, []).append(number)

    def call(frame: FrameType, event: str, value: Any) -> Any:
        lines = wanted.get(_real(frame.f_code.co_filename))
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
