"""What inline asm does to memory, read from its text.

The rule: every instruction must be placed. Stores, atomics and bulk copies are traced back, through the
registers the text moves values between, to the operands that address them. An instruction that nobody
knows is taken as arithmetic only where the instruction set shows memory accesses in the syntax (PTX
writes every address in brackets; GCN names them by prefix). Whatever cannot be placed or traced makes
the text *not understood*: its effects are then undecided, never guessed.

Tracing ignores order and predicates: a register may hold whatever any instruction puts there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from triton_mutlint.ttir.asm_gcn import decode_gcn
from triton_mutlint.ttir.asm_ptx import decode_ptx
from triton_mutlint.ttir.asm_steps import (
    OPERAND_MARK,
    SHARED,
    AsmAccess,
    AsmReading,
    AsmStep,
    AsmValue,
    NotUnderstoodError,
)

_DECODERS = {"cuda": decode_ptx, "hip": decode_gcn}
# How constraints name registers, and a target that has them.
_LETTERS = {"cuda": frozenset("rlfdhbqc"), "hip": frozenset("vsa")}
_TARGETS = {"cuda": "cuda:90", "hip": "hip:gfx942"}
_REFERENCE = re.compile(r"\$\$|\$\{(\d*)(?::[^}]*)?\}|\$(\d+)")
_EMPTY: frozenset[int] = frozenset()
_KINDS = ("reads", "writes", "atomics")


@dataclass(frozen=True)
class _Registers:
    """The registers that `$0`, `$1`, .. name, outputs first, and what each input holds."""

    outputs: int
    holders: tuple[frozenset[int], ...]  # per `$N`
    exact: bool  # whether every input is one operand


def read_asm(
    text: str, constraints: str, n_operands: int, backend: str, registers: Sequence[int] | None = None
) -> AsmReading:
    """Read the asm of one op with `n_operands` operands, for backend `cuda` or `hip`.

    `registers`: how many input registers each operand takes, where elements are packed; without it,
    packed asm that accesses memory through operands is not understood.
    """
    try:
        decode = _DECODERS.get(backend)
        if decode is None:
            raise NotUnderstoodError(f"no instruction set is known for backend {backend!r}")
        names = _registers(constraints, n_operands, registers)
        named = _REFERENCE.sub(_name_register, text)
        if "$" in named or OPERAND_MARK in text:
            raise NotUnderstoodError("a `$` that names no operand")
        steps = decode(named)
        return _trace(steps, names, n_operands)
    except NotUnderstoodError as error:
        return AsmReading(understood=False, reason=str(error), advice=_advice(constraints, backend))


def _advice(constraints: str, backend: str) -> str:
    """The target to analyse for, where the asm is one's that has another instruction set."""
    letters = {item.strip().lstrip("=&") for item in constraints.split(",") if item.strip()[:1] not in ("", "~")}
    letters = {letter for letter in letters if not letter.isdigit()}
    if backend not in _LETTERS or not letters or letters & _LETTERS[backend]:
        return ""
    others = (other for other, known in _LETTERS.items() if other != backend and letters <= known)
    return "".join(f"this is another target's asm: use `--target {_TARGETS[o]}`" for o in others)


def read_on_any(
    text: str, constraints: str, n_operands: int, registers: Sequence[int] | None = None
) -> list[AsmReading]:
    """What each target that understands the asm makes of it; empty if none does."""
    readings = (read_asm(text, constraints, n_operands, backend, registers) for backend in _DECODERS)
    return [reading for reading in readings if reading.understood]


def _name_register(match: re.Match[str]) -> str:
    number = match[1] or match[2]
    if number:
        return f" {OPERAND_MARK}{number} " if match[2] is None else f"{OPERAND_MARK}{number}"
    return "_dollar_"  # `$$`, or `${:uid}`: part of a label


def _registers(constraints: str, n_operands: int, per_operand: Sequence[int] | None) -> _Registers:
    """Outputs are numbered before inputs; a digit ties an input to an output."""
    items = [item.strip() for item in constraints.split(",") if item.strip()]
    outputs = [item for item in items if item[0] in "=+"]
    inputs = [item for item in items if item[0] not in "=+~"]
    if any("*" in item or item[0] == "+" for item in items):
        raise NotUnderstoodError("a constraint passes memory or both reads and writes")
    if [item for item in items if item[0] != "~"] != outputs + inputs:
        raise NotUnderstoodError("an output constraint stands behind an input")
    if per_operand is None or len(per_operand) != n_operands or sum(per_operand) != len(inputs):
        per_operand = [1] * n_operands
    exact = sum(per_operand) == len(inputs)
    if exact:
        owners = [frozenset((i,)) for i, count in enumerate(per_operand) for _ in range(count)]
    else:
        owners = [frozenset(range(n_operands))] * len(inputs)
    holders = [_EMPTY] * len(outputs)
    for item, owner in zip(inputs, owners, strict=False):
        if item.isdigit():
            if int(item) >= len(outputs):
                raise NotUnderstoodError("a constraint ties an input to no output")
            holders[int(item)] |= owner
    return _Registers(len(outputs), (*holders, *owners), exact)


def _trace(steps: Sequence[AsmStep], names: _Registers, n_operands: int) -> AsmReading:
    held: dict[str, frozenset[int]] = {
        f"{OPERAND_MARK}{number}": holder for number, holder in enumerate(names.holders)
    }
    for step in steps:
        for token in (*step.targets, *step.sources, *(step.reads or ()), *(step.writes or ()), *(step.atomics or ())):
            if token.startswith(OPERAND_MARK) and token not in held:
                raise NotUnderstoodError(f"the text uses ${token[1:]}, which the constraints do not give")
    held[SHARED] = frozenset((_found(len(steps)),))
    _spread(steps, held)
    origins = _Origins(steps, held)
    accesses = [AsmAccess(kind, _addressed(step, held, kind), origins.of(step.stored))
                for kind in _KINDS for step in steps if getattr(step, kind) is not None]
    if not names.exact and any(access.kind != "reads" for access in accesses):
        raise NotUnderstoodError("it writes memory, and packed registers hide which operand addresses it")
    assigned = {token for step in steps for token in step.targets}
    registers = [f"{OPERAND_MARK}{number}" for number in range(names.outputs)]
    # A result that is never set may share its register with any input.
    results = [origins.of((token,)) if token in assigned else AsmValue(frozenset(range(n_operands)))
               for token in registers]
    parked = origins.of((SHARED,)) if SHARED in assigned else AsmValue()
    return AsmReading(True, "", tuple(accesses), tuple(results), parked, any(step.shares for step in steps))


class _Origins:
    """What registers hold at the end, in terms of the op's operands."""

    def __init__(self, steps: Sequence[AsmStep], held: dict[str, frozenset[int]]) -> None:
        self._steps, self._held = steps, held

    def of(self, registers: Sequence[str]) -> AsmValue:
        held = self._holding(registers)
        outside = _found(len(self._steps))
        found = [i for i in held if outside < i < 0]
        words = self._behind(i for i in found if self._steps[_found(i)].narrow)
        loaded = self._behind(i for i in found if not self._steps[_found(i)].narrow)
        return AsmValue(frozenset(i for i in held if i >= 0), loaded, words, outside in held)

    def _behind(self, found: Iterable[int]) -> frozenset[int]:
        """The operands that lead, perhaps by way of other loads, to what some steps find."""
        operands, pending, seen = set[int](), list(found), set[int]()
        while pending:
            index = pending.pop()
            if index >= 0:
                operands.add(index)
            elif index not in seen and _found(index) < len(self._steps):
                seen.add(index)
                step = self._steps[_found(index)]
                pending += self._holding((*(step.reads or ()), *(step.atomics or ())))
        return frozenset(operands)

    def _holding(self, registers: Sequence[str]) -> frozenset[int]:
        return _EMPTY.union(*(self._held.get(token, _EMPTY) for token in registers))


def _found(index: int) -> int:
    """What step `index` finds in memory, among the operands that a register may hold; and the other way round."""
    return -1 - index


def _spread(steps: Sequence[AsmStep], held: dict[str, frozenset[int]]) -> None:
    """Copy what sources may hold to targets until nothing changes; sets only grow."""
    changed = True
    while changed:
        changed = False
        for index, step in enumerate(steps):
            moved: frozenset[int] = frozenset((_found(index),)) if step.loads else _EMPTY
            for token in step.sources:
                moved |= held.get(token, _EMPTY)
            for token in step.targets:
                before = held.get(token, _EMPTY)
                if not moved <= before:
                    held[token] = before | moved
                    changed = True


def _addressed(step: AsmStep, held: dict[str, frozenset[int]], kind: str) -> frozenset[int]:
    """The operands that an instruction's accesses of one kind go through."""
    tokens: tuple[str, ...] = getattr(step, kind)
    operands = _EMPTY.union(*(held.get(token, _EMPTY) for token in tokens))
    if kind != "reads":
        if any(i < 0 for i in operands):
            raise NotUnderstoodError(f"{step.text}: writes through an address that it loads")
        if not operands:
            raise NotUnderstoodError(f"{step.text}: writes through an address that no operand gives")
    return frozenset(i for i in operands if i >= 0)
