"""The ways by which torch runs a program that calls an op, each compared with eager.

`torch.compile`, `torch.export` and Inductor are imported with this module, by the process that others are forked from.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch._dynamo
import torch.export
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils._pytree import tree_leaves, tree_map_only

from triton_mutlint.verify.ops.arguments import CallableOp, made, tensors_in
from triton_mutlint.verify.ops.observing import differentiable
from triton_mutlint.verify.running.memory import RunMemory
from triton_mutlint.verify.wire import FAKE, Case, OpJob, RunResult

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


def compiled_by(path: str, module: Module, example: Example) -> Any:
    """The program as torch makes it of a module by one of PATHS."""
    if path == "aoti":
        from torch._inductor import aoti_compile_and_package, aoti_load_package

        with tempfile.TemporaryDirectory() as folder:
            exported = torch.export.export(module, example)
            return aoti_load_package(aoti_compile_and_package(exported, package_path=str(Path(folder) / "program.pt2")))
    if path in ("export", "export-strict"):
        return torch.export.export(module, example, strict=path == "export-strict").run_decompositions().module()
    backend = "inductor" if path == "inductor" else "aot_eager"
    return torch.compile(module, fullgraph=True, backend=backend, dynamic=True if path == "dynamic" else None)


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
            compiled = compiled_by(path, program, tensors_in(_arguments(job, op, other)))
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
    def called(call: Any, *inputs: Any) -> tuple[Any, ...]:
        results = call(*inputs)
        return *results, _gradients(results[:2], inputs)

    names = [f"argument {name}" for name, value in _arguments(job, op, case).items() for _ in tensors_in(value)]
    return against_eager([partial(called, program), partial(called, program), partial(called, compiled)],
                         lambda: tensors_in(_arguments(job, op, case)),
                         lambda one, other: _difference(one, other, names, job))


def _gradients(results: Any, inputs: Sequence[Any]) -> list[Any]:
    """Those of the inputs of an autograd function, for gradients of ones."""
    results, leaves = [[t for t in held if t.requires_grad] for held in (tensors_in(results), inputs)]
    if not results or not leaves:
        return []
    found = torch.autograd.grad(results, leaves, [torch.ones_like(r) for r in results], allow_unused=True)
    return [torch.zeros_like(leaf) if g is None else g for g, leaf in zip(found, leaves, strict=True)]


def _difference(eager: Any, other: Any, names: Sequence[str], job: OpJob) -> str:
    (first, second, inner, grads), inputs = eager
    (first_2, second_2, inner_2, grads_2), inputs_2 = other
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


def unlike(fakes: Sequence[Any], reals: Sequence[Any]) -> str:
    """In what a fake result is unlike the real one; a size that the fake function leaves open is like any."""
    if len(fakes) != len(reals):
        return f"the fake function gives {len(fakes)} results, the op {len(reals)}"
    for i, (fake, real) in enumerate(zip(fakes, reals, strict=True)):
        if not isinstance(real, torch.Tensor) or not isinstance(fake, torch.Tensor):
            continue
        told = [(what, a, b) for what, a, b in (
            ("dtype", fake.dtype, real.dtype), ("device", fake.device.type, real.device.type),
            ("shape", _known(fake.shape, real.shape), tuple(real.shape)),
            ("strides", _known(fake.stride(), real.stride()), tuple(real.stride()))) if a != b]
        if told and not (told[0][0] == "strides" and real.numel() < 2):
            what, a, b = told[0]
            return f"result {i + 1} of the fake function has the {what} {a}, of the op {b}"
    return ""


def _known(fake: Sequence[Any], real: Sequence[Any]) -> tuple[int, ...]:
    """Sizes as numbers; those that are open, as they are in truth."""
    if len(fake) != len(real):
        return tuple(-1 if isinstance(size, torch.SymInt) else int(size) for size in fake)
    return tuple(b if isinstance(a, torch.SymInt) else int(a) for a, b in zip(fake, real, strict=True))


# --------------------------------------------------------------------------- whether two runs gave the same


def first_difference(pairs: Sequence[tuple[str, Any, Any]], rtol: float | None, atol: float | None) -> str:
    """What differs first, and by how much; "" if all are close. `torch.testing` has tolerances by dtype."""
    both = None if rtol is None and atol is None else (rtol or 0.0, atol or 0.0)
    for name, one, other in pairs:
        left, right = tree_leaves(one), tree_leaves(other)
        if len(left) != len(right):
            return f"{name}: {len(left)} values, not {len(right)}"
        for i, (a, b) in enumerate(zip(left, right, strict=True)):
            try:
                torch.testing.assert_close(b, a, rtol=both and both[0], atol=both and both[1], equal_nan=True)
            except AssertionError as error:
                lines = [line.strip() for line in str(error).splitlines() if line.strip()]
                return f"{name}{f' {i}' if len(left) > 1 else ''} differs: {', '.join(lines[1:3]) or lines[0]}"
    return ""


def against_eager(calls: Sequence[Any], inputs: Callable[[], Sequence[Any]],
                  difference: Callable[[Any, Any], str]) -> tuple[str, str]:
    """The status of a path, and why; `calls` are eager twice, and the path. Each is given inputs of its own.

    "refused" if what eager gives and leaves of its inputs differs, "differs" if the path does, else "ok".
    """
    eager, again, other = ((call(*given), given) for call, given in [(call, inputs()) for call in calls])
    if told := difference(eager, again):
        return "refused", f"eager itself gives other values a second time: {told}"
    told = difference(eager, other)
    return "differs" if told else "ok", told
