"""Forward provenance on TTIR: which parameters may each memory operation access?

The definition is docs/analysis.md. Needs neither triton nor torch.
"""

from __future__ import annotations

from collections.abc import Sequence

from triton_mutlint.analysis.effects import EffectReader, Places, VariantEffects
from triton_mutlint.analysis.lattice import Lattice
from triton_mutlint.analysis.opaque import OpaqueReader
from triton_mutlint.analysis.printed import Width, width_of
from triton_mutlint.analysis.solver import Solver
from triton_mutlint.ttir.ir import Module
from triton_mutlint.types import ArgOwner, ArgRole

__all__ = ["Places", "VariantEffects", "analyze_module"]


def analyze_module(module: Module, owners: Sequence[ArgOwner], backend: str, places: Places,
                   opaque_asm: bool = False) -> VariantEffects:
    """The effects of the module's public function.

    `owners` names the parameter of each of its arguments, in order. Raises LookupError when the
    module has no single public function, and ValueError when `owners` does not fit its arguments.
    """
    entry = module.entry()
    if len(owners) != entry.n_args:
        raise ValueError(f"{entry.name} has {entry.n_args} arguments, expected {len(owners)}")
    lattice = Lattice(entry.n_args, [
        i for i, o in enumerate(owners) if o.role is ArgRole.SCALAR and width_of(entry.types[i]) is Width.FULL])
    opaque = OpaqueReader(backend, opaque_asm)
    initial = [_initial(lattice, i, o, width_of(entry.types[i])) for i, o in enumerate(owners)]
    solver = Solver(module, lattice, initial, opaque)
    addresses = sum(1 << i for i, o in enumerate(owners) if o.role is ArgRole.ADDRESS)
    return EffectReader(solver, owners, addresses, opaque, places).read(solver.solve())


def _initial(lattice: Lattice, index: int, owner: ArgOwner, width: Width) -> int:
    if owner.role is ArgRole.ADDRESS:
        return lattice.param(index)
    if owner.role is not ArgRole.SCALAR or width is Width.BIT:
        return lattice.number
    root = lattice.integer(index)
    return root if width is Width.FULL else lattice.narrowed(root)
