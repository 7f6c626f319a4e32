"""The real arguments of one run: tensors in fresh memory, descriptors on them, scalars and constexprs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy
import torch

from triton_mutlint.lowering.lower import flat_args
from triton_mutlint.types import EMPTY, ArgType, ConstexprValue, DescriptorType, PointerType, ScalarType, TupleType
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
_ADDRESSES = "addresses"  # what a spec calls them


@dataclass
class RunArguments:
    """Fresh arguments for one run of a job, in `memory`.

    Raises RefusedError for shapes and values that cannot be.
    """

    job: Job
    run: RunCase
    types: Mapping[str, ArgType]
    memory: RunMemory
    scalars: dict[str, Any] = field(default_factory=dict)
    regions: dict[str, Allocation] = field(default_factory=dict)  # by reported name

    def __post_init__(self) -> None:
        variant, leaves = self.job.variants[self.run.variant], flat_args(self.types)
        self._shapes, self._values = {**self.job.shapes, **variant.shapes}, {**self.job.values, **variant.values}
        for key, given in (("shapes", self._shapes), ("values", self._values)):
            if unknown := min(given.keys() - leaves.keys(), default=""):
                raise RefusedError(f"verify.{key}: the kernel has no parameter {unknown!r}; it has {', '.join(leaves)}")
        for name, kind in leaves.items():
            if isinstance(kind, PointerType | DescriptorType):
                self.regions[name] = self._filled(name, kind)
            elif isinstance(kind, ScalarType):
                self.scalars[name] = self._scalar(name, kind)

    def make(self, clones: Mapping[str, Allocation] = EMPTY) -> dict[str, Any]:
        """The arguments by parameter, those that have clones on these."""
        return {name: self._one(name, kind, {**self.regions, **clones}) for name, kind in self.types.items()}

    def _one(self, name: str, kind: ArgType, regions: Mapping[str, Allocation]) -> Any:
        if isinstance(kind, TupleType):
            return kind.holding([self._one(f"{name}.{label}", element, regions)
                                 for label, element in zip(kind.labels, kind.elements, strict=True)])
        if isinstance(kind, ConstexprValue):
            return kind.value
        if isinstance(kind, ScalarType):
            value = self.scalars[name]
            return value if self.memory.device != "cpu" else typed_scalar(value, kind.name)
        tensor = regions[name].tensor
        if isinstance(kind, DescriptorType):
            from triton.tools.tensor_descriptor import TensorDescriptor

            return TensorDescriptor.from_tensor(tensor.view(self._shape(name, kind)), list(kind.block_shape))
        if kind.element == "fp8e4b15":
            import triton

            return triton.reinterpret(tensor, triton.language.float8e4b15)
        return tensor

    def _filled(self, name: str, kind: PointerType | DescriptorType) -> Allocation:
        shape, run, given = self._shape(name, kind), self.run, self._values.get(name)
        count = prod(shape)
        size = count * element_bytes(kind.element)
        if size > self.job.settings.memory << 20:
            raise RefusedError(f"{name} of shape {list(shape)} has {size >> 20} MiB, "
                               f"and --memory is {self.job.settings.memory}")
        region = self.memory.add(name, kind.element, size)
        is_table = given == _ADDRESSES or (
            given is None and name in self.job.addresses and run.fill not in ("zeros", "extreme"))
        if is_table:
            region.fill(_addresses(self._behind(name, deep=bool(run.seed % 2)), count))
        elif given is not None:
            region.fill(given_values(kind.element, count, given, run.seed, name))
        else:
            is_index = kind.element[0] in "iu" and kind.element not in ("i1", "u1") and self.memory.device == "cuda"
            # Integers stay small there: as indices, large ones fault or hit another tensor.
            fill = "random" if is_index and run.fill in ("ramp", "extreme") else run.fill
            region.fill(filled(kind.element, count, fill, run.seed, name, DIMENSIONS[run.size]))
        return region

    def _shape(self, name: str, kind: PointerType | DescriptorType) -> tuple[int, ...]:
        given = self._shapes.get(name)
        if isinstance(kind, PointerType):
            return given if given is not None else (ELEMENTS[self.memory.device],)
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

    def _behind(self, name: str, *, deep: bool) -> Allocation:
        """What an address leads to; if that is `deep`, what lies there is addresses again."""
        region = self.memory.add(name, "i64", _LEADS_TO * 8, indirect=True)
        if deep:
            region.fill(_addresses(self._behind(name, deep=False), _LEADS_TO))
        else:
            region.fill(filled("fp32", _LEADS_TO * 2, self.run.fill, self.run.seed, name))
        return region

    def _scalar(self, name: str, kind: ScalarType) -> Any:
        given, seed = self._values.get(name), self.run.seed
        if isinstance(given, list):
            given = given[seed % len(given)] if given else None
        if given == _ADDRESSES or (given is None and name in self.job.addresses):
            return self._behind(name, deep=False).address
        if given is None:
            return scalar_value(kind, self.run.size, self.run.fill, seed)
        if isinstance(given, str) or not isinstance(given, (int, float)):
            raise RefusedError(f"verify.values: {name} is {kind}, and {given!r} is no value for it")
        is_float = kind.name.startswith(("fp", "bf"))
        if not is_float and not isinstance(given, int):
            raise RefusedError(f"verify.values: {name} is {kind}, and {given!r} is no integer")
        return float(given) if is_float else given


def _addresses(region: Allocation, count: int) -> torch.Tensor:
    """A table of addresses of memory that nothing else leads to."""
    places = region.size // _SPREAD
    return torch.from_numpy((region.address + numpy.arange(count) % places * _SPREAD).view(numpy.uint8))
