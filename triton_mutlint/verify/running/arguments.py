"""The real arguments of one run: tensors in fresh memory, descriptors on them, scalars and constexprs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy
import torch

from triton_mutlint.lowering.lower import flat_args
from triton_mutlint.types import ArgType, ConstexprValue, DescriptorType, PointerType, ScalarType, TupleType
from triton_mutlint.verify.running.memory import (
    DIMENSIONS,
    Allocation,
    RunMemory,
    element_bytes,
    filled,
    given_values,
    scalar_value,
)
from triton_mutlint.verify.running.runtime import typed_scalar
from triton_mutlint.verify.wire import Job, RefusedError, RunCase

ELEMENTS = {"cpu": 1 << 16, "cuda": 1 << 18}  # of a tensor whose size nobody gave
_LEADS_TO = 1 << 14  # elements of 8 bytes behind each address
_SPREAD = 1 << 10  # bytes between two addresses of a table


@dataclass
class RunArguments:
    """One run's arguments; `tree` says how to make them again on other memory."""

    memory: RunMemory
    types: Mapping[str, ArgType]
    scalars: dict[str, Any] = field(default_factory=dict)
    regions: dict[str, Allocation] = field(default_factory=dict)  # by reported name
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)  # of descriptors

    def make(self, raws: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The arguments by parameter, those named in `raws` on these clones of their bytes."""
        return {name: self._one(name, kind, raws or {}) for name, kind in self.types.items()}

    def _one(self, name: str, kind: ArgType, raws: Mapping[str, Any]) -> Any:
        if isinstance(kind, TupleType):
            return kind.holding([self._one(f"{name}.{label}", element, raws)
                                 for label, element in zip(kind.labels, kind.elements, strict=True)])
        if isinstance(kind, ConstexprValue):
            return kind.value
        if isinstance(kind, ScalarType):
            value = self.scalars[name]
            if self.memory.device != "cpu":
                return value
            return typed_scalar(value, kind.name)
        tensor = self.regions[name].tensor(raws.get(name))
        if isinstance(kind, DescriptorType):
            from triton.tools.tensor_descriptor import TensorDescriptor

            return TensorDescriptor.from_tensor(tensor.view(self.shapes[name]), list(kind.block_shape))
        if kind.element == "fp8e4b15":
            import triton

            return triton.reinterpret(tensor, triton.language.float8e4b15)
        return tensor


def arguments(job: Job, run: RunCase, types: Mapping[str, ArgType], memory: RunMemory) -> RunArguments:
    """Fresh arguments for one run, in `memory`. Raises `RefusedError` for shapes and values that cannot be."""
    made = RunArguments(memory, types)
    variant = job.variants[run.variant]
    job = replace(job, shapes={**job.shapes, **variant.shapes}, values={**job.values, **variant.values})
    leaves = flat_args(types)
    for key, given in (("shapes", job.shapes), ("values", job.values)):
        if unknown := min(given.keys() - leaves.keys(), default=""):
            raise RefusedError(f"verify.{key}: the kernel has no parameter {unknown!r}; it has {', '.join(leaves)}")
    for name, kind in leaves.items():
        if isinstance(kind, PointerType | DescriptorType):
            _memory(made, job, run, name, kind)
        elif isinstance(kind, ScalarType):
            _scalar(made, job, run, name, kind)
    return made


def _memory(made: RunArguments, job: Job, run: RunCase, name: str, kind: PointerType | DescriptorType) -> None:
    shape = _shape(job, name, kind)
    count = prod(shape)
    size = element_bytes(kind.element)
    if count * size > job.settings.memory << 20:
        raise RefusedError(f"{name} of shape {list(shape)} has {count * size >> 20} MiB, "
                           f"and --memory is {job.settings.memory}")
    region = made.memory.add(name, kind.element, count * size)
    made.regions[name], made.shapes[name] = region, shape
    given = job.values.get(name)
    if given is not None and given != "addresses":
        region.fill(given_values(kind.element, count, given, run.seed, name))
    elif given == "addresses" or (name in job.addresses and run.fill not in ("zeros", "extreme")):
        region.fill(_addresses(_behind(made.memory, name, run, deep=bool(run.seed % 2)), count))
    else:
        is_integer = kind.element[0] in "iu" and kind.element not in ("i1", "u1")
        fill = run.fill
        if job.settings.device == "cuda" and is_integer and fill in ("ramp", "extreme"):
            fill = "random"  # integers stay small: as indices, large ones fault or hit another tensor
        region.fill(filled(kind.element, count, fill, run.seed, name, DIMENSIONS[run.size]))


def _shape(job: Job, name: str, kind: PointerType | DescriptorType) -> tuple[int, ...]:
    given = job.shapes.get(name)
    if isinstance(kind, PointerType):
        return given if given is not None else (ELEMENTS[job.settings.device],)
    size = element_bytes(kind.element)
    if given is None:
        *outer, inner = (2 * extent for extent in kind.block_shape)
        given = (*outer, -(-inner * size // 16) * 16 // size)
    if len(given) != len(kind.block_shape):
        raise RefusedError(f"verify.shapes: {name} is a descriptor of rank {len(kind.block_shape)}, "
                           f"and the shape {list(given)} has rank {len(given)}")
    if given[-1] * size % 16:
        raise RefusedError(f"verify.shapes: a row of {name} has {given[-1] * size} bytes; "
                           "Triton's descriptors need a multiple of 16")
    return given


def _addresses(region: Allocation, count: int) -> torch.Tensor:
    """A table of addresses of memory that nothing else leads to."""
    places = region.size // _SPREAD
    return torch.from_numpy((region.address + numpy.arange(count) % places * _SPREAD).view(numpy.uint8))


def _behind(memory: RunMemory, name: str, run: RunCase, *, deep: bool) -> Allocation:
    """What an address leads to; if that is `deep`, what lies there is addresses again."""
    region = memory.add(name, "i64", _LEADS_TO * 8, indirect=True)
    if deep:
        region.fill(_addresses(_behind(memory, name, run, deep=False), _LEADS_TO))
    else:
        region.fill(filled("fp32", _LEADS_TO * 2, run.fill, run.seed, name))
    return region


def _scalar(made: RunArguments, job: Job, run: RunCase, name: str, kind: ScalarType) -> None:
    given = job.values.get(name)
    if isinstance(given, list):
        given = given[run.seed % len(given)] if given else None
    if given == "addresses" or (given is None and name in job.addresses):
        made.scalars[name] = _behind(made.memory, name, run, deep=False).address
        return
    if given is None:
        made.scalars[name] = scalar_value(kind, run.size, run.fill, run.seed)
        return
    if isinstance(given, str) or not isinstance(given, (int, float)):
        raise RefusedError(f"verify.values: {name} is {kind}, and {given!r} is no value for it")
    is_float = kind.name.startswith(("fp", "bf"))
    if not is_float and not isinstance(given, int):
        raise RefusedError(f"verify.values: {name} is {kind}, and {given!r} is no integer")
    made.scalars[name] = float(given) if is_float else given
