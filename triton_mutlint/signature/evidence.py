"""Everything known about the parameters of one kernel, gathered once."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from triton_mutlint.kernel_source.helpers import Helper, Program
from triton_mutlint.kernel_source.learned.constraints import Constraint
from triton_mutlint.kernel_source.learned.facts import facts
from triton_mutlint.kernel_source.slots import Slot
from triton_mutlint.signature.launching import launches
from triton_mutlint.signature.launching.launch_reader import Evidence
from triton_mutlint.source.walking import walk
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
    program: Program = field(default_factory=lambda: Program({}))
    pointers: bool = False  # it makes pointers of numbers
    distances: bool = False  # it adds parameters to what was in memory, or subtracts them
    indirect: int = 0  # the line at which a pointer is, or may be, made of what was put somewhere before


_CACHE: WeakKeyDictionary[Kernel, Evidences] = WeakKeyDictionary()


def gather(
    kernel: Kernel, helpers: Mapping[str, Kernel], trees: Sequence[ast.Module]
) -> Evidences:
    """The evidence on every parameter of `kernel`; kept for as long as the kernel is."""
    found = _CACHE.get(kernel)
    if found is None:
        found = _CACHE[kernel] = _gather(kernel, program_of(kernel, helpers), trees)
    return found


def program_of(kernel: Kernel, helpers: Mapping[str, Kernel]) -> Program:
    """The functions that a kernel may call; `helpers` are for names that its namespace does not hold."""
    functions = {name: Helper(h.node, h.namespace) for name, h in helpers.items()}
    if not kernel.namespace:
        for node in walk(kernel.tree):
            if isinstance(node, ast.FunctionDef) and node is not kernel.node:
                functions.setdefault(node.name, Helper(node, kernel.namespace))
    return Program(functions)


def _gather(kernel: Kernel, program: Program, trees: Sequence[ast.Module]) -> Evidences:
    found = facts(kernel, program)
    learnt = found.learnt
    places = (kernel.tree, *(t for t in trees if t is not kernel.tree))
    passed = launches.arguments(kernel.name, kernel.parameter_names, places, kernel.namespace)
    dossiers = {
        p.name: Dossier(p, found.slots[p.name], passed.get(p.name, ()), kernel.namespace, learnt.pointers)
        for p in kernel.parameters
    }
    return Evidences(dossiers, tuple(learnt.constraints), tuple(learnt.reaches), learnt.typed, program,
                     learnt.pointers, learnt.distances, learnt.indirect)
