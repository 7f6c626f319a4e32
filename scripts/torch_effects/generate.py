"""All entries of the effect table, from the installed torch and the reviewed list. Needs torch."""

from __future__ import annotations

import importlib
import inspect
from collections import defaultdict
from typing import Any

import torch

from scripts.torch_effects import reviewed_python
from scripts.torch_effects.schemas import Overload, overloads, union
from triton_mutlint.host.torch.table import parse

Section = dict[str, str]

_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)

# Where builtin functions of an op's name stand, and what their names in the dispatcher begin with.
HOMES = {
    "torch": ("",),
    "torch.nn.functional": ("",),
    "torch.special": ("special_",),
    "torch.linalg": ("linalg_",),
    "torch.fft": ("fft_",),
    "torch._C._nn": ("",),
}


def generate() -> dict[str, Section]:
    """The sections of the table, each from name to text."""
    grouped: dict[str, list[Overload]] = defaultdict(list)
    for overload in overloads():
        grouped[overload.op].append(overload)
    functions = _ops(grouped) | _builtins(grouped) | _python_functions() | reviewed_python.FUNCTIONS
    methods = _methods(grouped) | {n: t for n, t in reviewed_python.METHODS.items() if hasattr(torch.Tensor, n)}
    sections = {"functions": functions, "methods": methods, "attributes": dict(reviewed_python.ATTRIBUTES)}
    for section in sections.values():
        for text in section.values():
            parse(text)  # refuses what is malformed
    return {"made from": {"torch": torch.__version__.partition("+")[0]}, **sections}


def _ops(grouped: dict[str, list[Overload]]) -> Section:
    """`torch.ops.aten.add`, and its overloads where there are several."""
    found = {}
    for op, group in grouped.items():
        found[f"torch.ops.{op}"] = union(group)
        if len(group) > 1:
            found |= {f"torch.ops.{op}.{o.name}": union([o]) for o in group}
    return found


def _builtins(grouped: dict[str, list[Overload]]) -> Section:
    found = {}
    for home, (prefix,) in HOMES.items():
        module = importlib.import_module(home)
        for name in dir(module):
            group = grouped.get(f"aten.{prefix}{name}")
            if group and inspect.isbuiltin(getattr(module, name)):
                found[f"{home}.{name}"] = union(group, python=True)
    return found


def _methods(grouped: dict[str, list[Overload]]) -> Section:
    """Methods made from schemas; those written in Python are reviewed ones or none."""
    found = {}
    for name in dir(torch.Tensor):
        value = getattr(torch.Tensor, name)
        group = [o for o in grouped.get(f"aten.{name}", ()) if any(a.name == "self" for a in o.arguments)]
        if group and inspect.isroutine(value) and not inspect.isfunction(value):
            found[name] = union(group)
    return found


def _python_functions() -> Section:
    found = {}
    for name, marks in reviewed_python.PYTHON.items():
        value = _resolve(name)
        if value is not None:
            found[name] = _marked(name, value, marks)
    return found


def _resolve(name: str) -> Any:
    """The object of that name; None where this torch has none."""
    home, _, attribute = name.rpartition(".")
    try:
        return getattr(importlib.import_module(home), attribute, None)
    except ImportError:
        return None


def _marked(name: str, value: Any, marks: str) -> str:
    """Put the marks on the parameters of a Python function."""
    left, _, right = marks.partition("->")
    hints = {token.rstrip("!~=?@[]"): token for token in left.split()}
    tokens: list[str] = []
    by_name = False
    for parameter in inspect.signature(value).parameters.values():
        star = "*" * (1 + (parameter.kind is parameter.VAR_KEYWORD)) if parameter.kind in _VARIADIC else ""
        if parameter.kind is parameter.KEYWORD_ONLY and not by_name and not any(t.startswith("*") for t in tokens):
            tokens.append("*")
        by_name |= parameter.kind is parameter.KEYWORD_ONLY or star == "*"
        tokens.append(star + hints.pop(parameter.name, parameter.name))
    if hints:
        raise ValueError(f"{name} has no {', '.join(hints)}")
    return " ".join([*tokens, "->", right.strip()])
