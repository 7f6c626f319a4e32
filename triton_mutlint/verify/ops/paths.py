"""The ways by which torch runs a program that calls an op, each compared with eager.

`torch.compile`, `torch.export` and Inductor are imported with this module, by the process that others are forked from.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import torch._dynamo
import torch.export
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils._pytree import tree_leaves, tree_map_only

from triton_mutlint.verify.ops.arguments import CallableOp, made, tensors_in
from triton_mutlint.verify.ops.comparing import against_eager, first_difference, unlike
from triton_mutlint.verify.ops.observing import differentiable
from triton_mutlint.verify.ops.wire import FAKE, Case, OpJob
from triton_mutlint.verify.running.memory import RunMemory
from triton_mutlint.verify.wire import RunResult

COMPILING = 60.0  # seconds that a path takes besides, as it compiles
Module = Any  # torch.nn.Module
Example = tuple[Any, ...]


class OpProgram(torch.nn.Module):  # type: ignore[misc]  # torch has no types here
    """Calls an op with its own inputs, and again with tensors of its own: those torch may drop, move and reuse."""

    def __init__(self, call: Any, given: dict[str, Any]) -> None:
        """`given` are the arguments; tensors in it are passed to `forward`, in this order."""
        super().__init__()
        self._call, self._given = call, given

    def forward(self, *tensors: Any) -> Any:
        first = self._called(tensors)
        inner = [tensor.clone() for tensor in tensors]
        second = self._called(inner)
        return first, second, inner

    def _called(self, tensors: Sequence[Any]) -> Any:
        left, passed = list(tensors), {}
        for name, value in self._given.items():
            if isinstance(value, torch.Tensor):
                passed[name] = left.pop(0)
            elif isinstance(value, list) and value and isinstance(value[0], torch.Tensor):
                passed[name] = [left.pop(0) for _ in value]
            else:
                passed[name] = value
        return self._call(**passed)


# --------------------------------------------------------------------------- the paths


def _aot_eager(module: Module, example: Example) -> Any:
    return torch.compile(module, backend="aot_eager", fullgraph=True)


def _dynamic(module: Module, example: Example) -> Any:
    return torch.compile(module, backend="aot_eager", fullgraph=True, dynamic=True)


def _inductor(module: Module, example: Example) -> Any:
    return torch.compile(module, fullgraph=True)


def exported(module: Module, example: Example, *, strict: bool) -> Any:
    """The program as the functional graph that `torch.export` makes of it."""
    return torch.export.export(module, example, strict=strict).run_decompositions()


def _export(module: Module, example: Example) -> Any:
    return exported(module, example, strict=False).module()


def _export_strict(module: Module, example: Example) -> Any:
    return exported(module, example, strict=True).module()


def _aoti(module: Module, example: Example) -> Any:
    from torch._inductor import aoti_compile_and_package, aoti_load_package

    with tempfile.TemporaryDirectory() as folder:
        program = torch.export.export(module, example)
        package = aoti_compile_and_package(program, package_path=str(Path(folder) / "program.pt2"))
        return aoti_load_package(package)


PATHS: dict[str, Callable[[Module, Example], Any]] = {
    "aot_eager": _aot_eager, "inductor": _inductor, "export": _export, "export-strict": _export_strict,
    "dynamic": _dynamic, "aoti": _aoti,
}  # fmt: skip


# --------------------------------------------------------------------------- one run


def follow(path: str, job: OpJob, op: CallableOp, number: int, case: Case, good: Sequence[Case]) -> RunResult:
    """The result of one path: "ok", or "differs" and in what."""
    if path == FAKE:
        return _fake(job, op, number, case)
    torch._dynamo.reset()
    given = _arguments(job, op, case)
    program = OpProgram(op.program, given)
    compiled = None
    for other in [case, *([c for c in good if c != case and _alike(c, case)][:1] if path == "dynamic" else [])]:
        if compiled is None:
            compiled = PATHS[path](program, tensors_in(_arguments(job, op, other)))
        status, told = _compared(job, op, program, compiled, other)
        if status != "ok":
            return RunResult(number, status, told, given=dict(other))
    return RunResult(number)


def _arguments(job: OpJob, op: CallableOp, case: Case) -> dict[str, Any]:
    """Tensors of their own memory: clones, as their makers give them."""
    given: dict[str, Any] = tree_map_only(
        torch.Tensor, own, made(case, op.takes, RunMemory(job.settings.device), job.values, 0))
    return differentiable(given) if op.gradients is not None else given


def own(tensor: Any) -> Any:
    """A copy with the same strides, in memory of its own."""
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device).copy_(tensor)


def _compared(job: OpJob, op: CallableOp, program: OpProgram, compiled: Any, case: Case) -> tuple[str, str]:
    """The status of the path, and what differs."""
    runs = []
    for call in (program, program, compiled):
        inputs = tensors_in(_arguments(job, op, case))
        results = call(*inputs)
        runs.append((results, inputs, _gradients(results[:2], inputs)))
    names = [f"argument {name}" for name, value in _arguments(job, op, case).items() for _ in tensors_in(value)]
    return against_eager(runs, lambda one, other: _difference(one, other, names, job))


def _gradients(results: Any, inputs: Sequence[Any]) -> list[Any]:
    """Those of the inputs of an autograd function, for gradients of ones."""
    results, leaves = [[t for t in held if t.requires_grad] for held in (tensors_in(results), inputs)]
    if not results or not leaves:
        return []
    found = torch.autograd.grad(results, leaves, [torch.ones_like(r) for r in results], allow_unused=True)
    return [torch.zeros_like(leaf) if g is None else g for g, leaf in zip(found, leaves, strict=True)]


def _difference(eager: Any, other: Any, names: Sequence[str], job: OpJob) -> str:
    (first, second, inner), inputs, grads = eager
    (first_2, second_2, inner_2), inputs_2, grads_2 = other
    s = job.settings
    pairs = [("the result", first, first_2), *zip(names, inputs, inputs_2, strict=True),
             ("the result of a call with tensors of the program's own", second, second_2),
             *((f"{name}, a tensor of the program's own", *two)
               for name, *two in zip(names, inner, inner_2, strict=True)), ("the gradients", grads, grads_2)]
    return first_difference(pairs, s.rtol, s.atol)


def _alike(one: Case, other: Case) -> bool:
    """Whether a program for one call can be run with the tensors of the other: all else is the same, but sizes."""
    return one.keys() == other.keys() and all(
        one[n] == other[n] or ("*" in one[n] and "*" in other[n] and ";" not in one[n] + other[n]
                               and _kinds(one[n]) == _kinds(other[n]))
        for n in one)


def _kinds(text: str) -> list[tuple[str, int]]:
    return [(part.partition("[")[0], part.count(",")) for part in text.split("]")]


# --------------------------------------------------------------------------- the fake function


def _fake(job: OpJob, op: CallableOp, number: int, case: Case) -> RunResult:
    """What the fake function gives against what the op gives."""
    real = op.program(**_arguments(job, op, case))
    with FakeTensorMode(shape_env=ShapeEnv()) as mode:
        given = tree_map_only(torch.Tensor, lambda t: mode.from_tensor(t, static_shapes=True),
                              _arguments(job, op, case))
        fake = op.program(**given)
    told = unlike(tree_leaves(fake), tree_leaves(real))
    return replace(RunResult(number), status="differs" if told else "ok", message=told)
