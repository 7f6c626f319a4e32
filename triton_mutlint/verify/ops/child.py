"""Running an op: its module is imported, calls are tried, and programs around those that the op takes are run."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from typing import Any

import torch

from triton_mutlint.verify.ops.arguments import CallableOp, cases, parameters
from triton_mutlint.verify.ops.functions import callable_function
from triton_mutlint.verify.ops.interpreted import capture_interpreted
from triton_mutlint.verify.ops.observing import observed
from triton_mutlint.verify.ops.paths import follow
from triton_mutlint.verify.running.child import attempted
from triton_mutlint.verify.wire import COMPILING, EAGER, EXHAUSTED, TRIES, Case, OpJob, RefusedError, RunResult

_FRUITLESS = 60  # calls that the op refuses, one after the other, before no more are tried
_SEARCHES = 3  # runs that look for a call that the op takes, before it is given up
_FOR_GPUS = ("CUDA", "PrivateUse1", "XPU")


@dataclass
class _Tried:
    """The calls that are left to try, whether the op took the last one, and those that paths are run with."""

    more: Generator[Case, bool | None]
    was_taken: bool | None = None
    good: list[tuple[int, Case]] = field(default_factory=list)  # those that write most come first, once sorted


def loaded(job: OpJob) -> Callable[[int], RunResult]:
    """What makes a run of the op. Raises RefusedError, and what the code of the op's module raises."""
    make_repeatable()
    op = _loaded(job)
    if job.settings.device == "cpu":
        capture_interpreted(job.pointers, job.written)
    tried = _Tried(cases(job, op.takes))
    return lambda number: (_eager if job.runs[number] == EAGER else _on_path)(job, op, number, tried)


def make_repeatable() -> None:
    """Have code do the same every time it is run; autotuning takes the first config that is left, and runs no other."""
    tuner = importlib.import_module("triton.runtime.autotuner").Autotuner
    prune = tuner.prune_configs
    tuner.prune_configs = lambda self, given: list(prune(self, given))[:1]
    tuner._bench = lambda self, *args, config, **meta: [1.0, 1.0, 1.0]
    tuner.check_disk_cache = lambda self, key, configs, bench: bench()  # it asks the driver for a target
    torch.use_deterministic_algorithms(True, warn_only=True)  # fills what nobody wrote: it would differ by chance


# --------------------------------------------------------------------------- the op


def _loaded(job: OpJob) -> CallableOp:
    """The op, once its module is imported. Raises RefusedError where it cannot be called."""
    implemented = _note_implementations(job.settings.device)
    sys.path[:0] = job.roots
    module = importlib.import_module(job.module)
    if job.is_function:
        return callable_function(attrgetter(job.name.rpartition(":")[2])(module), job.pointers)
    namespace, _, rest = job.name.partition("::")
    base, _, overload = rest.partition(".")
    found = getattr(getattr(torch.ops, namespace), base, None)
    if found is None:
        raise RefusedError(f"importing {job.module} does not register {job.name}: call what registers it at the top "
                           f"level of a file, and verify that file")
    one = getattr(found, overload or "default", None) or getattr(found, found.overloads()[0])
    takes = parameters(one._schema)
    if namespace in ("aten", "prims"):
        function = implemented.get(f"{base}.{overload}" if overload else base)
        if function is None:
            raise RefusedError(f"{job.name} is torch's own op, and importing {job.module} gives it no other body")
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
    result = RunResult(number, EXHAUSTED)
    if number >= _SEARCHES and not tried.good:
        return result
    end = time.monotonic() + job.settings.timeout * (TRIES - 1)
    for _ in range(_FRUITLESS):
        if time.monotonic() > end:
            break
        try:
            case = tried.more.send(tried.was_taken)
        except StopIteration:
            break
        result = replace(attempted(job.settings, number, job.settings.timeout,
                                   partial(observed, job, op, number, case), job.roots), given=case)
        tried.was_taken = result.status == "ok"
        if tried.was_taken and not result.outside:  # what overwrites memory beside its arguments is not run unguarded
            tried.good.append((-len(result.changed), case))
        if result.status in ("ok", "timeout", "fault"):
            break
    return result


def _on_path(job: OpJob, op: CallableOp, number: int, tried: _Tried) -> RunResult:
    while not tried.good:  # in a process that took over from one that was lost, or where all wrote beside
        result = _eager(job, op, number, tried)
        if result.status != "ok":
            return RunResult(number, "skipped", "no call was found that the op takes and that writes nothing beside "
                                                "its arguments; give one in the spec, under `ops:`")
    path = job.runs[number]
    good = [case for _, case in sorted(tried.good, key=lambda pair: pair[0])]
    case = good[job.runs[:number].count(path) % len(good)]
    result = attempted(job.settings, number, job.settings.timeout + COMPILING,
                       partial(follow, path, job, op, number, case, good))
    return replace(result, given=result.given or case)
