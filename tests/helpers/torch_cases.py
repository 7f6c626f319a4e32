"""Calls that torch's own samples lack.

Those of `torch_corners.py`, and every name with plain arguments.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import torch

from tests.helpers import torch_calls
from tests.helpers.torch_corners import corners
from triton_mutlint.host.torch.table import attribute, function, method, table


def banks(shapes: int) -> Iterator[tuple[Any, ...]]:
    """Arguments that many functions take."""
    kinds = (((4, 4), torch.float32), ((4,), torch.float32), ((), torch.float32), ((2, 4, 4, 4), torch.float32),
             ((4, 4), torch.int64), ((4, 4), torch.bool), ((4, 4), torch.complex64), ((1,), torch.float32),
             ((1, 1), torch.float32), ((0, 4), torch.float32))  # fmt: skip
    for shape, dtype in kinds[:shapes]:
        x = (torch.rand(shape) * 9).to(dtype)
        zeros, zero = torch.zeros(shape, dtype=torch.int64), torch.zeros(1, dtype=torch.int64)
        for rest in ((), (0,), (1,), (0, 1), (0, 0), (1.0,), (2,), (x.clone(),), (x.clone(), x.clone()), (0, 1, 1),
                     ((0,),), (shape,), (shape, x.stride()), (zeros,), (torch.float32,), ("cpu",), (0, zeros),
                     (x != 0,), (x != 0, 1.0), (x.clone(), 1), (1, x.clone()), (0, zeros, x.clone()), (0, zero, 1.0),
                     (0.5, False), (0.5, True), (x.clone(), x.clone(), x.clone())):  # fmt: skip
            yield (x, *rest)
    for tensors in ([torch.rand(3)], [torch.rand(3), torch.rand(3)], [torch.rand(2, 2), torch.rand(2, 2)]):
        for rest in ((), (0,), (1.0,), ([t.clone() for t in tensors],)):
            yield (tensors, *rest)


# Private ops take arguments that crash the process; the rest changes torch's state.
LEFT_OUT = ("torch.set_", "torch.distributed", "torch.cuda", "torch.xpu", "torch.ops", "torch._C", "torch.nn.init")


def names() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every function and method of the table that plain arguments cannot harm."""
    for name, text in table()["functions"].items():
        last = name.rpartition(".")[2]
        private = last.startswith("_") and "foreach" not in last
        if private or name.startswith(LEFT_OUT) or text.startswith("*arguments"):
            continue
        target: Any = torch
        for part in name.split(".")[1:]:
            target = getattr(target, part, None)
        if callable(target):
            yield name, target
    for name in table()["methods"]:
        if not name.startswith("_") or name.startswith("__"):
            yield f"Tensor.{name}", getattr(torch.Tensor, name)


def resolve(name: str) -> Any:
    target: Any = torch
    for part in name.split(".")[1:]:
        target = getattr(target, part)
    return target


def run_cases(tally: torch_calls.Tally) -> None:
    for name, args, kwargs in corners():
        effect = function(name)
        if effect is None:
            tally.unknown.add(name)
        else:
            torch_calls.try_judge(tally, name, effect, resolve(name), args, kwargs)
    for name in table()["attributes"]:
        effect = attribute(name)
        assert effect is not None
        for x in (torch.rand(3, 3), torch.rand(3, 3, dtype=torch.complex64)):
            torch_calls.try_judge(tally, f"attribute {name}", effect, operator.attrgetter(name), (x,), {})


def run_banks(tally: torch_calls.Tally, shapes: int) -> None:
    found = list(banks(shapes))
    for name, target in names():
        effect = method(name.removeprefix("Tensor.")) if name.startswith("Tensor.") else function(name)
        assert effect is not None
        for args in found:
            torch_calls.try_judge(tally, name, effect, target, args, {})
