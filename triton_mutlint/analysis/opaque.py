"""Inline asm and extern calls, read once per op (docs/analysis.md, section 6)."""

from __future__ import annotations

from collections.abc import Sequence

from triton_mutlint.analysis.printed import bits_of
from triton_mutlint.ttir.asm import read_asm
from triton_mutlint.ttir.asm_steps import AsmReading
from triton_mutlint.ttir.ir import Op

INLINE_ASM = "tt.elementwise_inline_asm"
EXTERN = "tt.extern_elementwise"
DISTRUSTED = AsmReading(understood=False, reason="impure inline asm under --opaque-asm")
REGISTER_BITS = 32


class OpaqueReader:
    """Reads asm text for one backend; with `distrust`, impure asm is not read at all."""

    def __init__(self, backend: str, distrust: bool = False) -> None:
        self._backend = backend
        self._distrust = distrust
        self._readings: dict[tuple[object, ...], AsmReading] = {}

    def asm(self, op: Op, types: Sequence[str]) -> AsmReading:
        """How the text of an inline asm op was read; `types` are those of its function's values."""
        text, constraints = op.attrs.get("asm_string", ""), op.attrs.get("constraints", "")
        registers = _registers(op, types)
        key = (text, constraints, len(op.operands), registers, self.is_pure(op))
        if key not in self._readings:
            distrusted = self._distrust and not self.is_pure(op)
            self._readings[key] = DISTRUSTED if distrusted else read_asm(
                text, constraints, len(op.operands), self._backend, registers)
        return self._readings[key]

    @staticmethod
    def is_pure(op: Op) -> bool:
        return op.attrs.get("pure") == "true"

    @staticmethod
    def detail(op: Op) -> str:
        """The text shown for an op: the asm, or the symbol called."""
        if op.name == INLINE_ASM:
            return op.attrs.get("asm_string", "")
        return op.attrs.get("symbol", "") or op.attrs.get("callee", "")


def _registers(op: Op, types: Sequence[str]) -> tuple[int, ...] | None:
    """Input registers per operand: Triton packs elements below 32 bits into whole registers."""
    packed = op.attrs.get("packed_element", "1").split(" ")[0]
    if not packed.isdigit():
        return None
    counts = []
    for operand in op.operands:
        bits = bits_of(types[operand])
        if bits == 1:
            return None  # how Triton widens an i1 is its own business
        per_register = max(1, REGISTER_BITS // bits) if bits else 1
        counts.append(-(-int(packed) // per_register))
    return tuple(counts)
