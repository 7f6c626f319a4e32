"""What a process does to run an op: it imports the op's module, makes every run, and tells what it showed."""

from __future__ import annotations

import importlib
import os
import sys
import time
import traceback
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import torch

from triton_mutlint.process.watchdog import TooLongError, watched
from triton_mutlint.verify.ops.arguments import CallableOp, cases, parameters
from triton_mutlint.verify.ops.functions import callable_function
from triton_mutlint.verify.ops.interpreted import capture_interpreted
from triton_mutlint.verify.ops.observing import observed
from triton_mutlint.verify.ops.paths import COMPILING, follow
from triton_mutlint.verify.ops.wire import EAGER, Case, OpJob
from triton_mutlint.verify.running.child import limit_memory, reason_of, silence
from triton_mutlint.verify.running.runtime import take_first_config
from triton_mutlint.verify.wire import Begun, Finished, RunResult, Settings

LOADING = 60.0  # seconds for the import of an op's module
_FRUITLESS = 60  # calls that the op refuses, one after the other, before no more are tried
_TRIES = 3  # times the limit of a run, within which one is to be found that the op takes
_SEARCHES = 3  # runs that look for a call that the op takes, before it is given up
_FOR_GPUS = ("CUDA", "PrivateUse1", "XPU")


@dataclass
class _Tried:
    """The calls that were made so far."""

    more: Generator[Case, bool, None]
    took: bool | None = None  # whether the op took the last one; None before the first
    good: list[tuple[int, Case]] = field(default_factory=list)  # those that write most come first, once sorted

    def following(self) -> Case | None:
        """Another call; None when there are no more."""
        try:
            return next(self.more) if self.took is None else self.more.send(self.took)
        except StopIteration:
            return None


def work(job: OpJob, wanted: Sequence[int]) -> Iterator[Begun | RunResult | Finished]:
    """Make the runs numbered `wanted`, telling of each as it begins and ends."""
    prepare(job.settings)
    try:
        with watched(max(LOADING, job.settings.timeout)):
            op = _loaded(job)
    except BaseException as error:  # the module's own code: it may raise anything, SystemExit included
        late = isinstance(error, TooLongError)
        yield Finished(refused="importing it took too long" if late else
                       str(error) if isinstance(error, LookupError) else f"{type(error).__name__}: {_first(error)}")
        return
    if job.settings.device == "cpu":
        capture_interpreted(job.pointers, job.written)
    tried = _Tried(cases(job, op.takes))
    for number in wanted:
        is_eager = job.runs[number].path == EAGER
        yield Begun(number, job.settings.timeout * (_TRIES if is_eager else 1) + COMPILING * (not is_eager))
        result = _eager(job, op, number, tried) if is_eager else _on_path(job, op, number, tried)
        yield result
        if result.status == "fault":  # a GPU answers nothing more in this process
            os._exit(1)
    yield Finished()


def prepare(settings: Settings) -> None:
    """Make this process fit to run code: silent, bounded, and the same every time."""
    silence()
    limit_memory(settings)
    take_first_config()
    torch.use_deterministic_algorithms(True, warn_only=True)  # fills what nobody wrote: it would differ by chance


def place_of(error: BaseException, roots: Sequence[str]) -> str:
    """The innermost line of a project's own code that an error came through."""
    frames = [(f.filename, f.lineno) for f in traceback.extract_tb(error.__traceback__)]
    own = [(Path(name).relative_to(root), line) for name, line in frames for root in roots[:1]
           if Path(name).is_relative_to(root) and "site-packages" not in Path(name).relative_to(root).parts]
    return f" ({own[-1][0]}:{own[-1][1]})" if own else ""


def _first(error: BaseException) -> str:
    return (str(error).strip().splitlines() or ["no message"])[0]


# --------------------------------------------------------------------------- the op


def _loaded(job: OpJob) -> CallableOp:
    """The op, once its module is imported. Raises LookupError with the reason where it cannot be called."""
    implemented = _note_implementations(job.settings.device)
    sys.path[:0] = job.roots
    module = importlib.import_module(job.module)
    if job.is_function:
        return callable_function(attrgetter(job.name.rpartition(":")[2])(module), job.pointers)
    namespace, _, rest = job.name.partition("::")
    base, _, overload = rest.partition(".")
    found = getattr(getattr(torch.ops, namespace), base, None)
    if found is None:
        raise LookupError(f"importing {job.module} does not register {job.name}: call what registers it at the top "
                          f"level of a file, and verify that file")
    one = getattr(found, overload or "default", None) or getattr(found, found.overloads()[0])
    takes = parameters(one._schema)
    if namespace in ("aten", "prims"):
        function = implemented.get(f"{base}.{overload}" if overload else base)
        if function is None:
            raise LookupError(f"{job.name} is torch's own op, and importing {job.module} gives it no other body")
        return CallableOp(partial(_as_torch_does, function, one._schema), one, takes, one._schema)
    return CallableOp(one, one, takes, one._schema)


def _as_torch_does(function: Any, schema: Any, **given: Any) -> Any:
    """Call what implements an op of torch's, whose parameters may have other names than the schema's arguments."""
    by_name = {a.name for a in schema.arguments if a.kwarg_only}
    return function(*(v for n, v in given.items() if n not in by_name),
                    **{n: v for n, v in given.items() if n in by_name})


def _note_implementations(device: str) -> dict[str, Any]:
    """What `Library.impl` registers from now on, by name; on a CPU, what is registered for GPUs stands in for it."""
    found: dict[str, Any] = {}
    impl = torch.library.Library.impl

    def noted(library: Any, name: Any, function: Any, dispatch_key: str = "", **options: Any) -> Any:
        text = (name if isinstance(name, str) else name.name()).rpartition("::")[2]
        found[text] = function
        done = impl(library, name, function, dispatch_key, **options)
        if device == "cpu" and (dispatch_key or library.dispatch_key) in _FOR_GPUS and library.ns != "aten":
            impl(library, name, function, "CPU", **options)
        return done

    torch.library.Library.impl = noted
    utils = importlib.import_module("torch._library.utils")
    for check in ("check_aliasing_constraint", "_c_check_aliasing_constraint"):
        if hasattr(utils, check):
            setattr(utils, check, lambda *_, **__: None)  # it would end the run that shows the alias
    return found


# --------------------------------------------------------------------------- one run


def _eager(job: OpJob, op: CallableOp, number: int, tried: _Tried) -> RunResult:
    """The next call that the op takes, or the last one that it refuses."""
    result = RunResult(number, "skipped", "there is nothing else to call it with")
    if number >= _SEARCHES and not tried.good:
        return result
    end = time.monotonic() + job.settings.timeout * (_TRIES - 1)
    for _ in range(_FRUITLESS):
        if time.monotonic() > end:
            break
        case = tried.following()
        if case is None:
            break
        result = timed(job.settings, number, job.settings.timeout, partial(observed, job, op, number, case), job.roots)
        result = replace(result, given=case)
        tried.took = result.status == "ok"
        if tried.took and not result.outside:  # what overwrites memory beside its arguments is not run unguarded
            tried.good.append((-len(result.changed), case))
        if tried.took or result.status in ("timeout", "fault"):
            break
    return result


def _on_path(job: OpJob, op: CallableOp, number: int, tried: _Tried) -> RunResult:
    while not tried.good:  # in a process that took over from one that was lost, or where all wrote beside
        result = _eager(job, op, number, tried)
        if result.status != "ok":
            return RunResult(number, "skipped", "no call was found that the op takes and that writes nothing beside "
                                                "its arguments; give one in the spec, under `ops:`")
    path = job.runs[number].path
    good = [case for _, case in sorted(tried.good, key=lambda pair: pair[0])]
    case = good[job.runs[number].number % len(good)]
    result = timed(job.settings, number, job.settings.timeout + COMPILING,
                   partial(follow, path, job, op, number, case, good))
    return replace(result, given=result.given or case)


def timed(settings: Settings, number: int, seconds: float, run: Callable[[], RunResult],
          roots: Sequence[str] = ()) -> RunResult:
    """The result of a run that may take so long, or of how it ended instead, and where below the first of `roots`."""
    begun = time.monotonic()
    try:
        with watched(seconds):
            result = run()
    except TooLongError as error:
        result = RunResult(number, "timeout", str(error))
    except BaseException as error:  # the user's own code: it may raise anything, SystemExit included
        status, told = reason_of(error, settings)
        result = RunResult(number, status, told + place_of(error, roots))
    return replace(result, seconds=time.monotonic() - begun)
