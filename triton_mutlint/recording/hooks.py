"""Notes launches inside a program that is being recorded: the only code that knows where Triton launches.

Standard library only, and nothing of this package: it is also loaded by file into programs whose Python
does not have it. Acts where Triton (3.3 to 3.9) finds no compiled kernel for a launch, so a launch that was
seen before costs nothing; under the interpreter, which compiles nothing, what was seen is looked up.
"""

from __future__ import annotations

import contextlib
import importlib.abc
import json
import os
import sys
from collections.abc import Callable
from typing import Any

MOST = 64  # signatures that are noted of one kernel
_MARK = "_mutlint_records"
_JIT, _INTERPRETER, _OPS = "triton.runtime.jit", "triton.runtime.interpreter", "torch._ops"
_TORCHS_OWN = ("aten::", "prim::", "prims::", "higher_order::", "profiler::")
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
    patches = {_JIT: notebook.patch_jit, _INTERPRETER: notebook.patch_interpreter, _OPS: notebook.patch_ops}
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


def _tell(owner: Any, name: str, told: Callable[..., None]) -> None:
    """Have `told` called before a method, once, with the same arguments."""
    method = getattr(owner, name)
    if hasattr(method, _MARK):
        return

    def telling(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        told(self, *args, **kwargs)
        return method(self, *args, **kwargs)

    setattr(telling, _MARK, True)
    setattr(owner, name, telling)


class _Notebook:
    """What was seen so far, and the file that it goes to."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._seen: dict[tuple[str, int], set[str]] = {}  # signatures, by the kernel's place

    def patch_jit(self, module: Any) -> None:
        """Look at each launch for which Triton has no compiled kernel."""
        # up to 3.4, what is called before a compilation and after it
        name = "_do_compile" if hasattr(module.JITFunction, "_do_compile") else "_call_hook"

        def compiled(jit: Any, *_: Any, **__: Any) -> None:
            frame = sys._getframe(2)
            held = frame.f_locals if frame.f_code.co_name == "run" else {}
            bound = held.get("bound_args")
            if isinstance(bound, dict) and not held.get("warmup") and held.get("kernel") is None:
                self._note(jit.fn, bound, {p.name for p in jit.params if p.is_constexpr}, held.get("grid"))

        _tell(module.JITFunction, name, compiled)

    def patch_interpreter(self, module: Any) -> None:
        """Look at each launch in the interpreter."""
        def launched(jit: Any, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> None:
            if not warmup:
                self._interpreted(jit.fn, args, kwargs, grid)

        _tell(module.InterpretedFunction, "run", launched)

    def patch_ops(self, module: Any) -> None:
        """Look at each call of an op that is not torch's own."""
        def called(op: Any, /, *args: Any, **kwargs: Any) -> None:
            name = getattr(op, "_qualified_op_name", "") or op.name()
            if not name.startswith(_TORCHS_OWN):
                self._note_op(name, op, args, kwargs)

        for cls in (module.OpOverload, module.OpOverloadPacket):
            _tell(cls, "__call__", called)

    def _note_op(self, name: str, op: Any, args: Any, kwargs: Any) -> None:
        """Write one call down, if there was none like it. What goes wrong here must not reach the program."""
        try:
            seen = self._seen.setdefault((name, 0), set())
            schema = (op if hasattr(op, "_schema") else op.default)._schema
            named = {**{a.name: v for a, v in zip(schema.arguments, args, strict=False)}, **kwargs}
            called = json.dumps({n: text for n, v in named.items() if (text := _op_argument(v)) is not None})
            if len(seen) < MOST and called not in seen:
                seen.add(called)
                self._write(f'{{"op": {json.dumps(name)}, "call": {called}}}')
        except Exception:  # noqa: S110 - an argument of any kind was looked at; the call goes on without a note
            pass

    def _write(self, line: str) -> None:
        with open(self._path, "a", encoding="utf-8") as file:  # noqa: PTH123 - no pathlib in a program's start
            file.write(line + "\n")

    def _interpreted(self, fn: Any, args: Any, kwargs: Any, grid: Any) -> None:
        import inspect

        signature = inspect.signature(fn)
        try:
            bound = signature.bind(*args, **{n: v for n, v in kwargs.items() if n in signature.parameters})
        except TypeError:
            return  # the launch itself says what is wrong
        bound.apply_defaults()
        names = {n for n, p in signature.parameters.items() if "constexpr" in str(p.annotation)}
        self._note(fn, bound.arguments, names, grid)

    def _note(self, fn: Any, bound: Any, constexprs: set[str], grid: Any) -> None:
        """Write one launch down, if its signature is new. What goes wrong here must not reach the program."""
        try:
            seen = self._seen.setdefault((fn.__code__.co_filename, fn.__code__.co_firstlineno), set())
            if len(seen) >= MOST:
                return
            launch = _launch(fn, bound, constexprs, grid)
            signature = json.dumps(launch["args"])
            if signature not in seen:
                seen.add(signature)
                self._write(json.dumps(launch))
        except Exception:  # noqa: S110 - an argument of any kind was looked at; the launch goes on without a note
            pass


def _op_argument(value: Any) -> str | None:
    """An argument of an op as a spec says it, `*fp32[8, 64; 1, 8]`; None for what it has no words for."""
    if hasattr(value, "data_ptr") and hasattr(value, "shape"):
        contiguous = "" if value.is_contiguous() else f"; {', '.join(map(str, value.stride()))}"
        return f"*{_element(value)}[{', '.join(map(str, value.shape))}{contiguous}]"
    if isinstance(value, (list, tuple)) and value and hasattr(value[0], "data_ptr"):
        return f"({', '.join(str(_op_argument(one)) for one in value)})"
    if isinstance(value, (list, tuple)):
        return repr(list(value)) if all(type(one) in _PLAIN for one in value) else None
    if value is None or type(value) in _PLAIN:
        return repr(value)
    return str(value).removeprefix("torch.") if type(value).__module__ == "torch" else None


# --------------------------------------------------------------------------- one launch as a spec says it


def _launch(fn: Any, bound: Any, constexprs: set[str], grid: Any) -> dict[str, Any]:
    """Its place, and the keys of `verify.launches`; arguments that a spec has no words for are left out."""
    code = fn.__code__
    told: dict[str, Any] = {
        "file": os.path.abspath(code.co_filename), "name": fn.__name__, "line": code.co_firstlineno,  # noqa: PTH100
        "args": {}, "values": {}, "shapes": {}, "grid": _grid(grid),
    }
    for name, value in bound.items():
        with contextlib.suppress(LookupError):
            text = None if name in constexprs else _type(name, value, told, fn.__globals__)
            told["args"][name] = text or _value(value, fn.__globals__)
    return told


def _grid(grid: Any) -> list[int] | None:
    """A grid that is written out; one that is computed is not asked for, as that would run code twice."""
    if isinstance(grid, (tuple, list)) and grid and all(isinstance(size, int) for size in grid):
        return list(grid)
    return None


def _value(value: Any, namespace: Any) -> Any:
    """A compile-time value as it is, or by a name of Triton's or the kernel's module; LookupError without one."""
    value = getattr(value, "value", value) if type(value).__name__ == "constexpr" else value
    if value is None or type(value) in _PLAIN:
        return value
    if isinstance(value, (tuple, list)):
        return [_value(element, namespace) for element in value]
    if type(value).__name__ == "dtype" and type(value).__module__.startswith("triton"):
        language = vars(sys.modules["triton.language"])
        return {"ref": f"tl.{next(n for n, held in language.items() if type(held) is type(value) and held == value)}"}
    return {"ref": _named(value, namespace)}


def _named(value: Any, namespace: Any) -> str:
    names: list[str] = sorted(n for n, held in list(namespace.items()) if held is value and not n.startswith("__"))
    return names[0]


def _type(name: str, value: Any, told: dict[str, Any], namespace: Any) -> str | None:
    if isinstance(value, bool):
        told["values"][name] = value
        return "i1"
    if isinstance(value, int):
        told["values"][name] = value
        kind = "i32" if -0x80000000 <= value <= 0x7FFFFFFF else "i64" if value <= 0x7FFFFFFFFFFFFFFF else "u64"
        return f"{kind}:16" if value % 16 == 0 and value else kind
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


def _tuple(name: str, value: Any, told: dict[str, Any], namespace: Any) -> str | None:
    labels = getattr(value, "_fields", None) or [str(i) for i in range(len(value))]
    parts = ["None" if v is None else _type(f"{name}.{label}", v, told, namespace)
             for label, v in zip(labels, value, strict=True)]
    if None in parts:
        return None
    if not hasattr(value, "_fields"):
        return f"({', '.join(map(str, parts))})"
    inner = ", ".join(f"{label}={part}" for label, part in zip(labels, parts, strict=True))
    return f"{_named(type(value), namespace)}({inner})"


def _element(tensor: Any) -> str:
    name = str(tensor.dtype).rpartition(".")[2]
    return _DTYPES.get(name, name)
