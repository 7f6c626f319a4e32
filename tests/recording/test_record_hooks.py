"""Where launches are noted: only where Triton compiles, so that those seen before cost nothing."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import pytest

from triton_mutlint.recording.hooks import begin

pytestmark = pytest.mark.both


class _Tensor:
    """What Triton asks of a tensor, without torch."""

    def __init__(self, dtype: str, shape: tuple[int, ...], address: int = 4096) -> None:
        self.dtype, self.shape, self._address = f"torch.{dtype}", shape, address

    def data_ptr(self) -> int:
        return self._address

    def stride(self) -> tuple[int, ...]:
        steps, step = [], 1
        for size in reversed(self.shape):
            steps.append(step)
            step *= size
        return tuple(reversed(steps))


def _kernel(x_ptr: Any, out_ptr: Any, n: Any, scale: Any, pair: Any, BLOCK: Any, flag: Any) -> None:
    """A function with a kernel's parameters."""


class _JITFunction:
    """Triton's, as far as launching goes: a cache of compiled kernels, asked with the arguments' types."""

    def __init__(self, fn: Any) -> None:
        self.fn = fn
        self.params = [SimpleNamespace(name=n, is_constexpr=n in ("BLOCK", "flag"))
                       for n in fn.__code__.co_varnames[: fn.__code__.co_argcount]]
        self.cache: dict[Any, Any] = {}
        self.compiled = 0

    def run(self, *args: Any, grid: Any, warmup: bool = False) -> None:
        bound_args = dict(zip([p.name for p in self.params], args, strict=True))
        key = str([getattr(a, "dtype", type(a)) for a in args])
        if key not in self.cache:
            self.cache[key] = self._do_compile(key, bound_args)

    def _do_compile(self, key: str, bound: Any) -> Any:
        self.compiled += 1
        return object()


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return tmp_path / "notes.jsonl"


def _lines(notes: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in notes.read_text(encoding="utf-8").splitlines()] if notes.exists() else []


@pytest.fixture
def patched(notes: Path, monkeypatch: pytest.MonkeyPatch) -> type[_JITFunction]:
    """Triton's class, as it was imported before recording began."""
    class JITFunction(_JITFunction):
        pass

    class InterpretedFunction(_JITFunction):
        pass

    monkeypatch.setitem(sys.modules, "triton.runtime.jit", cast(ModuleType, SimpleNamespace(JITFunction=JITFunction)))
    monkeypatch.setitem(sys.modules, "triton.runtime.interpreter",
                        cast(ModuleType, SimpleNamespace(InterpretedFunction=InterpretedFunction)))
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    begin(str(notes))
    return JITFunction


def _args(dtype: str = "float16") -> tuple[Any, ...]:
    return (_Tensor(dtype, (4, 8)), _Tensor("int64", (4,), 4100), 1000, 0.5, (_Tensor("bfloat16", (2,)), 7), 128, True)


def test_a_launch_is_noted_with_types_values_and_sizes(patched: type[_JITFunction], notes: Path) -> None:
    patched(_kernel).run(*_args(), grid=(8, 2))
    note, = _lines(notes)
    assert note["args"] == {"x_ptr": "*fp16:16", "out_ptr": "*i64", "n": "i32", "scale": "fp32",
                            "pair": "(*bf16:16, i32)", "BLOCK": 128, "flag": True}
    assert note["values"] == {"n": 1000, "scale": 0.5, "pair.1": 7}
    assert note["shapes"] == {"x_ptr": [32], "out_ptr": [4], "pair.0": [2]}
    assert note["grid"] == [8, 2]
    assert (note["name"], note["line"]) == ("_kernel", _kernel.__code__.co_firstlineno)


def test_repeated_launches_are_not_looked_at(patched: type[_JITFunction], notes: Path) -> None:
    assert patched.run is _JITFunction.run, "launching itself is Triton's own"
    kernel = patched(_kernel)
    for _ in range(100):
        kernel.run(*_args(), grid=(1,))
    kernel.run(*_args("float32"), grid=(1,))
    assert (kernel.compiled, len(_lines(notes))) == (2, 2)


def test_a_grid_that_is_computed_is_not_called(patched: type[_JITFunction], notes: Path) -> None:
    calls: list[Any] = []
    patched(_kernel).run(*_args(), grid=lambda meta: calls.append(meta))
    assert (calls, _lines(notes)[0]["grid"]) == ([], None)


def test_what_cannot_be_noted_does_not_reach_the_program(patched: type[_JITFunction], notes: Path) -> None:
    class Awkward:
        @property
        def data_ptr(self) -> Any:
            raise ValueError("not to be asked")

    kernel = patched(_kernel)
    kernel.run(Awkward(), *_args()[1:], grid=(1,))
    assert (kernel.compiled, _lines(notes)) == (1, [])


def test_warmups_are_no_launches(patched: type[_JITFunction], notes: Path) -> None:
    patched(_kernel).run(*_args(), grid=(1,), warmup=True)
    assert _lines(notes) == []


def test_beginning_twice_is_beginning_once(patched: type[_JITFunction], notes: Path) -> None:
    begin(str(notes))
    patched(_kernel).run(*_args(), grid=(1,))
    assert len(_lines(notes)) == 1


def test_the_installed_triton_still_compiles_where_it_is_looked_at() -> None:
    import inspect

    from triton.runtime.jit import JITFunction

    source = inspect.getsource(JITFunction.run)
    assert "self._do_compile(" in source or "self._call_hook(" in source
    assert "kernel = kernel_cache.get(key" in source
    assert "bound_args" in inspect.getsource(JITFunction.run)
    assert JITFunction.run.__name__ == "run"


def test_calls_of_ops_are_noted_but_not_those_of_torchs_own(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class OpOverload:
        def __init__(self, name: str) -> None:
            self._schema = SimpleNamespace(arguments=[SimpleNamespace(name=n) for n in ("x", "y", "n")])
            self._name = name

        def name(self) -> str:
            return self._name

        def __call__(self, *args: Any, **kwargs: Any) -> int:
            return len(args) + len(kwargs)

    class OpOverloadPacket(OpOverload):
        def __init__(self, name: str) -> None:
            super().__init__(name)
            self._qualified_op_name, self.default = name, OpOverload(name)

    class Tensor(_Tensor):
        def is_contiguous(self) -> bool:
            return len(self.shape) == 1

    packet = SimpleNamespace(OpOverload=OpOverload, OpOverloadPacket=OpOverloadPacket)
    monkeypatch.setitem(sys.modules, "torch._ops", cast(ModuleType, packet))
    begin(str(notes))
    x, y = Tensor("float32", (8,)), Tensor("float16", (3, 4))
    for _ in range(2):
        assert OpOverload("lib::f")(x, [y, x], n=3) == 3
    assert OpOverloadPacket("lib::g")(None, True, object()) == 3
    assert OpOverload("aten::add")(x, x) == 2
    assert _lines(notes) == [
        {"op": "lib::f", "call": {"x": "*fp32[8]", "y": "(*fp16[3, 4; 4, 1], *fp32[8])", "n": "3"}},
        {"op": "lib::g", "call": {"x": "None", "y": "True"}}]
