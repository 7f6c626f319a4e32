"""Everything known about the parameters of one kernel, gathered once."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

from triton_mutlint.kernel_source.helpers import Helper, Program
from triton_mutlint.kernel_source.learned import marks
from triton_mutlint.kernel_source.learned.learned_calls import cast_to_pointer
from triton_mutlint.kernel_source.learned.learned_walk import LearningBody
from triton_mutlint.kernel_source.learned.learning import Learning
from triton_mutlint.kernel_source.slots import Slot, Trace
from triton_mutlint.kernel_source.values import MayBe
from triton_mutlint.kernel_source.walk import Walk
from triton_mutlint.signature.launch_sites import Passed, passed
from triton_mutlint.source.walking import walk
from triton_mutlint.types import ArgType, Kernel, Parameter

SIZES = (64, 32, 16, 128, 256, 8, 4, 2, 1, 0, 3, 512, 1024, 2048, 4096)  # guesses, the likeliest first


@dataclass(frozen=True)
class Inferred:
    """The guesses for one parameter that no spec gives, and the evidence for them.

    Every one of `alternatives` becomes a variant (`False` and `True`; a pointer and `None`); the
    first is the main guess. `reason` is one phrase for a person: "loaded from at line 12". `is_partial` says
    that the source takes a value that is not among them (None, say), because the writes are the same with it today.
    """

    alternatives: tuple[ArgType, ...]
    reason: str
    is_partial: bool = False

    @property
    def main(self) -> ArgType:
        return self.alternatives[0]


@dataclass(frozen=True, eq=False)
class Dossier:
    """The evidence on one parameter: as written, from its uses, and from launches."""

    parameter: Parameter
    slot: Slot
    launches: tuple[Passed, ...]
    namespace: Mapping[str, Any]
    pointers: bool  # the body makes pointers of numbers

    def passed(self, *types: type) -> Passed | None:
        """The first thing of one of `types` that a launch passes."""
        return next((p for p in self.launches if p.type in types), None)


@dataclass(frozen=True, eq=False)
class Evidence:
    """The evidence on each parameter, and on the kernel as a whole."""

    program: Program
    dossiers: Mapping[str, Dossier]
    learnt: Learning
    read: Sequence[tuple[Any, str]]  # names outside of functions: where they stand

    @cached_property
    def walk(self) -> Walk:
        """The walk over the kernel's source, which remembers what helpers do."""
        return Walk(self.program)


_CACHE: WeakKeyDictionary[Kernel, Evidence] = WeakKeyDictionary()


def gather(kernel: Kernel, helpers: Mapping[str, Kernel]) -> Evidence:
    """The evidence on every parameter of `kernel`; kept for as long as the kernel is."""
    found = _CACHE.get(kernel)
    if found is None:
        found = _CACHE[kernel] = _gather(kernel, _program_of(kernel, helpers))
    return found


def _program_of(kernel: Kernel, helpers: Mapping[str, Kernel]) -> Program:
    """The functions that a kernel may call; `helpers` are for names that its namespace does not hold."""
    functions = {name: Helper(h.node, h.namespace) for name, h in helpers.items()}
    if not kernel.namespace:
        for node in walk(kernel.tree):
            if isinstance(node, ast.FunctionDef) and node is not kernel.node:
                functions.setdefault(node.name, Helper(node, kernel.namespace))
    return Program(functions)


def _gather(kernel: Kernel, program: Program) -> Evidence:
    """Walk the body of `kernel`, of whose parameters nothing is known, and read its launches."""
    slots = {p.name: Slot(p.name, constexpr=p.is_constexpr) for p in kernel.parameters}
    learnt = Learning()
    walk = Walk(program, observer=learnt, body=LearningBody)
    walk.of(Helper.of(kernel), {
        name: MayBe(frozenset((name,)), is_open=True, trace=Trace(frozenset((slot,)))) for name, slot in slots.items()})
    everything = list(_with_children(slots.values()))
    marks.spread(everything)
    for slot in everything:
        for (source, bitcast), line in (slot.modelled if slot.pointer else {}).items():
            cast_to_pointer(source, line, bitcast)
            learnt.pointers = True
            learnt.loaded = learnt.loaded or (line if source.memory else 0)
    marks.settle(everything)
    launches = passed(kernel)
    dossiers = {p.name: Dossier(p, slots[p.name], launches.get(p.name, ()), kernel.namespace, learnt.pointers)
                for p in kernel.parameters}
    return Evidence(program, dossiers, learnt, walk.outside.read)


def _with_children(slots: Iterable[Slot]) -> Iterator[Slot]:
    for slot in slots:
        yield slot
        yield from _with_children(slot.children.values())
