"""What the body of a kernel, and of the helpers it calls, tells about the kernel's parameters."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from triton_mutlint.kernel_source.evaluate import Scope
from triton_mutlint.kernel_source.helpers import Helper
from triton_mutlint.signature import marks
from triton_mutlint.signature.constraints import Constraint
from triton_mutlint.signature.facts import Slot, Value
from triton_mutlint.signature.summaries import Summaries, Summary, Watch, formal_slots
from triton_mutlint.signature.walker import Walker
from triton_mutlint.source.walking import walk
from triton_mutlint.types import Kernel


@dataclass(frozen=True, eq=False)
class Usage:
    """The facts about each parameter, and the constraints on the compile-time ones."""

    slots: Mapping[str, Slot]
    constraints: tuple[Constraint, ...]
    reaches: tuple[Constraint, ...] = ()
    typed: bool = False
    program: Summaries = field(default_factory=lambda: Summaries({}))
    pointers: bool = False  # a pointer is made of a number
    distances: bool = False  # a parameter is added to or subtracted from what was in memory


def usage(
    kernel: Kernel, helpers: Mapping[str, Kernel] | None = None, watch: Watch | None = None
) -> Usage:
    """Walk the body of `kernel`; `helpers` are for names that its namespace does not hold."""
    functions = {name: Helper(h.node, h.namespace) for name, h in (helpers or {}).items()}
    if not kernel.namespace:
        for node in walk(kernel.tree):
            if isinstance(node, ast.FunctionDef) and node is not kernel.node:
                functions.setdefault(node.name, Helper(node, kernel.namespace))
    program = Summaries(functions)
    program.watch = watch
    slots = formal_slots(kernel.node)
    for parameter in kernel.parameters:
        slots.setdefault(parameter.name, Slot(parameter.name)).constexpr |= parameter.is_constexpr
    summary = Summary(slots)
    walk_function(program, Helper.of(kernel), summary)
    for slot in summary.slots.values():
        if slot.models and slot.pointer:
            program.pointed(slot.models_loaded)
    return Usage(summary.slots, tuple(summary.constraints), tuple(summary.reaches), summary.typed,
                 program, program.pointers, program.distances)


def walk_function(program: Summaries, helper: Helper, summary: Summary) -> None:
    """Walk one body; fills `summary`."""
    local: dict[str, ast.expr | None] = {}
    summary.scope = Scope(helper.namespace, local)
    env = {name: Value(frozenset((slot,))) for name, slot in summary.slots.items()}
    env.update((name, Value(ref=ref)) for name, ref in summary.given.items())
    walker = Walker(program, summary.scope, env, local)
    walker.file = helper.file
    walker.block(helper.node.body)
    summary.returns = walker.returned
    summary.constraints, summary.reaches, summary.typed = walker.constraints, walker.reaches, walker.typed
    summary.effects = walker.effects > 0
    marks.spread(summary.slots.values())
    marks.settle(summary.slots.values())
