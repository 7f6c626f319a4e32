"""Would Triton's own clean-ups sharpen the verdict? (docs/analysis.md, section 8)

Running the inliner, SCCP and the canonicaliser costs about as much as lowering a small kernel, and can
only change a verdict where a condition, both bounds of a loop, a mask or a factor are known at compile time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from triton_mutlint.analysis.contexts import ControlFlow
from triton_mutlint.analysis.printed import SAME_VALUE, Width, integer_constant, width_of
from triton_mutlint.ttir.ir import Function, Module, Op, Region
from triton_mutlint.ttir.ops import Flow, lookup

COMPUTED: Final = "computed"  # from constants alone, by an op whose value is not worked out here
Known = int | str | None  # an integer constant, COMPUTED, or None: not known at compile time

_CONDITIONS = {"scf.if": 0, "cf.cond_br": 0, "scf.condition": 0}
_MASKS = {"tt.store": 2, "tt.atomic_rmw": 2}
_ABSORBING = ("arith.muli", "arith.andi")  # with zero, whatever the other operand is
_DECIDING = frozenset((*_CONDITIONS, *_MASKS, *_ABSORBING, "arith.select", "scf.for"))
_MAX_CALLS = 8  # nested ones that are followed; what deeper ones return may be known
_OWN_WAY = frozenset((*_ABSORBING, "arith.constant", "tt.call"))  # of becoming known


def may_simplify(module: Module) -> bool:
    """Whether an op that decides what is written depends on constants alone."""
    scan = _Scan(module)
    return any(scan.decided(f) for f in module.functions.values())


class _Scan:
    """Follows constants in text order; what a call passes is known when its callee comes later."""

    def __init__(self, module: Module) -> None:
        self._functions = module.functions
        self._flow = ControlFlow()
        self._arguments: dict[str, set[int]] = {}
        self._returned: dict[str, tuple[Known, ...]] = {}  # by functions whose arguments are all known
        self._depth = 0

    def decided(self, function: Function) -> bool:
        known: list[Known] = [None] * len(function.types)
        for index in self._arguments.get(function.name, ()):
            known[index] = COMPUTED
        return self._region(function, function.body, known)

    def _region(self, function: Function, region: Region, known: list[Known]) -> bool:
        for index in self._flow.blocks(region):
            for op in region.blocks[index].ops:
                name = op.name
                if name in _DECIDING and _decides(function, op, known):
                    return True
                if op.regions and any(self._region(function, r, known) for r in op.regions):
                    return True
                if name in _OWN_WAY:
                    self._follow(op, known)
                elif op.operands and op.results and None not in [known[v] for v in op.operands]:
                    _fold(op, known)
        return False

    def _follow(self, op: Op, known: list[Known]) -> None:
        if op.name == "arith.constant":
            value = integer_constant(op)
            _mark(op, COMPUTED if value is None else value, known)
        elif op.name == "tt.call":
            self._call(op, op.attrs.get("callee", "").lstrip("@"), known)
        elif any(known[v] in (0, COMPUTED) for v in op.operands):  # an absorbing op
            _mark(op, COMPUTED, known)
        elif all(known[v] is not None for v in op.operands):
            _fold(op, known)

    def _call(self, op: Op, callee: str, known: list[Known]) -> None:
        passed = {i for i, v in enumerate(op.operands) if known[v] is not None}
        self._arguments.setdefault(callee, set()).update(passed)
        if len(passed) == len(op.operands):
            for result, value in zip(op.results, self._returns(callee), strict=False):
                known[result] = value

    def _returns(self, name: str) -> tuple[Known, ...]:
        """What a function returns whose arguments are all known: a program's index, say, is not known."""
        if name not in self._returned:
            self._returned[name] = ()  # what a recursion gets
            function = self._functions.get(name)
            if function is not None and function.body.blocks:
                self._returned[name] = self._evaluate(function)
        return self._returned[name]

    def _evaluate(self, function: Function) -> tuple[Known, ...]:
        known: list[Known] = [None] * len(function.types)
        known[: function.n_args] = [COMPUTED] * function.n_args
        self._depth += 1
        decided = self._depth > _MAX_CALLS or self._region(function, function.body, known)
        self._depth -= 1
        returned = zip(*[op.operands for op in self._flow.terminators(function.body)], strict=False)
        return tuple(COMPUTED if decided or any(known[v] is not None for v in values) else None for values in returned)


def _fold(op: Op, known: list[Known]) -> None:
    """An op whose operands are all known."""
    info = lookup(op.name)
    if info is not None and not info.touches_memory and info.flow is not Flow.SPECIAL:
        _mark(op, known[op.operands[0]] if op.name in SAME_VALUE else COMPUTED, known)


def _mark(op: Op, value: Known, known: list[Known]) -> None:
    for result in op.results:
        known[result] = value


def _decides(function: Function, op: Op, known: Sequence[Known]) -> bool:
    condition = _CONDITIONS.get(op.name)
    if condition is not None:
        return known[op.operands[condition]] is not None
    if op.name == "arith.select":
        return known[op.operands[0]] is not None and _carries(function, op)
    if op.name == "scf.for":
        lower, upper = known[op.operands[0]], known[op.operands[1]]
        return lower is not None and upper is not None and not _is_entered(lower, upper)
    mask = _MASKS.get(op.name)
    if mask is not None:
        return len(op.operands) > mask and known[op.operands[mask]] in (0, COMPUTED)
    if op.name in _ABSORBING:
        return any(known[v] in (0, COMPUTED) for v in op.operands) and _carries(function, op)
    return False


def _is_entered(lower: Known, upper: Known) -> bool:
    """Whether a loop certainly has a trip: nothing in it is dead then."""
    return isinstance(lower, int) and isinstance(upper, int) and lower < upper


def _carries(function: Function, op: Op) -> bool:
    """Whether a result can hold an address at all."""
    return any(width_of(function.types[r]) is Width.FULL for r in op.results)
