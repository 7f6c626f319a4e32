"""Running a model: each path against eager, and after which op their values part."""

from __future__ import annotations

import copy
import importlib
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_map_only

from triton_mutlint.verify.ops.arguments import tensors_in
from triton_mutlint.verify.ops.child import make_repeatable
from triton_mutlint.verify.ops.paths import against_eager, compiled_by, first_difference, own
from triton_mutlint.verify.running.child import attempted
from triton_mutlint.verify.wire import ONNX, ModelJob, RefusedError, RunResult

_BUILTIN = ("", "aten", "prims", "prim", "higher_order", "profiler")
Compile = Callable[[Any, tuple[Any, ...]], Any]


def loaded(job: ModelJob) -> Callable[[int], RunResult]:
    """What runs the model by the path of a number. Raises RefusedError."""
    make_repeatable()
    try:
        sys.path[:0] = job.roots
        module, inputs = getattr(importlib.import_module(job.module), job.factory)()
        module = module.to(job.settings.device)
        inputs = tree_map_only(torch.Tensor, lambda t: t.to(job.settings.device), tuple(inputs))
    except Exception as error:  # the factory's own code
        raise RefusedError(f"{job.name} fails: {type(error).__name__}: {error}") from error
    return lambda number: attempted(job.settings, number, job.seconds(number),
                                    partial(_run, job, number, module, inputs))


def _run(job: ModelJob, number: int, module: Any, inputs: tuple[Any, ...]) -> RunResult:
    """One path; where values part, `given` names the op and its call."""
    path = job.runs[number]
    compiled = partial(compiled_by, path)
    if path == ONNX:
        compiled = partial(_onnx, getattr(module, "onnx_translations", None))
    status, told = _compared(module, inputs, compiled, job)
    op, calls = _parting(module, inputs, compiled, job) if status == "differs" else ("", 0)
    after = f"; the values part after `{op}`, call {calls} of an op" if op else ""
    return RunResult(number, status, told + after, given={"op": op} if op else {})


def _compared(module: Any, inputs: tuple[Any, ...], compiled: Compile, job: ModelJob) -> tuple[str, str]:
    """The status of a path, and how results and inputs after the call differ. Modules are copied for each run."""
    torch._dynamo.reset()

    def copied() -> tuple[Any, ...]:
        held: tuple[Any, ...] = tree_map_only(torch.Tensor, own, inputs)
        return held

    def difference(one: Any, other: Any) -> str:
        pairs = zip(("the result", "an input after the call"), one, other, strict=True)
        return first_difference(list(pairs), job.settings.rtol, job.settings.atol)

    calls = [copy.deepcopy(module), copy.deepcopy(module), compiled(copy.deepcopy(module), copied())]
    with torch.no_grad():
        return against_eager(calls, copied, difference)


def _onnx(translations: Any, module: Any, inputs: tuple[Any, ...]) -> Any:
    """The model as `torch.onnx` exports it; `translations` say what its ops become."""
    onnxruntime = importlib.import_module("onnxruntime")
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "model.onnx")
        torch.onnx.export(module, inputs, file, dynamo=True, custom_translation_table=translations)
        session = onnxruntime.InferenceSession(file)
    names = [one.name for one in session.get_inputs()]

    def call(*held: Any) -> Any:
        given = [tensor.numpy() for tensor in tensors_in(held)]
        found = [torch.from_numpy(v) for v in session.run(None, dict(zip(names, given, strict=True)))]
        return found[0] if len(found) == 1 else tuple(found)

    return call


# --------------------------------------------------------------------------- after which op values part


def _parting(module: Any, inputs: tuple[Any, ...], compiled: Compile, job: ModelJob) -> tuple[str, int]:
    """The first op after which the path's values differ from eager's, by bisection, and which call it is."""
    graph, passed = _captured(module, inputs)
    calls = [node for node in graph.graph.nodes
             if node.op == "call_function" and _name(node).partition("::")[0] not in _BUILTIN]
    low, high = 0, len(calls)  # after `low` calls values are alike; after `high` they are not, if the model tells
    while low < high:
        middle = (low + high) // 2
        if _compared(_until(graph, calls[middle]), passed, compiled, job)[0] != "ok":
            high = middle
        else:
            low = middle + 1
    return (_name(calls[low]), low + 1) if low < len(calls) else ("", 0)


def _captured(module: Any, inputs: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """The model as one graph of calls in their order, none left out, and what the graph is given."""
    seen: list[Any] = []

    def backend(graph: Any, example: Any) -> Any:
        def run(*given: Any) -> Any:
            seen.append((graph, tree_map_only(torch.Tensor, own, given)))
            return graph(*given)

        return run

    torch._dynamo.reset()
    with torch.no_grad():
        torch.compile(copy.deepcopy(module), backend=backend, fullgraph=True)(*tree_map_only(torch.Tensor, own, inputs))
    graph, given = seen[0]
    return graph, given


def _until(graph: Any, last: Any) -> Any:
    """The graph up to one call, which returns what that call was given and gave."""
    found = torch.fx.Graph()
    known: dict[Any, Any] = {}
    for node in graph.graph.nodes:
        known[node] = found.node_copy(node, lambda n: known[n])
        if node is last:
            break
    shown = [known[n] for n in (*last.all_input_nodes, last) if isinstance(n.meta.get("example_value"), torch.Tensor)]
    found.output(tuple(shown))
    return torch.fx.GraphModule(graph, found)


def _name(node: Any) -> str:
    """`lib::op`, if the node calls one of torch.ops."""
    target = node.target
    if isinstance(target, torch._ops.OpOverload):
        return str(target.name())
    return str(target._qualified_op_name) if isinstance(target, torch._ops.OpOverloadPacket) else ""
