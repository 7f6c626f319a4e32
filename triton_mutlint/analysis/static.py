"""Would Triton's own clean-ups sharpen the verdict? (docs/analysis.md, section 8)

Running the inliner, SCCP and the canonicaliser costs about as much as lowering a small kernel, and can
only change a verdict where a condition, both bounds of a loop, a mask or a factor are known at compile time.
"""

from __future__ import annotations

from collections.abc import Iterator

from triton_mutlint.analysis.printed import SAME_VALUE, Width, integer_constant, width_of
from triton_mutlint.ttir.ir import Function, Module, Op, walk
from triton_mutlint.ttir.ops import computes, mask_of_write

_COMPUTED = "computed"  # from constants alone
_Known = dict[int, "int | str"]  # the values that are known at compile time: an integer constant, or _COMPUTED
_CONDITIONS = ("scf.if", "cf.cond_br", "scf.condition", "arith.select")
_ABSORBING = ("arith.muli", "arith.andi")  # with zero, whatever the other operand is


def may_simplify(module: Module) -> bool:
    """Whether an op that decides what is written depends on constants alone.

    What a call gives that passes constants and nothing else is taken to, and so is what some call passes.
    """
    scan = _Scan(module)
    return any(_decides(function, op, known) for function in module.functions.values()
               for op, known in scan.followed(function))


class _Scan:
    """Follows constants in text order; what a call passes is known when its callee comes later."""

    def __init__(self, module: Module) -> None:
        self._functions = module.functions
        self._passed: dict[str, set[int]] = {}  # by function, the arguments that a call gives a constant
        self._constant: dict[str, bool] = {}  # by function without arguments, whether it returns something known

    def followed(self, function: Function) -> Iterator[tuple[Op, _Known]]:
        """The ops of a function that use something known, each with what is known before it."""
        known: _Known = dict.fromkeys(self._passed.get(function.name, ()), _COMPUTED)
        for op in walk(function.body):
            value: int | str | None = None
            found = [index for index, operand in enumerate(op.operands) if operand in known]
            is_whole = len(found) == len(op.operands)
            if op.name == "arith.constant":
                value = integer_constant(op)
                value = _COMPUTED if value is None else value
            elif op.name == "tt.call":
                callee = op.attrs.get("callee", "").lstrip("@")
                self._passed.setdefault(callee, set()).update(found)
                value = _COMPUTED if is_whole and (found or self._gives_constants(callee)) else None
            elif found:
                yield op, known
                value = known[op.operands[0]] if op.name in SAME_VALUE else _COMPUTED
                value = value if _is_absorbed(op, known) or (is_whole and computes(op.name)) else None
            if value is not None:
                known.update(dict.fromkeys(op.results, value))

    def _gives_constants(self, name: str) -> bool:
        """Whether a function without arguments returns something known: a program's index, say, is not."""
        if name not in self._constant and name in self._functions:
            self._constant[name] = False  # what a recursion gets
            self._constant[name] = any(op.name == "tt.return" for op, _ in self.followed(self._functions[name]))
        return self._constant.get(name, False)


def _is_absorbed(op: Op, known: _Known) -> bool:
    return op.name in _ABSORBING and any(known.get(operand) in (0, _COMPUTED) for operand in op.operands)


def _decides(function: Function, op: Op, known: _Known) -> bool:
    if op.name in _CONDITIONS:
        return op.operands[0] in known and (op.name != "arith.select" or _carries(function, op))
    if op.name == "scf.for":
        lower, upper = (known.get(bound) for bound in op.operands[:2])
        is_entered = isinstance(lower, int) and isinstance(upper, int) and lower < upper
        return lower is not None and upper is not None and not is_entered
    if masks := mask_of_write(op):
        return any(known.get(mask) in (0, _COMPUTED) for mask in masks)
    return _is_absorbed(op, known) and _carries(function, op)


def _carries(function: Function, op: Op) -> bool:
    """Whether a result can hold an address at all."""
    return any(width_of(function.types[result]) is Width.FULL for result in op.results)
