"""What the kernel itself has put into memory (docs/analysis.md, section 4)."""

from __future__ import annotations

from triton_mutlint.analysis.lattice import Lattice
from triton_mutlint.analysis.values import bits


class Memory:
    """One cell per parameter, one for all other memory, and one for the shared memory of inline asm."""

    def __init__(self, lattice: Lattice) -> None:
        self._lattice = lattice
        self._cells = [0] * lattice.n
        self._elsewhere = 0
        self._everything = 0
        self.parked = 0
        self.version = 0  # grows with every change

    def put(self, roots: int, value: int, *, whole: bool = True) -> None:
        """Store `value` through one of these roots, or where none leads; `whole` if it can hold an address."""
        kept = self._lattice.kept(value, whole=whole)
        for index in bits(roots & self._lattice.params):
            if kept & ~self._cells[index]:
                self._cells[index] |= kept
                self.version += 1
        if (roots & ~self._lattice.params or not roots) and kept & ~self._elsewhere:
            self._elsewhere |= kept
            self.version += 1
        self._everything |= kept

    def load(self, address: int) -> int:
        """What a load from where `address` leads may yield."""
        lattice = self._lattice
        roots, made = lattice.as_address(address), lattice.made_of(address)
        return lattice.seeing(self.behind(roots, anywhere=bool(made)), lattice.places(address))

    def behind(self, roots: int, *, anywhere: bool = False) -> int:
        """What a load through one of these roots may yield, or one that may lead `anywhere`."""
        lattice = self._lattice
        indirect = lattice.loaded_from(roots)
        found = lattice.address(indirect) if indirect else lattice.number
        if anywhere or roots & lattice.unknown:
            return found | self._everything
        for index in bits(roots & lattice.params):
            found |= self._cells[index]
        return found | self._elsewhere

    def park(self, value: int) -> None:
        """Put `value` into shared memory."""
        if value & ~self.parked:
            self.parked |= value
            self.version += 1
