"""What the kernel itself has put into memory (docs/analysis.md, section 4)."""

from __future__ import annotations

from triton_mutlint.analysis.lattice import Lattice, bits


class Memory:
    """One cell per parameter and one for everything else; a cell holds strong roots and differences."""

    def __init__(self, lattice: Lattice) -> None:
        self._lattice = lattice
        self._cells = [0] * lattice.n
        self._elsewhere = 0
        self._everything = 0
        self.version = 0  # grows with every change

    def store(self, address: int, value: int) -> None:
        """Store `value` through the strong set `address`."""
        roots = self._lattice.kept(value)
        if not roots:
            return
        for index in bits(address & self._lattice.params):
            if roots & ~self._cells[index]:
                self._cells[index] |= roots
                self.version += 1
        if (address & ~self._lattice.params or not address) and roots & ~self._elsewhere:
            self._elsewhere |= roots
            self.version += 1
        self._everything |= roots

    def load(self, address: int) -> int:
        """What a load through the strong set `address` may yield."""
        found = self._lattice.loaded_from(address) | self._elsewhere
        if address & self._lattice.unknown:
            return found | self._everything
        for index in bits(address & self._lattice.params):
            found |= self._cells[index]
        return found
