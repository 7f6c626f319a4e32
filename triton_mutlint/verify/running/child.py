"""What a process does to run kernels, an op or a model: it loads them, makes every run, and tells what it showed."""

from __future__ import annotations

import importlib
import os
import re
import resource
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import click
import torch

from triton_mutlint.process.watchdog import TooLongError, watched
from triton_mutlint.verify.running.memory import Arena
from triton_mutlint.verify.wire import Begun, Finished, RefusedError, RunResult, Settings, Work

_LOADING = 60.0  # seconds
_NO_OP = re.compile(r"'InterpreterBuilder' object has no attribute '(?:create_|get_)?(\w+)'")
_UNSUPPORTED = {"inline_asm not supported": "inline asm", "extern_elementwise not supported": "an extern function",
                "_semantic` argument must be provided": "a builtin of the target"}  # by what the interpreter says
_FIRST = 300  # characters of a message that are kept


def work(job: Work, wanted: Sequence[int]) -> Iterator[Begun | RunResult | Finished]:
    """Make the runs numbered `wanted`, telling of each as it begins and ends."""
    _limit_memory(job.settings)
    try:
        with watched(max(_LOADING, job.settings.timeout)):
            run: Callable[[int], RunResult] = importlib.import_module(job.worker).loaded(job)
    except TooLongError:
        yield Finished(refused="loading it took too long")
        return
    except BaseException as error:  # the user's own code: it may raise anything, SystemExit included
        told = str(error) if isinstance(error, RefusedError) else f"{type(error).__name__}: {_line(error)}"
        yield Finished(refused=told)
        return
    for number in wanted:
        yield Begun(number, job.seconds(number))
        result = run(number)
        yield result
        if result.status == "fault":  # a GPU answers nothing more in this process
            os._exit(1)
    yield Finished()


arena = lru_cache(maxsize=1)(Arena)  # where all tensors of kernels lie, on a CPU


def _limit_memory(settings: Settings) -> None:
    """A bound on this process's memory. CUDA reserves far more addresses than it uses: there it bounds the device's."""
    if settings.device == "cuda":
        torch.cuda.set_per_process_memory_fraction(min(1.0, (settings.memory << 20) / torch.cuda.mem_get_info()[1]))
        return
    arena()  # before: its addresses are not what is bounded
    with open("/proc/self/statm") as file:  # noqa: PTH123
        held = int(file.read().split()[0]) * resource.getpagesize()
    bound = held + (settings.memory << 20)
    resource.setrlimit(resource.RLIMIT_AS, (bound, resource.getrlimit(resource.RLIMIT_AS)[1]))


def attempted(settings: Settings, number: int, seconds: float, run: Callable[[], RunResult],
              roots: Sequence[str] = ()) -> RunResult:
    """The result of a run that may take so long, or of how it ended instead, and where below the first of `roots`."""
    try:
        with watched(seconds):
            return run()
    except TooLongError as error:
        return RunResult(number, "timeout", str(error))
    except RefusedError as error:
        return RunResult(number, "refused", str(error))
    except BaseException as error:  # the user's own code: it may raise anything, SystemExit included
        status, told = _reason_of(error, settings)
        return RunResult(number, status, told + _place_of(error, roots))


def _reason_of(error: BaseException, settings: Settings) -> tuple[str, str]:
    """The status and the message of a run that ended with `error`."""
    chain = list(_chain(error))
    text = " ".join(str(e) for e in chain)
    missing = _NO_OP.search(text)
    if what := next((what for said, what in _UNSUPPORTED.items() if said in text), ""):
        return "unsupported", f"{what}: the interpreter cannot run it (--device cuda can)"
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


def _place_of(error: BaseException, roots: Sequence[str]) -> str:
    """The innermost line of a project's own code that an error came through."""
    frames = [(f.filename, f.lineno) for f in traceback.extract_tb(error.__traceback__)]
    own = [(Path(name).relative_to(root), line) for name, line in frames for root in roots[:1]
           if Path(name).is_relative_to(root) and "site-packages" not in Path(name).relative_to(root).parts]
    return f" ({own[-1][0]}:{own[-1][1]})" if own else ""
