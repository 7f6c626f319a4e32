"""Notes launches inside a program that is being recorded: the only code that knows where Triton launches.

Standard library only, and nothing of this package: it is also loaded by file into programs whose Python
does not have it. Acts where Triton (3.3 to 3.9) finds no compiled kernel for a launch, so a launch that was
seen before costs nothing; under the interpreter, which compiles nothing, what was seen is looked up.
"""

from __future__ import annotations

import importlib
import importlib.abc
import json
import os
import sys
from collections.abc import Callable
from typing import Any

MOST = 64  # signatures that are noted of one kernel
_MARK = "_mutlint_records"
_JIT, _INTERPRETER = "triton.runtime.jit", "triton.runtime.interpreter"
_PLAIN = (bool, int, float, str)
_DTYPES = {
    "float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64", "bool": "i1", "int8": "i8",
    "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16", "uint32": "u32",
    "uint64": "u64", "float8_e4m3fn": "fp8e4nv", "float8_e5m2": "fp8e5", "float8_e4m3fnuz": "fp8e4b8",
    "float8_e5m2fnuz": "fp8e5b16",
}  # fmt: skip


def begin(path: str) -> None:
    """Append every new launch to the file `path`, one line of JSON each, from now on."""
    notebook = _Notebook(path)
    patches = {_JIT: notebook.patch_jit, _INTERPRETER: notebook.patch_interpreter}
    for name, patch in patches.items():
        if name in sys.modules:
            patch(sys.modules[name])
    sys.meta_path.insert(0, _Waiting({n: p for n, p in patches.items() if n not in sys.modules}))


class _Waiting(importlib.abc.MetaPathFinder):
    """Patches modules once they are imported."""

    def __init__(self, patches: dict[str, Callable[[Any], None]]) -> None:
        self._patches = patches

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        patch = self._patches.pop(name, None)
        if patch is None:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find is not None and finder is not self else None
            if spec is not None and spec.loader is not None:
                _after(spec.loader, patch)
                return spec
        return None


def _after(loader: Any, patch: Callable[[Any], None]) -> None:
    execute = loader.exec_module

    def exec_module(module: Any) -> None:
        execute(module)
        patch(module)

    loader.exec_module = exec_module


class _Notebook:
    """What was seen so far, and the file that it goes to."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._seen: set[Any] = set()
        self._counts: dict[Any, int] = {}
        self._exact: dict[Any, set[str]] = {}

    def patch_jit(self, module: Any) -> None:
        """Look at each launch for which Triton has no compiled kernel."""
        # up to 3.4, what is called before a compilation and after it
        name = "_do_compile" if hasattr(module.JITFunction, "_do_compile") else "_call_hook"
        compile_ = getattr(module.JITFunction, name)
        if hasattr(compile_, _MARK):
            return

        def _do_compile(jit: Any, *args: Any, **kwargs: Any) -> Any:
            frame = sys._getframe(1)
            held = frame.f_locals if frame.f_code.co_name == "run" else {}
            bound = held.get("bound_args")
            if isinstance(bound, dict) and not held.get("warmup") and held.get("kernel") is None:
                self._note(jit.fn, bound, _constexprs(jit), held.get("grid"))
            return compile_(jit, *args, **kwargs)

        setattr(_do_compile, _MARK, True)
        setattr(module.JITFunction, name, _do_compile)

    def patch_interpreter(self, module: Any) -> None:
        """Look at each launch in the interpreter."""
        run = module.InterpretedFunction.run
        if hasattr(run, _MARK):
            return
        signatures: dict[Any, Any] = {}

        def recorded(jit: Any, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
            if not warmup:
                key = self._key(jit, args, kwargs)
                if key not in self._seen:
                    self._seen.add(key)
                    self._interpreted(jit, args, kwargs, grid, signatures)
            return run(jit, *args, grid=grid, warmup=warmup, **kwargs)

        setattr(recorded, _MARK, True)
        module.InterpretedFunction.run = recorded

    def _key(self, jit: Any, args: Any, kwargs: Any) -> Any:
        """What tells launches of the interpreter apart, as compiling would: constexprs by value."""
        exact = self._exact.get(jit.fn)
        if exact is None:
            notes = getattr(jit.fn, "__annotations__", {})
            exact = self._exact[jit.fn] = {n for n, kind in notes.items() if "constexpr" in str(kind)}
        parts = [value if name in exact and type(value) in _PLAIN else _brief(value)
                 for name, value in zip(jit.arg_names, args)]  # noqa: B905 - a launch with too many fails by itself
        parts += [(n, v if n in exact and type(v) in _PLAIN else _brief(v)) for n, v in kwargs.items()]
        return (jit.fn, *parts)

    def _interpreted(self, jit: Any, args: Any, kwargs: Any, grid: Any, signatures: dict[Any, Any]) -> None:
        import inspect

        if jit.fn not in signatures:
            signatures[jit.fn] = inspect.signature(jit.fn)
        own = {n: v for n, v in kwargs.items() if n in signatures[jit.fn].parameters}
        try:
            bound = signatures[jit.fn].bind(*args, **own)
        except TypeError:
            return  # the launch itself says what is wrong
        bound.apply_defaults()
        names = {n for n, p in signatures[jit.fn].parameters.items() if "constexpr" in str(p.annotation)}
        self._note(jit.fn, bound.arguments, names, grid)

    def _note(self, fn: Any, bound: Any, constexprs: set[str], grid: Any) -> None:
        """Write one launch down. What goes wrong here must not reach the program."""
        try:
            code = fn.__code__
            key = (code.co_filename, code.co_firstlineno)
            if self._counts.get(key, 0) >= MOST:
                return
            self._counts[key] = self._counts.get(key, 0) + 1
            line = json.dumps(_launch(fn, bound, constexprs, grid))
            with open(self._path, "a", encoding="utf-8") as file:  # noqa: PTH123 - no pathlib in a program's start
                file.write(line + "\n")
        except Exception:  # noqa: S110 - an argument of any kind was looked at; the launch goes on without a note
            pass


def _constexprs(jit: Any) -> set[str]:
    return {p.name for p in jit.params if p.is_constexpr}


def _brief(value: Any) -> Any:
    """What tells two arguments apart, quickly."""
    kind = type(value)
    if kind is int:
        return (kind, value % 16 == 0, value > 0x7FFFFFFF or value < -0x80000000)
    if kind is bool or kind is str or value is None:
        return value
    if kind is float:
        return kind
    if hasattr(value, "data_ptr"):
        return (str(value.dtype), value.data_ptr() % 16 == 0)
    if isinstance(value, tuple):
        return tuple(map(_brief, value))
    if hasattr(value, "block_shape"):
        return (str(value.base.dtype), tuple(value.block_shape))
    return id(value)


# --------------------------------------------------------------------------- one launch as plain values


def _launch(fn: Any, bound: Any, constexprs: set[str], grid: Any) -> dict[str, Any]:
    code = fn.__code__
    told: dict[str, Any] = {
        "file": os.path.abspath(code.co_filename), "name": fn.__name__, "line": code.co_firstlineno,  # noqa: PTH100
        "args": {}, "values": {}, "shapes": {}, "grid": _grid(grid),
    }
    for name, value in bound.items():
        if name in constexprs:
            told["args"][name] = _value(value, fn.__globals__)
        else:
            _leaf(name, value, told, fn.__globals__)
    return told


def _grid(grid: Any) -> list[int] | None:
    """A grid that is written out; one that is computed is not asked for, as that would run code twice."""
    if isinstance(grid, (tuple, list)) and grid and all(isinstance(size, int) for size in grid):
        return list(grid)
    return None


def _value(value: Any, namespace: Any) -> dict[str, Any]:
    """A compile-time value: as it is, by a name of the kernel's module, or nothing."""
    value = getattr(value, "value", value) if type(value).__name__ == "constexpr" else value
    if value is None or type(value) in _PLAIN:
        return {"value": value}
    if isinstance(value, (tuple, list)):
        parts = [_value(element, namespace) for element in value]
        return {"value": [p["value"] for p in parts]} if all("value" in p for p in parts) else {}
    if type(value).__name__ == "dtype" and type(value).__module__.startswith("triton"):
        return {"dtype": str(value)}
    named = [n for n, held in list(namespace.items()) if held is value and not n.startswith("__")]
    return {"ref": sorted(named)[0]} if named else {}


def _leaf(name: str, value: Any, told: dict[str, Any], namespace: Any) -> None:
    """A run-time argument: its type, and what is noted of its value or size."""
    text = _type(name, value, told, namespace)
    told["args"][name] = {"type": text} if text else _value(value, namespace)


def _type(name: str, value: Any, told: dict[str, Any], namespace: Any) -> str | None:
    if isinstance(value, bool):
        told["values"][name] = value
        return "i1"
    if isinstance(value, int):
        told["values"][name] = value
        return _integer(value)
    if isinstance(value, float):
        if value == value and abs(value) != float("inf"):
            told["values"][name] = value
        return "fp32"
    if isinstance(value, tuple):
        return _tuple(name, value, told, namespace)
    if hasattr(value, "block_shape") and hasattr(value, "base"):
        told["shapes"][name] = [int(size) for size in value.shape]
        return f"tensordesc<{_element(value.base)}[{', '.join(str(int(b)) for b in value.block_shape)}]>"
    if hasattr(value, "data_ptr"):
        if hasattr(value, "shape") and callable(getattr(value, "stride", None)):
            extent = 1 + sum((size - 1) * step for size, step in zip(value.shape, value.stride(), strict=True))
            if extent > 0:
                told["shapes"][name] = [int(extent)]
        return f"*{_element(value)}" + (":16" if value.data_ptr() % 16 == 0 else "")
    return None


def _integer(value: int) -> str:
    kind = "i32" if -0x80000000 <= value <= 0x7FFFFFFF else "i64" if value <= 0x7FFFFFFFFFFFFFFF else "u64"
    return f"{kind}:16" if value % 16 == 0 and value else kind


def _tuple(name: str, value: Any, told: dict[str, Any], namespace: Any) -> str | None:
    labels = getattr(value, "_fields", None) or [str(i) for i in range(len(value))]
    parts = ["None" if v is None else _type(f"{name}.{label}", v, told, namespace)
             for label, v in zip(labels, value, strict=True)]
    if None in parts:
        return None
    if not hasattr(value, "_fields"):
        return f"({', '.join(map(str, parts))})"
    cls = [n for n, held in list(namespace.items()) if held is type(value)]
    inner = ", ".join(f"{label}={part}" for label, part in zip(labels, parts, strict=True))
    return f"{sorted(cls)[0]}({inner})" if cls else None


def _element(tensor: Any) -> str:
    name = str(tensor.dtype).rpartition(".")[2]
    return _DTYPES.get(name, name)
