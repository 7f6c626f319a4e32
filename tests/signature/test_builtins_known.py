"""The walk over kernels' sources knows what each function of the installed Triton's language may store."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

import pytest
import triton.language as tl

from triton_mutlint.kernel_source import operations
from triton_mutlint.kernel_source.objects import named_and_home
from triton_mutlint.kernel_source.operations import ASM, PURE, may_act, stores

pytestmark = pytest.mark.both


def _modules(name: str) -> Iterator[Any]:
    module = importlib.import_module(name)
    yield module
    for inner in pkgutil.iter_modules(getattr(module, "__path__", ())):
        yield from _modules(f"{name}.{inner.name}")


def _builtins() -> dict[str, Any]:
    holders = [*_modules("triton.language"), tl.tensor, tl.tensor_descriptor]
    found = {f: f for holder in holders for f in vars(holder).values() if hasattr(f, "__triton_builtin__")}
    return {named_and_home(f)[0]: f for f in found if "gluon" not in named_and_home(f)[1]}


def test_each_builtin_is_known_to_be_pure_or_to_store() -> None:
    builtins = _builtins()
    assert len(builtins) > 100
    acting = {name for name, f in builtins.items() if may_act(f, *named_and_home(f)) and not stores(name)}
    unknown = acting - ASM - {"wrapper"}  # a method, which has a name where it is called
    assert not [name for name in unknown if not name.startswith("experimental_device_tensormap")]


def test_one_that_is_not_known_may_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "PURE", PURE - {"join"})
    assert may_act(tl.join, "join", "triton.language.core")
    assert not may_act(tl.dot, "dot", "triton.language.core")
    assert not may_act(len, "len", "builtins")
