"""The process that runs one kernel: loads its slice, then makes every run and tells what it showed."""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from triton_mutlint.source.load import load
from triton_mutlint.spec.as_yaml import read_argument
from triton_mutlint.types import ArgType, Kernel, SourceFile
from triton_mutlint.verify.arena import Arena
from triton_mutlint.verify.arguments import Arguments, RefusedError, arguments
from triton_mutlint.verify.memory import Memory, difference
from triton_mutlint.verify.reasons import reason_of
from triton_mutlint.verify.sizes import DIMENSIONS
from triton_mutlint.verify.wire import STRAY, Difference, Job, RunCase, RunResult

Tell = Callable[[Mapping[str, Any] | RunResult], None]


class RunTimeoutError(BaseException):
    """A run took longer than it may. No `Exception`: what runs must not catch it."""


def work(job: Job, wanted: list[int], tell: Tell) -> None:
    """Make the runs numbered `wanted`, telling of each as it begins and ends."""
    arena = Arena() if job.device == "cpu" else None
    _limit_memory(job)
    try:
        with _limited(max(60.0, job.timeout)):
            kernel, types = _loaded(job)
    except RefusedError as error:
        tell({"fatal": str(error)})
        return
    except RunTimeoutError:
        tell({"fatal": "loading it took too long"})
        return
    late: list[RunCase] = []
    left_out = 0
    for number in wanted:
        if _as_slow(job.runs[number], late):
            left_out += 1
            continue
        tell({"start": number})
        result = _run(job, number, kernel, types[job.runs[number].variant], arena)
        tell(result)
        if result.status == "fault":  # a GPU answers nothing more in this process
            tell({"broken": number})
            return
        if result.status == "timeout":
            late.append(job.runs[number])
    if left_out:
        tell({"given_up": left_out})


def _as_slow(run: RunCase, late: list[RunCase]) -> bool:
    """Whether runs like this one took too long: no larger ones with these values, or twice with any."""
    smaller = [other for other in late if DIMENSIONS[other.size] <= DIMENSIONS[run.size]]
    return len(smaller) > 1 or any(other.fill == run.fill for other in smaller)


def _limit_memory(job: Job) -> None:
    """A bound on this process's memory. CUDA reserves far more addresses than it uses: there it bounds the device's."""
    if job.device == "cuda":
        torch.cuda.set_per_process_memory_fraction(min(1.0, (job.memory << 20) / torch.cuda.mem_get_info()[1]))
        return
    with open("/proc/self/statm") as file:  # noqa: PTH123
        held = int(file.read().split()[0]) * resource.getpagesize()
    bound = held + (job.memory << 20)
    resource.setrlimit(resource.RLIMIT_AS, (bound, bound))


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    def ring(number: int, frame: object) -> None:
        raise RunTimeoutError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _loaded(job: Job) -> tuple[Kernel, list[dict[str, ArgType]]]:
    """The kernel and its variants' arguments. Raises RefusedError."""
    if job.device == "cpu":
        from triton_mutlint.verify import runtime

        runtime.interpret_all()
    source = SourceFile(Path(job.path), job.display, job.text, frozenset({job.kernel}))
    result = load(source, globals_=job.globals, true_import=job.true_import, stubs=job.stubs)
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
    if job.device == "cuda":
        _give_allocator()
    return kernel, types


def _give_allocator() -> None:
    """What device-made descriptors need: kernels get it from their host code, which is not run."""
    import triton

    def allocate(size: int, alignment: int, stream: int | None) -> torch.Tensor:
        return torch.empty(size, device="cuda", dtype=torch.int8)

    if hasattr(triton, "set_allocator"):
        triton.set_allocator(allocate)


def _run(job: Job, number: int, kernel: Kernel, types: Mapping[str, ArgType],
         arena: Arena | None) -> RunResult:
    run = job.runs[number]
    begun = time.monotonic()
    try:
        with _limited(job.timeout):
            made = arguments(job, run, types, arena)
            _launch(job, run, kernel, made, made.make())
            seen = _observed(number, made)
            cloned = _on_clones(job, run, kernel, made)
            return RunResult(**{**vars(seen), **cloned, "seconds": time.monotonic() - begun})
    except RunTimeoutError:
        status, message = "timeout", f"still running after {job.timeout:g} s"
    except RefusedError as error:
        status, message = "refused", str(error)
    except MemoryError:
        status, message = "memory", f"it needs more than {job.memory} MiB"
    except KeyboardInterrupt:
        os._exit(130)
    except BaseException as error:  # the kernel's own code: it may raise anything, SystemExit included
        status, message = reason_of(error, job)
    finally:
        _watch(job, None)
    return RunResult(number, status, message, seconds=time.monotonic() - begun)


def _watch(job: Job, memory: Memory | None) -> None:
    if job.device == "cpu":
        from triton_mutlint.verify import runtime

        runtime.watch(memory)


def _launch(job: Job, run: RunCase, kernel: Kernel, made: Arguments, args: Mapping[str, Any]) -> None:
    _watch(job, made.memory)
    options = dict(job.variants[run.variant].options) if job.device == "cuda" else {}
    kernel.jit[run.grid](**args, **options)
    if job.device == "cuda":
        torch.cuda.synchronize()
    _watch(job, None)


def _observed(number: int, made: Arguments) -> RunResult:
    changed = {r.label for r in made.memory if not r.indirect and r.changed()}
    through = {r.label for r in made.memory if r.indirect and r.changed()}
    outside = {STRAY: made.memory.stray, **{r.label: r.outside + r.spilled() for r in made.memory}}
    return RunResult(number, changed=tuple(sorted(changed)), through=tuple(sorted(through)),
                     outside={label: count for label, count in outside.items() if count},
                     read_outside=made.memory.read_outside)


def _on_clones(job: Job, run: RunCase, kernel: Kernel, made: Arguments) -> dict[str, Any]:
    """What torch.compile would make of the verdict: the same run with clones of what may be written."""
    written = job.variants[run.variant].written
    in_place = {region.label: region.raw.clone() for region in made.memory if not region.indirect}
    for region in made.memory:
        region.restore()
    clones = {label: made.memory.clone(region) for label, region in made.regions.items() if label in written}
    _launch(job, run, kernel, made, made.make(clones))
    leaked = tuple(sorted({r.label for r in made.memory if not r.indirect and r.changed()}))
    found: list[Difference] = []
    for label, clone in clones.items():
        apart = difference(made.regions[label], in_place[label], clone, job.atol, job.rtol)
        if apart is not None:
            found.append(apart)
    return {"leaked": leaked, "differences": tuple(found), "compared": True}
