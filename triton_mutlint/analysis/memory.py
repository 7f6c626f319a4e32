"""What the kernel itself has put into memory (docs/analysis.md, section 4)."""

from __future__ import annotations

from triton_mutlint.analysis.lattice import Lattice
from triton_mutlint.analysis.values import bits


class Memory:
    """One cell per parameter, one for all other memory, and one for the shared memory of inline asm."""

    def __init__(self, lattice: Lattice) -> None:
        self._lattice = lattice
        self._cells = [0] * (lattice.n + 1)
        self._deciding = [0] * (lattice.n + 1)  # by cell, the roots that decide about narrow numbers in it
        self.parked = 0
        self.version = 0  # grows with every change

    def put(self, roots: int, value: int, deciding: int, *, narrow: bool = False) -> None:
        """Store `value` through one of these roots, or where none leads, as `deciding` ones decide."""
        kept = self._lattice.kept(value if narrow else self._lattice.seeing(value, deciding), narrow=narrow)
        held = deciding & self._lattice.params if narrow else 0
        for cell in self._reached(roots):
            if kept & ~self._cells[cell] or held & ~self._deciding[cell]:
                self._cells[cell] |= kept
                self._deciding[cell] |= held
                self.version += 1

    def load(self, address: int, *, narrow: bool = False) -> int:
        """What a load from where `address` leads may yield."""
        lattice = self._lattice
        roots, anywhere = lattice.as_address(address), bool(lattice.made_of(address))
        found = self.held(roots, anywhere)
        for cell in self._readable(roots, anywhere) if narrow else ():
            found = lattice.seeing(found, self._deciding[cell])
        return lattice.seeing(found, lattice.places(address))

    def held(self, roots: int, anywhere: bool = False) -> int:
        """What may be where one of these roots leads, or where an address leads that may lead `anywhere`."""
        indirect = self._lattice.loaded_from(roots)
        found = self._lattice.address(indirect) if indirect else self._lattice.number
        for cell in self._readable(roots, anywhere):
            found |= self._cells[cell]
        return found

    def park(self, value: int) -> None:
        """Put `value` into shared memory."""
        if value & ~self.parked:
            self.parked |= value
            self.version += 1

    def _readable(self, roots: int, anywhere: bool) -> list[int]:
        """The cells that a load through one of these roots may read."""
        if anywhere or roots & self._lattice.unknown:
            return list(range(self._lattice.n + 1))
        return [*bits(roots & self._lattice.params), self._lattice.n]

    def _reached(self, roots: int) -> list[int]:
        """The cells that an address with one of these roots may lead to."""
        params = roots & self._lattice.params
        elsewhere = [self._lattice.n] if roots != params or not roots else []
        return [*bits(params), *elsewhere]
