"""Inline asm and extern calls, read once per op (docs/analysis.md, section 6)."""

from __future__ import annotations

from triton_mutlint.ttir.asm import AsmReading, read_asm
from triton_mutlint.ttir.ir import Op

INLINE_ASM = "tt.elementwise_inline_asm"
EXTERN = "tt.extern_elementwise"


class OpaqueReader:
    """Reads asm text for one backend; with `distrust`, impure asm is not read at all."""

    def __init__(self, backend: str, distrust: bool = False) -> None:
        self._backend = backend
        self._distrust = distrust
        self._readings: dict[tuple[str, str, int, bool], AsmReading] = {}

    def asm(self, op: Op) -> AsmReading:
        """How the text of an inline asm op was read."""
        text, constraints = op.attrs.get("asm_string", ""), op.attrs.get("constraints", "")
        pure = self.is_pure(op)
        key = (text, constraints, len(op.operands), pure)
        if key not in self._readings:
            self._readings[key] = self._read(text, constraints, len(op.operands), pure)
        return self._readings[key]

    def _read(self, text: str, constraints: str, operands: int, pure: bool) -> AsmReading:
        if self._distrust and not pure:
            return AsmReading(understood=False, reason="impure inline asm under --opaque-asm")
        return read_asm(text, constraints, operands, self._backend)

    @staticmethod
    def is_pure(op: Op) -> bool:
        return op.attrs.get("pure") == "true"

    @staticmethod
    def detail(op: Op) -> str:
        """The text shown for an op: the asm, or the symbol called."""
        if op.name == INLINE_ASM:
            return op.attrs.get("asm_string", "")
        return op.attrs.get("symbol", "") or op.attrs.get("callee", "")
