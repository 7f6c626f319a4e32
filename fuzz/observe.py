"""What kernels write when Triton's interpreter runs them; a process of its own, without torch.

`python -m fuzz.observe FILE PLAN` imports the kernels of FILE and runs those of PLAN (JSON, see `Job`),
printing one JSON line per kernel: the names of the parameters whose memory was stored to, each store's
addresses being noted, and of the outside memory that a table points to. A tensor that differs bit by bit
without such a note is an error, as is an access outside of every tensor.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

os.environ["TRITON_INTERPRET"] = "1"  # read when Triton is imported

import numpy as np
import triton.language as tl
from triton.runtime import interpreter
from triton.tools.tensor_descriptor import TensorDescriptor

REGION = 1 << 13  # bytes per tensor; pointers start in the middle
REGIONS = 20
SECONDS = 15  # per kernel, on a busy machine
OUTSIDE = ("tab>", "scr>")  # memory that no parameter addresses
HIGH_BIT = 1 << 40  # keeps the flags a 64-bit integer


@dataclass(frozen=True)
class Job:
    """One kernel: its name, its parameters with their kinds, and a seed for flags and data."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    seed: int
    runs: int


class _DType:
    """As much of a torch dtype as Triton looks at."""

    def __init__(self, name: str, size: int) -> None:
        self._name, self.itemsize = name, size

    def __str__(self) -> str:
        return f"torch.{self._name}"


class _Tensor:
    """Memory at an address, as Triton sees tensors."""

    shape = (64,)

    def __init__(self, address: int, dtype: _DType) -> None:
        self._address, self.dtype = address, dtype

    def data_ptr(self) -> int:
        return self._address

    @staticmethod
    def stride() -> tuple[int]:
        return (1,)


_INT32, _INT64 = _DType("int32", 4), _DType("int64", 8)


class Arena:
    """Memory for all tensors of a launch, and which of them were stored to."""

    def __init__(self) -> None:
        raw = np.zeros(REGIONS * REGION + 16, np.uint8)
        self._shift = -raw.ctypes.data % 16
        self.bytes = raw[self._shift :][: REGIONS * REGION]
        self.base = int(self.bytes.ctypes.data)
        self.written: set[int] = set()

    def address(self, region: int) -> int:
        return self.base + region * REGION + REGION // 2

    def check(self, addresses: Any, mask: Any, size: int) -> Any:
        """The regions that are accessed; raises IndexError for an address outside of all."""
        taken = np.asarray(addresses, np.int64).reshape(-1)
        if mask is not None:
            taken = taken[np.broadcast_to(np.asarray(mask, bool), np.shape(addresses)).reshape(-1)]
        offsets = taken - self.base
        if ((offsets < 0) | (offsets + size > REGIONS * REGION)).any():
            raise IndexError("an access outside of every tensor")
        return np.unique(offsets // REGION)

    def note(self, addresses: Any, mask: Any, size: int) -> None:
        self.written.update(int(r) for r in self.check(addresses, mask, size))


def _install(arena: Arena) -> None:
    """Watch the interpreter's accesses, and leave out what it does per launch that needs torch or takes long."""
    interpreter.interpreter_builder.options = replace(interpreter.interpreter_builder.options, sanitize_overflow=False)
    native = interpreter._interpreter  # there is no other place that sees every access
    load, store, rmw, cas = native.load, native.store, native.atomic_rmw, native.atomic_cas

    def watched_load(pointers: Any, mask: Any, other: Any, dtype: Any) -> Any:
        arena.check(pointers, mask, np.dtype(dtype).itemsize)
        return load(pointers, mask, other, dtype)

    def watched_store(pointers: Any, value: Any, mask: Any) -> Any:
        arena.note(pointers, mask, value.dtype.itemsize)
        return store(pointers, value, mask)

    def watched_rmw(op: Any, pointers: Any, value: Any, mask: Any, sem: Any) -> Any:
        arena.note(pointers, mask, value.dtype.itemsize)
        return rmw(op, pointers, value, mask, sem)

    def watched_cas(pointers: Any, compare: Any, value: Any, sem: Any) -> Any:
        arena.note(pointers, None, value.dtype.itemsize)
        return cas(pointers, compare, value, sem)

    native.load, native.store, native.atomic_rmw, native.atomic_cas = (
        watched_load, watched_store, watched_rmw, watched_cas)  # fmt: skip

    def reduce(self: Any, kind: Any, descriptor: Any, value: Any, indices: Any) -> None:
        """The interpreter has no `desc.atomic_*`: what it does to the values does not matter here."""
        pointers, mask = descriptor.materialize_pointers(indices)
        watched_store(pointers.data, value.data, mask.data)

    interpreter.InterpreterBuilder.create_descriptor_reduce = reduce
    executor = interpreter.GridExecutor
    executor._init_args_hst = lambda self, args, kwargs: (args, kwargs)
    executor._restore_args_dev = lambda self, *args: None
    _patch_once()


def _patch_once() -> None:
    """The interpreter patches the language at every call, which takes longer than the kernels."""
    patch = interpreter._patch_lang
    patched: set[int] = set()

    class _Kept:
        def restore(self) -> None:
            """The patches stay: nothing else runs in this process."""

    def once(function: Any) -> _Kept:
        if id(function.__globals__) not in patched:
            patched.add(id(function.__globals__))
            patch(function)
        return _Kept()

    interpreter._patch_lang = once
    tl.map_elementwise = _map_elementwise
    tl.inline_asm_elementwise = _inline_asm


def _inline_asm(text: str, constraints: str, args: list[Any], dtype: Any, is_pure: bool, pack: int) -> Any:
    """The few instructions of `fuzz/rows.py`, by what they do."""
    if text.startswith("ld."):
        return tl.load(args[0].to(tl.pointer_type(dtype)))
    if text.startswith("st."):
        tl.store(args[0].to(tl.pointer_type(tl.int32)), args[1])
        return None
    if text.startswith("atom."):
        return tl.atomic_add(args[0].to(tl.pointer_type(tl.int32)), args[1])
    if text.startswith("add."):
        return args[0] + 16
    if "selp" in text:
        return tl.where(args[2] > 1, args[0], args[1])
    return args[1] if "$2" in text else args[0]


def _map_elementwise(function: Callable[..., Any], *tensors: Any, pack: int = 1) -> Any:
    """`tl.map_elementwise`, which the interpreter lacks, for functions with one result."""
    blocks = [t.handle.data for t in tensors]
    results = []
    for index in np.ndindex(blocks[0].shape):
        scalars = [
            tl.tensor(interpreter.TensorHandle(np.array([b[index]]), t.handle.dtype), t.dtype)
            for b, t in zip(blocks, tensors, strict=True)
        ]
        results.append(function.fn(*scalars).handle.data[0])  # type: ignore[attr-defined]
    first = tensors[0]
    data = np.array(results, dtype=blocks[0].dtype).reshape(blocks[0].shape)
    return tl.tensor(interpreter.TensorHandle(data, first.handle.dtype), first.type)


class Runner:
    """Runs the kernels of one module in one arena."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self._arena = Arena()
        _install(self._arena)

    def run(self, job: Job) -> dict[str, Any]:
        """What `Job.runs` launches, or one per choice of constexprs if those are more, wrote, by name."""
        names: set[str] = set()
        self._arena.bytes[:] = np.frombuffer(random.Random(job.seed).randbytes(REGIONS * REGION), np.uint8)  # noqa: S311
        signal.alarm(SECONDS)
        try:
            for number, constants in enumerate(self._launches(job)):
                names |= self._launch(job, random.Random(job.seed * 1000 + number), constants)  # noqa: S311
        except Exception as error:  # whatever the interpreter cannot do is a result
            return {"kernel": job.name, "error": f"{type(error).__name__}: {error}"[:300]}
        finally:
            signal.alarm(0)
        return {"kernel": job.name, "written": sorted(names)}

    @staticmethod
    def _launches(job: Job) -> Iterator[dict[str, int]]:
        names = [name for name, kind in job.parameters if kind in "KO"]
        choices = list(product((1, 0), repeat=len(names)))
        for number in range(max(job.runs, len(choices))):
            yield dict(zip(names, choices[number % len(choices)], strict=True))

    def _launch(self, job: Job, rng: random.Random, constants: dict[str, int]) -> set[str]:
        arena = self._arena
        arena.written.clear()
        regions = [name for n, kind in job.parameters if kind != "K"
                   for name in ((f"{n}.0", f"{n}.1") if kind == "x" else (n,))]  # fmt: skip
        regions += [*OUTSIDE, "cond"]
        self._fill("cond", regions, np.array([rng.randrange(4) for _ in range(256)], np.int32))
        if "lens" in regions:
            self._fill("lens", regions, np.array([16 * rng.randrange(3) for _ in range(8)], np.int64))
        for table in ("tab", "scr"):
            if table in regions:
                target = arena.address(regions.index(f"{table}>"))
                self._fill(table, regions, np.full(8, target, np.int64))
        absent = {n for n, k in job.parameters if k == "O" and not constants.pop(n)}
        arguments = {n: None if n in absent else self._argument(n, k, regions) for n, k in job.parameters if k != "K"}
        arguments |= {"cond": self._argument("cond", "p", regions), "fl": rng.getrandbits(40) | HIGH_BIT,
                      "n": rng.randrange(4), "m": rng.randrange(4)}  # fmt: skip
        before = arena.bytes.copy()
        getattr(self._module, job.name)[(1 + job.seed % 2,)](**arguments, **constants)
        changed = {int(i) for i in np.unique(np.nonzero(arena.bytes != before)[0] // REGION)}
        assert changed <= arena.written, "memory changed by an access that was not seen"
        return {regions[i] for i in arena.written}

    def _fill(self, name: str, regions: list[str], values: Any) -> None:
        start = regions.index(name) * REGION + REGION // 2
        self._arena.bytes[start : start + values.nbytes] = values.view(np.uint8)

    def _argument(self, name: str, kind: str, regions: list[str]) -> Any:
        if kind == "x":
            return tuple(self._argument(f"{name}.{i}", "p", regions) for i in range(2))
        dtype = _INT64 if kind in "STL" else _INT32
        tensor = _Tensor(self._arena.address(regions.index(name)), dtype)
        return TensorDescriptor(tensor, [64], [1], [16]) if kind == "d" else tensor


def _out_of_time(*_: object) -> None:
    raise TimeoutError(f"more than {SECONDS} s")


def main() -> None:
    signal.signal(signal.SIGALRM, _out_of_time)
    path, plan = sys.argv[1:]
    spec = importlib.util.spec_from_file_location("fuzzed", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["fuzzed"] = module
    spec.loader.exec_module(module)
    if hasattr(module, "Pair"):  # interpreted aggregates lose the methods that are jit functions
        module.Pair.turned = lambda pair: module.Pair(pair.back, pair.front)
    np.seterr(all="ignore")
    runner = Runner(module)
    for job in json.loads(Path(plan).read_text(encoding="utf-8")):
        result = runner.run(Job(job["name"], tuple(map(tuple, job["parameters"])), job["seed"], job["runs"]))
        sys.stdout.write(json.dumps(result) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
