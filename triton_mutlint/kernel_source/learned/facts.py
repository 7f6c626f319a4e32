"""What a kernel's source tells about its parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from triton_mutlint.kernel_source.helpers import Helper, Program
from triton_mutlint.kernel_source.learned import marks
from triton_mutlint.kernel_source.learned.learned_calls import cast_to_pointer
from triton_mutlint.kernel_source.learned.learned_walk import LearningWalk
from triton_mutlint.kernel_source.learned.learning import Learning
from triton_mutlint.kernel_source.slots import Slot, Trace
from triton_mutlint.kernel_source.values import MayBe
from triton_mutlint.types import Kernel


@dataclass(frozen=True, eq=False)
class Facts:
    """What the source tells about each parameter, and about the kernel as a whole."""

    slots: Mapping[str, Slot]
    learnt: Learning


def facts(kernel: Kernel, program: Program) -> Facts:
    """Walk the body of `kernel`, of whose parameters nothing is known."""
    slots = {p.name: Slot(p.name, constexpr=p.is_constexpr) for p in kernel.parameters}
    learnt = Learning()
    walk = LearningWalk(program, learnt)
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
    return Facts(slots, learnt)


def _with_children(slots: Iterable[Slot]) -> Iterator[Slot]:
    for slot in slots:
        yield slot
        yield from _with_children(slot.children.values())
