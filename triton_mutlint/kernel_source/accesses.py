"""What a walk over a kernel's source notes of what is done to memory."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from triton_mutlint.kernel_source.objects import stored_through
from triton_mutlint.kernel_source.operations import ANY, TYPING, masked_off
from triton_mutlint.kernel_source.values import NO_ROOTS, MayBe
from triton_mutlint.types import Site


@dataclass(frozen=True)
class Done:
    """What a function gives back, and what it does to the memory of which roots."""

    returned: MayBe
    sites: frozenset[tuple[str, Site]]
    writes: bool = True
    consulted: frozenset[str] = frozenset()


class Accesses:
    """The accesses seen so far, by the roots that they go through, each with its place."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.at: tuple[int, ...] = (line,)
        self.sites: set[tuple[str, Site]] = set()
        self.effects = 0  # writes, and what may write, seen so far
        self.consulted: set[str] = set()  # parameters whose constants have decided something

    def consult(self, *values: MayBe) -> None:
        """Something is decided by the constants among `values`."""
        for value in values:
            if value.of:
                self.consulted |= value.of

    def place(self, node: ast.expr | ast.stmt) -> tuple[int, ...]:
        return self.line, node.lineno, node.col_offset

    def keep(self, roots: frozenset[str]) -> None:
        """It is put into memory, from where it may be loaded again."""
        self.done("keep", roots)

    def load(self, roots: frozenset[str]) -> None:
        """It may be read from there."""
        self.done("load", roots)

    def write(self, roots: frozenset[str]) -> None:
        """Something is certainly stored: if through no parameter, then at an address of none."""
        self.store(roots or NO_ROOTS)

    def store(self, roots: frozenset[str]) -> None:
        """Something may be stored there."""
        self.effects += 1
        self.done("store", roots)

    def checked(self, value: MayBe) -> None:
        """The value is asserted when the kernel is compiled."""
        self.done(f"assert {value.value}", NO_ROOTS)

    def asked(self, name: str, args: Sequence[MayBe], given: frozenset[str]) -> None:
        """A function may ask of what kind a value is, or how long a tuple whose length is not told."""
        if name in TYPING or (name == "len" and given and args and not args[0].has_length):
            self.done("type", NO_ROOTS)

    def done(self, kind: str, roots: frozenset[str]) -> None:
        """Something is done here to the memory of parameters."""
        site = Site(kind, (self.at,))
        self.sites.update((root, site) for root in roots)

    def stored(self, target: Any, name: str, args: list[MayBe], named: Mapping[str, MayBe],
               given: frozenset[str]) -> None:
        """A function of Triton that stores: through one argument."""
        if not masked_off(name, args, named):
            address = stored_through(target, args, named)
            self.write(given if address is None or ANY in named else address.everything())
        self.keep(given)
