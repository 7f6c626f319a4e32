"""Running kernels: their slice is loaded, each run is made in place, and again on clones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from triton_mutlint.source.load import load
from triton_mutlint.spec.as_yaml import read_argument
from triton_mutlint.types import ArgType, Kernel, SourceFile
from triton_mutlint.verify.running.arguments import RunArguments
from triton_mutlint.verify.running.child import arena, attempted
from triton_mutlint.verify.running.memory import DIMENSIONS, RunMemory, difference
from triton_mutlint.verify.running.runtime import watching
from triton_mutlint.verify.wire import LEFT_OUT, STRAY, Difference, Job, RefusedError, RunCase, RunResult

_TOLERANCE = 1e-5  # of kernels on clones against those in place


def loaded(job: Job) -> Callable[[int], RunResult]:
    """What makes a run of the kernel, unless runs like it took too long. Raises RefusedError."""
    kernel, types = _loaded(job)
    late: list[RunCase] = []

    def run(number: int) -> RunResult:
        case = job.runs[number]
        smaller = [other for other in late if DIMENSIONS[other.size] <= DIMENSIONS[case.size]]
        if len(smaller) > 1 or any(other.fill == case.fill for other in smaller):
            return RunResult(number, *LEFT_OUT)  # no larger ones with these values, or twice with any
        result = attempted(job.settings, number, job.settings.timeout,
                           partial(_run, job, number, kernel, types[case.variant]))
        late.extend([case] * (result.status == "timeout"))
        return result

    return run


def _loaded(job: Job) -> tuple[Kernel, list[dict[str, ArgType]]]:
    """The kernel and its variants' arguments. Raises RefusedError."""
    source = SourceFile(Path(job.path), job.display, job.text, frozenset({job.name}))
    result = load(source, globals_=job.globals, true_import=job.settings.true_import, stubs=job.settings.stubs)
    same = [k for k in result.kernels if k.location.line == job.line] or list(result.kernels)
    if not same:
        reason = "; ".join(failure.message for _, failure in result.failures)
        raise RefusedError(f"the kernel does not load for a run: {reason or 'it is not there'}")
    kernel = next((k for k in same if k.name == job.name), same[0])  # a factory's kernels stand at one line
    parameters = {p.name: p for p in kernel.parameters}
    types: list[dict[str, ArgType]] = []
    for variant in job.variants:
        read = {n: read_argument(kernel, parameters[n], text) for n, text in variant.args.items() if n in parameters}
        lost = [n for n in variant.args if not read.get(n)]
        if lost:
            raise RefusedError(f"no argument for {', '.join(lost)} can be made from {variant.args[lost[0]]!r}")
        types.append({n: found[0] for n, found in read.items() if found})
    if job.settings.device == "cuda":
        _give_allocator()
    return kernel, types


def _give_allocator() -> None:
    """What device-made descriptors need: kernels get it from their host code, which is not run."""
    import triton

    def allocate(size: int, alignment: int, stream: int | None) -> torch.Tensor:
        return torch.empty(size, device="cuda", dtype=torch.int8)

    if hasattr(triton, "set_allocator"):
        triton.set_allocator(allocate)


def _run(job: Job, number: int, kernel: Kernel, types: Mapping[str, ArgType]) -> RunResult:
    run, device = job.runs[number], job.settings.device
    memory = RunMemory(device, arena() if device == "cpu" else None)
    made = RunArguments(job, run, types, memory)
    _launch(job, run, kernel, made, made.make())
    seen = _observed(number, made)
    leaked, differences = _on_clones(job, run, kernel, made)
    return replace(seen, leaked=leaked, differences=differences)


def _launch(job: Job, run: RunCase, kernel: Kernel, made: RunArguments, args: Mapping[str, Any]) -> None:
    options = job.variants[run.variant].options if job.settings.device == "cuda" else {}
    with watching(made.memory):
        kernel.jit[run.grid](**args, **options)
    if job.settings.device == "cuda":
        torch.cuda.synchronize()


def _observed(number: int, made: RunArguments) -> RunResult:
    changed = {r.label for r in made.memory if not r.indirect and r.changed()}
    through = {r.label for r in made.memory if r.indirect and r.changed()}
    outside = {STRAY: made.memory.stray, **{r.label: r.outside + r.spilled() for r in made.memory}}
    return RunResult(number, changed=tuple(sorted(changed)), through=tuple(sorted(through)),
                     outside={label: count for label, count in outside.items() if count},
                     read_outside=made.memory.read_outside)


def _on_clones(job: Job, run: RunCase, kernel: Kernel,
               made: RunArguments) -> tuple[tuple[str, ...], tuple[Difference, ...]]:
    """What torch.compile would make of the verdict: the same run with clones of what may be written.

    Gives the originals that changed, and how the clones differ from the run in place.
    """
    written = job.variants[run.variant].written
    atol, rtol = (_TOLERANCE if given is None else given for given in (job.settings.atol, job.settings.rtol))
    originals = list(made.memory)
    in_place = {label: region.tensor.clone() for label, region in made.regions.items() if label in written}
    for region in originals:
        region.restore()
    clones = {label: made.memory.clone(made.regions[label]) for label in in_place}
    _launch(job, run, kernel, made, made.make(clones))
    apart = [difference(label, in_place[label], clone.tensor, atol, rtol) for label, clone in clones.items()]
    return (tuple(sorted({r.label for r in originals if not r.indirect and r.changed()})),
            tuple(found for found in apart if found is not None))
