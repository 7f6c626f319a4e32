"""Everything known about the parameters of one kernel, gathered once."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from triton_mutlint.signature import launches
from triton_mutlint.signature.constraints import Constraint
from triton_mutlint.signature.facts import Slot
from triton_mutlint.signature.launch_reader import Evidence
from triton_mutlint.signature.summaries import Summaries
from triton_mutlint.signature.usage import usage
from triton_mutlint.types import Kernel, Parameter


@dataclass(frozen=True, eq=False)
class Dossier:
    """The evidence on one parameter: as written, from its uses, and from launch sites."""

    parameter: Parameter
    slot: Slot
    launches: tuple[Evidence, ...]
    namespace: Mapping[str, Any]
    pointers: bool = False  # the body makes pointers of numbers

    def passed(self, *kinds: str) -> Evidence | None:
        """The first launch evidence of one of `kinds`."""
        return next((e for e in self.launches if e.kind in kinds), None)


@dataclass(frozen=True, eq=False)
class Evidences:
    dossiers: Mapping[str, Dossier]
    constraints: tuple[Constraint, ...] = field(default=())
    reaches: tuple[Constraint, ...] = ()
    typed: bool = False  # the body asks about dtypes
    program: Summaries = field(default_factory=lambda: Summaries({}))
    pointers: bool = False  # it makes pointers of numbers
    distances: bool = False  # it adds parameters to what was in memory, or subtracts them


_CACHE: WeakKeyDictionary[Kernel, Evidences] = WeakKeyDictionary()


def gather(
    kernel: Kernel, helpers: Mapping[str, Kernel], trees: Sequence[ast.Module]
) -> Evidences:
    """The evidence on every parameter of `kernel`; kept for as long as the kernel is."""
    found = _CACHE.get(kernel)
    if found is None:
        found = _CACHE[kernel] = _gather(kernel, helpers, trees)
    return found


def _gather(
    kernel: Kernel, helpers: Mapping[str, Kernel], trees: Sequence[ast.Module]
) -> Evidences:
    uses = usage(kernel, helpers)
    places = (kernel.tree, *(t for t in trees if t is not kernel.tree))
    passed = launches.arguments(kernel.name, kernel.parameter_names, places, kernel.namespace)
    dossiers = {
        p.name: Dossier(p, uses.slots.get(p.name) or Slot(p.name), passed.get(p.name, ()), kernel.namespace,
                        uses.pointers)
        for p in kernel.parameters
    }
    return Evidences(dossiers, uses.constraints, uses.reaches, uses.typed, uses.program, uses.pointers, uses.distances)
