"""What a process does to run a kernel: it loads its slice, makes every run, and tells what it showed."""

from __future__ import annotations

import os
import re
import resource
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import click
import torch

from triton_mutlint.process.confined import is_confined
from triton_mutlint.process.watchdog import TooLongError, watched
from triton_mutlint.source.load import load
from triton_mutlint.spec.as_yaml import read_argument
from triton_mutlint.types import ArgType, Kernel, SourceFile
from triton_mutlint.verify.running.arguments import RefusedError, RunArguments, arguments
from triton_mutlint.verify.running.memory import DIMENSIONS, Arena, RunMemory, difference
from triton_mutlint.verify.wire import STRAY, Begun, Difference, Finished, Job, RunCase, RunResult, Settings

_NO_OP = re.compile(r"'InterpreterBuilder' object has no attribute '(?:create_|get_)?(\w+)'")
_FIRST = 300  # characters of a message that are kept
TOLERANCE = 1e-5  # of kernels on clones against those in place


def work(job: Job, wanted: Sequence[int]) -> Iterator[Begun | RunResult | Finished]:
    """Make the runs numbered `wanted`, telling of each as it begins and ends, and of those that were left out."""
    silence()
    limit_memory(job.settings)
    try:
        with watched(max(60.0, job.settings.timeout)):
            kernel, types = _loaded(job)
    except TooLongError:
        yield Finished(refused="loading it took too long")
        return
    except BaseException as error:  # the file's own code: it may raise anything, SystemExit included
        yield Finished(refused=str(error) if isinstance(error, RefusedError) else f"{type(error).__name__}: {error}")
        return
    late: list[RunCase] = []
    left_out = 0
    for number in wanted:
        run = job.runs[number]
        if _as_slow(run, late):
            left_out += 1
            continue
        yield Begun(number, job.settings.timeout)
        result = _run(job, number, kernel, types[run.variant])
        yield result
        if result.status == "fault":  # a GPU answers nothing more in this process
            os._exit(1)
        if result.status == "timeout":
            late.append(run)
    yield Finished(given_up=left_out)


def silence() -> None:
    """Kernels print; nobody asked. Called before the process is confined, if it is to be."""
    if is_confined():
        return
    null = os.open(os.devnull, os.O_RDWR)
    for number in (1, 2):
        os.dup2(null, number)
    os.close(null)


@lru_cache(maxsize=1)
def _arena() -> Arena:
    return Arena()


def _as_slow(run: RunCase, late: list[RunCase]) -> bool:
    """Whether runs like this one took too long: no larger ones with these values, or twice with any."""
    smaller = [other for other in late if DIMENSIONS[other.size] <= DIMENSIONS[run.size]]
    return len(smaller) > 1 or any(other.fill == run.fill for other in smaller)


def limit_memory(settings: Settings) -> None:
    """A bound on this process's memory. CUDA reserves far more addresses than it uses: there it bounds the device's."""
    if settings.device == "cuda":
        torch.cuda.set_per_process_memory_fraction(min(1.0, (settings.memory << 20) / torch.cuda.mem_get_info()[1]))
        return
    _arena()  # before: its addresses are not what is bounded
    with open("/proc/self/statm") as file:  # noqa: PTH123
        held = int(file.read().split()[0]) * resource.getpagesize()
    bound = held + (settings.memory << 20)
    resource.setrlimit(resource.RLIMIT_AS, (bound, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _loaded(job: Job) -> tuple[Kernel, list[dict[str, ArgType]]]:
    """The kernel and its variants' arguments. Raises RefusedError."""
    source = SourceFile(Path(job.path), job.display, job.text, frozenset({job.kernel}))
    result = load(source, globals_=job.globals, true_import=job.settings.true_import, stubs=job.settings.stubs)
    same = [k for k in result.kernels if k.location.line == job.line] or list(result.kernels)
    if not same:
        reason = "; ".join(failure.message for _, failure in result.failures)
        raise RefusedError(f"the kernel does not load for a run: {reason or 'it is not there'}")
    kernel = next((k for k in same if k.name == job.kernel), same[0])  # a factory's kernels stand at one line
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
    begun = time.monotonic()
    run, settings = job.runs[number], job.settings
    try:
        with watched(settings.timeout):
            memory = RunMemory(settings.device, _arena() if settings.device == "cpu" else None)
            made = arguments(job, run, types, memory)
            _launch(job, run, kernel, made, made.make())
            seen = _observed(number, made)
            leaked, differences = _on_clones(job, run, kernel, made)
            return replace(seen, leaked=leaked, differences=differences, seconds=time.monotonic() - begun)
    except TooLongError as error:
        status, message = "timeout", str(error)
    except RefusedError as error:
        status, message = "refused", str(error)
    except BaseException as error:  # the kernel's own code: it may raise anything, SystemExit included
        status, message = reason_of(error, settings)
    finally:
        _watch(job, None)
    return RunResult(number, status, message, seconds=time.monotonic() - begun)


def _watch(job: Job, memory: RunMemory | None) -> None:
    if job.settings.device == "cpu":
        from triton_mutlint.verify.running import runtime

        runtime.watch(memory)


def _launch(job: Job, run: RunCase, kernel: Kernel, made: RunArguments, args: Mapping[str, Any]) -> None:
    _watch(job, made.memory)
    options = job.variants[run.variant].options if job.settings.device == "cuda" else {}
    kernel.jit[run.grid](**args, **options)
    if job.settings.device == "cuda":
        torch.cuda.synchronize()
    _watch(job, None)


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
    atol, rtol = (TOLERANCE if given is None else given for given in (job.settings.atol, job.settings.rtol))
    in_place = {region.label: region.raw.clone() for region in made.memory if not region.indirect}
    for region in made.memory:
        region.restore()
    clones = {label: made.memory.clone(region) for label, region in made.regions.items() if label in written}
    _launch(job, run, kernel, made, made.make(clones))
    apart = [difference(made.regions[label], in_place[label], clone, atol, rtol)
             for label, clone in clones.items()]
    return (tuple(sorted({r.label for r in made.memory if not r.indirect and r.changed()})),
            tuple(found for found in apart if found is not None))


# --------------------------------------------------------------------------- why a kernel did not run


def reason_of(error: BaseException, settings: Settings) -> tuple[str, str]:
    """The status and the message of a run that ended with `error`."""
    chain = list(_chain(error))
    text = " ".join(str(e) for e in chain)
    missing = _NO_OP.search(text)
    if "inline_asm not supported" in text:
        return "unsupported", "inline asm: the interpreter cannot run it (--device cuda can)"
    if "extern_elementwise not supported" in text:
        return "unsupported", "an extern function: the interpreter cannot run it (--device cuda can)"
    if "_semantic` argument must be provided" in text:
        return "unsupported", "a builtin of the target: the interpreter cannot run it (--device cuda can)"
    if missing:
        return "unsupported", f"the interpreter of this Triton has no `{missing[1]}` (--device cuda can run it)"
    if "out of memory" in text.lower() or any(isinstance(e, MemoryError) for e in chain):
        return "memory", f"it needs more than {settings.memory} MiB"
    root = chain[-1]
    if settings.device == "cuda" and ("CUDA error" in text or "[CUDA]" in text) and "out of resource" not in text:
        return "fault", _line(root)
    if isinstance(root, AssertionError):
        return "assertion", f"an assertion failed: {_line(root)}"
    return "error", f"{type(root).__name__}: {_line(root)}"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and what caused it, the cause last: the interpreter wraps what a kernel raises."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        wrapped = type(current).__name__ in ("InterpreterError", "CompilationError")
        current = (current.__cause__ or current.__context__) if wrapped else None


def _line(error: BaseException) -> str:
    lines = [line for line in click.unstyle(str(error)).splitlines() if line.strip()]  # torch's ONNX export colours
    return (lines[0] if lines else "no message")[:_FIRST]
