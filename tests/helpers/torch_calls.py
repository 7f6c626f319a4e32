"""Calls torch's functions and holds what happened to their arguments against the effect table.

`python -m tests.helpers.torch_calls --samples 2` calls what torch's own test samples give, every dispatcher
op that these calls reach, and the calls of `torch_cases.py`; it prints a JSON object with the counts and
the disagreements. A process of its own: importing the samples changes torch's global state.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import sys
import types
import unittest
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from triton_mutlint.host.torch.table import Result, TorchEffect, function, method

Tensors = list[torch.Tensor]


@dataclass
class Tally:
    """What was called, by name, and what went otherwise than the table says."""

    called: dict[str, int] = field(default_factory=dict)
    wrong: dict[str, set[str]] = field(default_factory=dict)
    unknown: set[str] = field(default_factory=set)
    written: set[tuple[str, str]] = field(default_factory=set)  # (name, parameter) seen to be written
    shared: set[tuple[str, str]] = field(default_factory=set)  # (name, parameter) seen to be shared

    def report(self, name: str, text: str) -> None:
        self.wrong.setdefault(name, set()).add(text)


@dataclass
class Given:
    """The tensors of one argument, and what the table says of its parameter."""

    parameter: str
    tensors: Tensors
    is_list: bool
    position: int | None
    named: bool  # in `writes_named`
    before: list[bytes] = field(default_factory=list)


class RefusedError(Exception):
    """torch does not take these arguments, which says nothing; the cause is what it raised."""


def flat(value: object) -> Iterator[torch.Tensor]:
    """The tensors in a value, as far as lists, tuples and dicts go."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from flat(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from flat(item)


def storage(tensor: torch.Tensor) -> int:
    """Where the tensor's memory begins; 0 where it has none of its own (sparse, meta, empty)."""
    try:
        return tensor.untyped_storage().data_ptr()
    except (NotImplementedError, RuntimeError):  # storage of sparse and functional tensors
        return 0


def content(tensor: torch.Tensor) -> bytes:
    start = storage(tensor)
    return ctypes.string_at(start, tensor.untyped_storage().nbytes()) if start else b""


def bound(effect: TorchEffect, args: Sequence[object], kwargs: Mapping[str, object]) -> list[Given]:
    """Each argument that holds tensors, with the position that the table gives it."""
    found = []
    for index, value in enumerate(args):
        place = effect.position(index)
        found.append((effect.parameters[place] if place is not None else f"#{index}", value, place, False))
    for name, value in kwargs.items():
        found.append((name, value, effect.named(name), name in effect.writes_named))
    return [
        Given(name, tensors, not isinstance(value, torch.Tensor), place, named, [content(t) for t in tensors])
        for name, value, place, named in found
        if (tensors := list(flat(value)))
    ]


def flag(effect: TorchEffect, name: str, args: Sequence[object], kwargs: Mapping[str, object], default: bool) -> bool:
    place = effect.parameters.index(name)
    value = kwargs.get(name, args[place] if place < len(args) else default)
    return value is not None and value is not False and value != 0


def judge(tally: Tally, name: str, effect: TorchEffect, call: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Call, and report where the table is wrong about it."""
    given = bound(effect, args, kwargs)
    set_flag = not effect.only_if or flag(effect, effect.only_if, args, kwargs, effect.only_if_default)
    inplace = bool(effect.inplace) and flag(effect, effect.inplace, args, kwargs, False)
    storages = [[storage(t) for t in g.tensors] for g in given]
    try:
        result = call(*args, **kwargs)
    except Exception as error:  # torch and its Python code raise errors of every kind for what they do not take
        raise RefusedError from error
    tally.called[name] = tally.called.get(name, 0) + 1
    results = [t for t in flat(result) if storage(t)]
    _judge_writes(tally, name, effect, given, set_flag, inplace)
    _judge_sharing(tally, name, effect, given, storages, results, inplace)
    if isinstance(result, torch.Tensor) and effect.result is Result.PLAIN:
        tally.report(name, "the result is a tensor, the table says plain")
    if isinstance(result, (list, tuple)) and results and effect.result is not Result.TENSORS:
        tally.report(name, f"the result is a list of tensors, the table says {effect.result.value}")
    return result


def _judge_writes(
    tally: Tally, name: str, effect: TorchEffect, given: list[Given], set_flag: bool, inplace: bool
) -> None:
    allowed: set[int] = set()
    changed: list[tuple[Given, set[int]]] = []
    for one in given:
        declared = one.named or (one.position in effect.writes and set_flag) or (inplace and one.position == 0)
        if declared:
            allowed |= {storage(t) for t in one.tensors}
        moved = {storage(t) for t, before in zip(one.tensors, one.before, strict=True) if content(t) != before}
        if moved:
            changed.append((one, moved))
            tally.written.add((name, one.parameter))
    for one, moved in changed:
        if moved - allowed and not (one.named or one.position in effect.writes):
            tally.report(name, f"{one.parameter} was written, the table does not say so")


def _judge_sharing(
    tally: Tally, name: str, effect: TorchEffect, given: list[Given], storages: list[list[int]],
    results: Tensors, inplace: bool,
) -> None:  # fmt: skip
    found = {storage(t) for t in results}
    allowed: set[int] = set()
    for one, own in zip(given, storages, strict=True):
        declared = one.position in effect.same or one.position in effect.maybe
        if declared or one.named or (inplace and one.position == 0):
            allowed |= set(own) | {storage(t) for t in one.tensors}
    for one, own in zip(given, storages, strict=True):
        common = (set(own) & found) - {0}
        if common:
            tally.shared.add((name, one.parameter))
        if common - allowed:
            tally.report(name, f"the result shares the storage of {one.parameter}, the table does not say so")
        certain = one.position in effect.same and effect.result is not Result.PLAIN
        now = {storage(t) for t in one.tensors} | set(own)
        if certain and results and 0 not in now and not found & now:
            tally.report(name, f"the result does not share the storage of {one.parameter}, the table says it must")
        if certain and not one.is_list and found - now - allowed and 0 not in now:
            tally.report(name, f"a part of the result does not share the storage of {one.parameter}")


class Watch(TorchDispatchMode):
    """Judges every op that reaches the dispatcher below a call."""

    def __init__(self, tally: Tally) -> None:
        super().__init__()
        self.tally = tally

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        namespace, _, rest = str(func).partition(".")
        name = f"torch.ops.{namespace}.{rest}"
        effect = function(name) if namespace == "aten" else None
        if effect is None:
            self.tally.unknown.add(name)
            return func(*args, **kwargs)
        try:
            return judge(self.tally, name, effect, func, args, kwargs)
        except RefusedError as error:
            raise error.__cause__ or error from None
        except Exception as error:  # a fault of this module, which torch would otherwise hide
            self.tally.report(name, f"could not be judged: {error!r}")
            raise


def op_samples() -> list[Any]:
    """torch's own list of ops with samples; it wants a test-only package, of which the samples use nothing."""
    if "expecttest" not in sys.modules:
        stand_in = types.ModuleType("expecttest")
        stand_in.TestCase = unittest.TestCase  # type: ignore[attr-defined]
        sys.modules["expecttest"] = stand_in
    from torch.testing._internal.common_methods_invocations import op_db

    return list(op_db)


def named_calls(op: Any) -> Iterator[tuple[str, TorchEffect | None, Callable[..., Any]]]:
    """The ways of calling one op of the samples: as a function, as a method, in place."""
    path = f"torch.{op.name}"
    target: Any = torch
    for part in op.name.split("."):
        target = getattr(target, part, None)
    if target is not None and op.variant_test_name == "":
        yield path, function(path), target
    for variant in (op.method_variant, op.inplace_variant):
        if variant is not None and hasattr(variant, "__name__"):
            yield f"Tensor.{variant.__name__}", method(variant.__name__), variant


def fresh(value: Any) -> Any:
    """A copy of the arguments, so that one call does not spoil the next."""
    if isinstance(value, torch.Tensor):
        if value.layout is not torch.strided or (not storage(value) and value.numel()):
            return value.clone()
        copy = torch.empty(0, dtype=value.dtype).set_(value.untyped_storage().clone(), value.storage_offset(),
                                                      value.size(), value.stride())  # fmt: skip
        return torch._conj(copy) if value.is_conj() else copy
    if isinstance(value, Mapping):
        return {key: fresh(item) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(fresh(item) for item in value)
    return value


def try_judge(tally: Tally, name: str, effect: TorchEffect, call: Callable[..., Any], args: Any, kwargs: Any) -> None:
    """Arguments that torch refuses say nothing."""
    given, named = fresh(args), fresh(kwargs)
    with Watch(tally), contextlib.suppress(RefusedError):
        judge(tally, name, effect, call, given, named)


def run_samples(tally: Tally, limit: int, dtypes: Sequence[torch.dtype]) -> None:
    for op in op_samples():
        for dtype in (d for d in dtypes if op.supports_dtype(d, "cpu")):
            try:
                samples = [s for s, _ in zip(op.sample_inputs("cpu", dtype), range(limit), strict=False)]
            except Exception:  # samples that this build of torch cannot make, for whatever reason
                samples = []
            for name, effect, call in named_calls(op):
                if effect is None:
                    tally.unknown.add(name)
                    continue
                for sample in samples:
                    try_judge(tally, name, effect, call, (sample.input, *sample.args), sample.kwargs)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=2, help="how many of each op's samples")
    parser.add_argument("--banks", type=int, default=0, help="call every name with plain arguments, of so many kinds")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_grad_enabled(False)
    torch.set_num_threads(1)
    tally = Tally()
    from tests.helpers.torch_cases import run_banks, run_cases

    run_cases(tally)
    if asked.banks:
        run_banks(tally, asked.banks)
    if asked.samples:
        run_samples(tally, asked.samples, (torch.float32, torch.int64, torch.complex64))
    json.dump(
        {
            "called": tally.called,
            "wrong": {name: sorted(texts) for name, texts in sorted(tally.wrong.items())},
            "unknown": sorted(tally.unknown),
            "written": sorted(tally.written),
            "shared": sorted(tally.shared),
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main()
