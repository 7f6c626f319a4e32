"""The calls of an op that are tried, as texts, and the arguments that such texts stand for.

A tensor is written as a kernel's pointer with its sizes, `*fp32[6, 10]`, and its strides where it is not contiguous,
`*fp32[6, 10; 1, 6]`; several in a list as `(*fp32[6], *fp32[6])`. Everything else is a Python literal or a name of
torch's (`float16`, `cpu`).
"""

from __future__ import annotations

import ast
import itertools
import random
import re
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from triton_mutlint.kernel_source.dtypes import canonical_dtype
from triton_mutlint.verify.running.memory import DIMENSIONS, RunMemory, element_bytes, filled, given_values, torch_dtype
from triton_mutlint.verify.wire import Case, OpJob, Words

_TENSOR = re.compile(r"\*(\w+)\[([\d, ]*)(?:; ([\d, ]*))?\]")
_SIZES = ((33,), (9, 17), (16, 16), (8,), (2, 4), (9, 11, 8), (2, 8, 16, 16), (2, 8, 9, 16))
_INTEGRAL = re.compile(r"ind(ex|ices)|(^|_)ids?$|label|target|offsets|cu_|length|lens?$|slot|table|position")
_COUNTS = re.compile(r"^n(_?\w+)?$|num|size|numel|count|length")
_COMBINED = 1000  # calls with several changes
_LARGEST = 4096  # of a size that a comparison in the code suggests
_SPOKEN = ("bool", "float", "int", "number", "str", "SymInt")  # a default of another kind is no literal
_PLAIN: Mapping[str, tuple[str, ...]] = {
    "bool": ("False", "True"), "float": ("0.5", "1.0", "0.0", "-2.0"), "str": ("''",), "Device": ("cpu",),
    "number": ("0.5", "2"), "Layout": ("strided",), "MemoryFormat": ("contiguous_format",),
}  # fmt: skip


@dataclass(frozen=True)
class OpParameter:
    """One argument in the schema: `kind` is its type without `Optional` and list."""

    name: str
    kind: str
    is_optional: bool
    is_list: bool
    default: str | None

    @property
    def is_tensor(self) -> bool:
        return self.kind == "Tensor"


@dataclass(frozen=True)
class CallableOp:
    """An op that can be called.

    `call` and `program` take arguments by name; programs around the op call the latter. `schema` is None, and
    `gradients` name what `backward` is given, where it is an autograd function.
    """

    call: Any
    program: Any
    takes: list[OpParameter]
    schema: Any
    gradients: tuple[str, ...] | None = None


def parameters(schema: Any) -> list[OpParameter]:
    """The arguments of an op's schema."""
    found = []
    for argument in schema.arguments:
        *around, kind = str(argument.real_type).rstrip("]").split("[")  # such as `Optional[List[int]]`
        default = repr(argument.default_value) if argument.has_default_value() else None
        found.append(OpParameter(argument.name, kind, "Optional" in around[:1], "List" in around, default))
    return found


# --------------------------------------------------------------------------- which calls are tried


def cases(job: OpJob, takes: Sequence[OpParameter]) -> Generator[Case, bool | None]:
    """The calls to try, one after the other; it is sent whether the op took the last one.

    First those that are given or, without any, the same call on tensors of several shapes and types, until the op
    takes some, or at random; then these with one argument changed at a time, and at last with several at random.
    """
    bases: list[Case] = []
    source = random.Random(job.name)  # noqa: S311 - the same calls every time
    for case in job.given or itertools.chain(_plain_calls(takes, job.words), _any_calls(takes, job.words, source)):
        bases += [case] * bool((yield case))
        if not job.given and len(bases) == 3:
            break
    useful: list[tuple[Case, Case]] = []
    for base, change in _in_turns(bases, takes, job.words):
        useful += [(base, change)] * bool((yield {**base, **change}))
    for _ in range(_COMBINED if len(useful) > 1 else 0):
        base, change = source.choice(useful)
        others = [c for b, c in source.sample(useful, min(3, len(useful))) if b == base]
        yield {**base, **{n: t for other in others for n, t in other.items()}, **change}


def _in_turns(bases: Sequence[Case], takes: Sequence[OpParameter], words: Words) -> Iterator[tuple[Case, Case]]:
    """Every change of every call: flags and compared values first, then one of each kind of each call in turn."""
    known: set[frozenset[tuple[str, str]]] = set()
    count: Counter[tuple[int, int]] = Counter()
    listed = []
    for number, base in enumerate(bases):
        for turn, change in _changes(base, takes, words):
            again = frozenset(change.items()) in known  # of another call
            known.add(frozenset(change.items()))
            count[number, turn] += 1
            listed.append(((again, turn > 0, count[number, turn], turn), base, change))
    yield from ((base, change) for _, base, change in sorted(listed, key=lambda one: one[0]))


def _plain_calls(takes: Sequence[OpParameter], words: Words) -> Iterator[Case]:
    """The same call on tensors of each shape; of types by name, then all of one type; a matrix with vectors."""
    for element in ("", "fp32", "i64", "bf16", "i32"):
        for sizes in _SIZES if element in ("", "fp32") else _SIZES[:3]:
            for later in dict.fromkeys((sizes, sizes[-1:] if sum(p.is_tensor for p in takes) > 1 else sizes)):
                yield _call(takes, words, sizes, later, element)


def _any_calls(takes: Sequence[OpParameter], words: Words, source: random.Random) -> Iterator[Case]:
    """Calls at random, without end: each tensor has its own type and rank, but all sizes are among few."""
    dtypes = [*map(_element, words.dtypes), "fp32", "fp32", "bf16", "i8", "i32", "i64", "fp8e4nv", ""]
    while True:
        few = source.choice(((128, 128, 128), (16, 32, 64), (2, 128, 256), (1, 8, 16)))
        common = source.choice(dtypes)
        case: dict[str, str] = {}
        for p in takes:
            rank = source.choice((1, 1, 2, 2, 2, 3, 3, 4))
            sizes = [source.choice(few) for _ in range(rank)] if rank < 4 else [2, few[0], 4, few[-1]]
            own = _call([p], words, sizes, sizes, source.choice((common, common, source.choice(dtypes))))
            if p.is_tensor and source.random() < 0.2:
                own = {n: _strided(text) for n, text in own.items()}
            elif not p.is_tensor and source.random() < 0.5:
                own = {p.name: source.choice(_choices(p, words, sizes))}
            case.update(own)
        yield case


def _call(takes: Sequence[OpParameter], words: Words, first: Sequence[int], later: Sequence[int], element: str) -> Case:
    found: dict[str, str] = {}
    sizes = first
    for p in takes:
        if p.is_tensor:
            kind = element or ("i64" if _INTEGRAL.search(p.name.lower()) else "fp32")
            one = tensor_text(kind, sizes)
            found[p.name] = f"({one}, {one})" if p.is_list else one
            sizes = later
        elif p.default is None:
            found[p.name] = _choices(p, words, first)[0]
        elif p.kind in _SPOKEN:
            found[p.name] = p.default
    return found


def _choices(p: OpParameter, words: Words, sizes: Sequence[int]) -> list[str]:
    """Values for an argument that is no tensor, the most ordinary first."""
    if p.kind in ("int", "SymInt"):
        count = str(prod(sizes))
        ordinary = [count, str(sizes[-1])] if _COUNTS.search(p.name) else ["1", count, str(sizes[-1])]
        near = [str(int(n) + d) for n in words.numbers for d in (0, 1, -1)]
        found = [*ordinary, *near, "0", "2", "-1"]
    elif p.kind in ("ScalarType", "dtype"):
        found = [*words.dtypes, "float32", "float16", "int8", "float8_e4m3fn"]
    elif p.kind == "str":
        found = [*map(repr, words.texts), *_PLAIN["str"]]
    else:
        found = [*_PLAIN.get(p.kind, ("None",)), *(str(float(n)) for n in words.numbers if p.kind == "float")]
    if p.is_list:
        whole = [f"{tuple(sizes)}", f"{(*[1] * (len(sizes) - 1), sizes[-1])}"] if p.kind in ("int", "SymInt") else []
        found = [*whole, *(f"({', '.join([v] * 2)},)" for v in found)]
    return list(dict.fromkeys([*found, *(("None",) if p.is_optional else ())]))


def _changes(base: Case, takes: Sequence[OpParameter], words: Words) -> Iterator[tuple[int, Case]]:
    """What may be changed in a call, with the turn it is tried in: flags and None, sizes, layout, values, types."""
    tensors = [p.name for p in takes if p.is_tensor and base.get(p.name, "None") != "None"]
    sizes = next((m[2] for n in tensors if (m := _TENSOR.search(base[n]))), "1")
    first = [int(size) for size in sizes.split(",") if size.strip()] or [1]
    compared = {str(int(n) + d) for n in words.numbers for d in (0, 1, -1)}
    for p in takes:
        if p.is_tensor and p.is_optional:
            yield 0, {p.name: "None" if p.name in tensors else _call([p], words, first, first, "")[p.name]}
        elif not p.is_tensor:
            few = p.kind in ("bool", "str") or p.is_optional
            yield from ((0 if few or text in compared else 2, {p.name: text}) for text in _choices(p, words, first)
                        if text != base.get(p.name))
    numbers = {int(n) + d for n in words.numbers for d in (0, 1) if 0 < n < _LARGEST}
    for size in (*sorted(numbers), 1, 0):
        for place in range(len(first)):
            yield 1, {n: _resized(base[n], first[place], size) for n in tensors}
    for change in (_strided, *(lambda t, d=d: _retyped(t, d) for d in (*words.dtypes, "fp16", "fp64"))):
        yield 1 + (change is not _strided) * 2, {n: change(base[n]) for n in tensors}
        yield from ((3, {n: change(base[n])}) for n in tensors if len(tensors) > 1)


def tensor_text(element: str, sizes: Sequence[int], strides: Sequence[int] = ()) -> str:
    """A tensor as a text."""
    shown = ", ".join(map(str, sizes)) + ("; " + ", ".join(map(str, strides)) if strides else "")
    return f"*{element}[{shown}]"


def _resized(text: str, old: int, new: int) -> str:
    return _TENSOR.sub(lambda m: tensor_text(m[1], [new if n == old else n for n in _integers(m[2])]), text)


def _strided(text: str) -> str:
    """Not contiguous: transposed, or every other element."""
    def strided(match: re.Match[str]) -> str:
        sizes = _integers(match[2])
        steps = [2 * prod(sizes[i + 1:]) for i in range(len(sizes))]
        if len(sizes) > 1:
            steps[-2:] = [1, sizes[-2]]
            steps[:-2] = [prod(sizes[i + 1:]) for i in range(len(sizes) - 2)]
        return tensor_text(match[1], sizes, steps)

    return _TENSOR.sub(strided, text)


def _retyped(text: str, dtype: str) -> str:
    return _TENSOR.sub(lambda m: m[0].replace(m[1], _element(dtype), 1) if m[1][0] in "fb" else m[0], text)


def _element(dtype: str) -> str:
    return canonical_dtype(dtype) or dtype


def _integers(text: str | None) -> list[int]:
    return [int(size) for size in (text or "").split(",") if size.strip()]


# --------------------------------------------------------------------------- what a text stands for


def made(case: Case, takes: Sequence[OpParameter], memory: RunMemory, values: Mapping[str, Any],
         fill: int) -> dict[str, Any]:
    """The arguments of a call on fresh memory. Between two `fill`s every element of a tensor differs."""
    return {p.name: one_value(case[p.name], p.name, memory, values.get(p.name), fill) for p in takes if p.name in case}


def tensors_in(value: Any) -> tuple[torch.Tensor, ...]:
    """The tensors of a value, in containers as well."""
    return tuple(leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor))


def one_value(text: str, name: str, memory: RunMemory, given: Any, fill: int) -> Any:
    if text.startswith("(") and "*" in text:
        return [_tensor(m, f"{name}[{i}]", memory, given, fill) for i, m in enumerate(_TENSOR.finditer(text))]
    if match := _TENSOR.fullmatch(text):
        return _tensor(match, name, memory, given, fill)
    try:
        value = ast.literal_eval({"true": "True", "false": "False", "null": "None"}.get(text, text))
        return list(value) if isinstance(value, tuple) else value
    except (ValueError, SyntaxError):
        named = getattr(torch, text.removeprefix("torch."), None)
        return named if named is not None else torch.device(memory.device) if text == "cpu" else text


def _tensor(match: re.Match[str], name: str, memory: RunMemory, given: Any, fill: int) -> torch.Tensor:
    element, sizes = match[1], _integers(match[2])
    strides = _integers(match[3]) if match[3] is not None else [prod(sizes[i + 1:]) for i in range(len(sizes))]
    extent = 1 + sum((size - 1) * step for size, step in zip(sizes, strides, strict=True)) if prod(sizes) else 0
    region = memory.add(name, element, extent * element_bytes(element))
    if given is None:
        region.fill(_canary(element, extent, name, fill, max(sizes, default=1)))
    else:
        region.fill(given_values(element, extent, given, fill, name))
    return region.tensor.detach().as_strided(sizes, strides)


def _canary(element: str, extent: int, name: str, fill: int, size: int) -> torch.Tensor:
    """Random values; of small integers and flags, the second fill is the first one's plus one, so that all differ."""
    seed = fill if element[0] in "fb" else 0
    data = filled(element, extent, "random", seed, name, min(size, DIMENSIONS["small"]))
    dtype = torch_dtype(element)
    if dtype == torch.bool:
        data = data ^ fill
    elif element[0] in "iu" and fill:
        data = ((data.view(dtype) + fill) % min(8, max(size, 1))).view(torch.uint8)
    return data
