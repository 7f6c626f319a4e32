"""Functions under concrete abstract arguments, and how they call each other (docs/analysis.md, section 5)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from triton_mutlint.analysis.lattice import Lattice
from triton_mutlint.analysis.printed import Width, width_of
from triton_mutlint.ttir.ir import Function, Op

MAX_PER_FUNCTION = 64
MAX_CHAINS = 8  # chains of calls reported per context
MAX_DEPTH = 64  # calls in a chain: recursion is reported this deep at most

Calls = tuple[Op, ...]


@dataclass(eq=False)
class Context:
    """One function analysed under one set of argument values; `values[v]` is the state of value v."""

    function: Function
    values: list[int]
    widths: list[Width]
    returns: list[int] = field(default_factory=list)
    read: bool = False  # a caller has used `returns`
    called: int = 0  # the roots of whose integer value it tells that some call is reached
    inside: int = 0  # and that the op that is being looked at is, in the blocks of `scf` ops
    jumped: int = 0  # and whichever block is
    calls: dict[tuple[int, int], tuple[Op, Context]] = field(default_factory=dict)  # by ids of op and callee

    @property
    def deciding(self) -> int:
        """The roots of whose integer value it tells that an op is reached."""
        return self.called | self.inside | self.jumped


class Contexts:
    """All contexts reached so far, found by callee and argument values."""

    def __init__(self, lattice: Lattice) -> None:
        self._lattice = lattice
        self._by_key: dict[tuple[str, tuple[int, ...]], Context] = {}
        self._count: dict[str, int] = {}
        self._joined: dict[str, Context] = {}
        self._widths: dict[str, list[Width]] = {}

    def get(self, function: Function, arguments: tuple[int, ...]) -> Context:
        """The context for these arguments; beyond the cap, the one that joins all of them."""
        key = (function.name, arguments)
        found = self._by_key.get(key)
        if found is not None:
            return found
        if self._count.get(function.name, 0) >= MAX_PER_FUNCTION:
            return self._joined_context(function, arguments)
        self._count[function.name] = self._count.get(function.name, 0) + 1
        found = self._by_key[key] = self._fresh(function, arguments)
        return found

    def _joined_context(self, function: Function, arguments: tuple[int, ...]) -> Context:
        if function.name not in self._joined:
            self._joined[function.name] = self._fresh(function, arguments)
        context = self._joined[function.name]
        for index, value in enumerate(arguments):
            context.values[index] = self._lattice.choice([context.values[index], value], context.called)
        return context

    def _fresh(self, function: Function, arguments: tuple[int, ...]) -> Context:
        if function.name not in self._widths:
            self._widths[function.name] = [width_of(t) for t in function.types]
        values = [0] * len(function.types)
        values[: len(arguments)] = arguments
        return Context(function, values, self._widths[function.name])


def call_chains(entry: Context) -> Iterator[tuple[Context, tuple[Calls, ...]]]:
    """Every context reached from `entry` with up to MAX_CHAINS chains of calls to it, shortest first."""
    chains: dict[int, tuple[Context, list[Calls]]] = {}
    queue: deque[tuple[Context, Calls]] = deque([(entry, ())])
    while queue:
        context, chain = queue.popleft()
        _, found = chains.setdefault(id(context), (context, []))
        if len(found) >= MAX_CHAINS or len(chain) > MAX_DEPTH:
            continue
        found.append(chain)
        queue.extend((callee, (*chain, op)) for op, callee in context.calls.values())
    for context, found in chains.values():
        yield context, tuple(found)
