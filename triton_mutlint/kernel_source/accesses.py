"""What a walk over a kernel's source notes of what is done to memory; arguments that a call lists."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from triton_mutlint.kernel_source.helpers import Helper
from triton_mutlint.kernel_source.objects import named_and_home, parameter_names, stored_through
from triton_mutlint.kernel_source.observer import Observer, Place
from triton_mutlint.kernel_source.operations import ANY, TYPING, masked_off
from triton_mutlint.kernel_source.outside import Outside
from triton_mutlint.kernel_source.values import NO_ROOTS, NOTHING, Env, MayBe
from triton_mutlint.types import Site


@dataclass(frozen=True)
class Done:
    """What a function gives back, and what it does to the memory of which roots."""

    returned: MayBe
    sites: frozenset[tuple[str, Site]]
    writes: bool = True
    consulted: frozenset[str] = frozenset()


class Callee(Protocol):
    """The walk that a body is part of: it knows the helpers, and what they do."""

    outside: Outside
    observer: Observer

    def call(self, helper: Helper, env: Env, caller: Accesses) -> Done: ...

    def helper(self, target: Any, name: str = "") -> Helper | None: ...


class Accesses:
    """The accesses seen so far, by the roots that they go through, each with its place."""

    def __init__(self, walk: Callee, line: int, caller: Accesses | None = None) -> None:
        self.walk, self.line = walk, line
        self.here = Place()
        # The line of the kernel's own body whose call is followed; 0 outside of calls.
        self.outer: int = 0 if caller is None else caller.outer or caller.here.line
        self.at: tuple[int, ...] = (line,)
        self.sites: set[tuple[str, Site]] = set()
        self.effects = 0  # writes, and what may write, seen so far
        self.consulted: set[str] = set()  # parameters whose constants have decided something

    def show(self, node: ast.AST | None) -> Observer:
        """Who is to see what is done at a node, or at the last one."""
        self.walk.observer.place = self.here
        if node is not None:
            self.here.own_line = getattr(node, "lineno", 0)
            self.here.line = self.outer or self.here.own_line
        return self.walk.observer

    def checked(self, value: MayBe) -> None:
        """The value is asserted when the kernel is compiled."""
        self.done(f"assert {value.value}", NO_ROOTS)
        self.show(None).checked(value)

    def consult(self, *values: MayBe) -> None:
        """Note that the constants among `values` decide something."""
        for value in values:
            if value.of:
                self.consulted |= value.of

    def place(self, node: ast.expr | ast.stmt) -> tuple[int, ...]:
        return self.line, node.lineno, node.col_offset

    def keep(self, roots: frozenset[str]) -> None:
        """Note that these addresses may be put into memory, from where they may be loaded again."""
        self.done("keep", roots)

    def load(self, roots: frozenset[str]) -> None:
        """Note a load through one of these roots."""
        self.done("load", roots)

    def write(self, roots: frozenset[str]) -> None:
        """Note a store that is certain: through one of these roots, or at an address of no parameter."""
        self.store(roots or NO_ROOTS)

    def store(self, roots: frozenset[str]) -> None:
        """Note a store that may happen, through one of these roots."""
        self.effects += 1
        self.done("store", roots)

    def asked(self, name: str, args: Sequence[MayBe], given: frozenset[str]) -> None:
        """A function may ask of what kind a value is, or how long a tuple whose length is not told."""
        if name in TYPING or (name == "len" and given and args and not args[0].has_length):
            self.done("type", NO_ROOTS)

    def done(self, kind: str, roots: frozenset[str]) -> None:
        """Note at the place of the walk that something of a `kind` is done to the memory of parameters."""
        site = Site(kind, (self.at,))
        self.sites.update((root, site) for root in roots)

    def stored(self, target: Any, name: str, args: list[MayBe], named: Mapping[str, MayBe],
               given: frozenset[str]) -> None:
        """A function of Triton that stores: through one argument."""
        if not masked_off(name, args, named):
            address = stored_through(target, args, named)
            self.write(given if address is None or ANY in named else address.everything())
        self.keep(given)


Eval = Callable[[ast.expr], MayBe]


def spell_out(node: ast.Call, args: list[MayBe], named: dict[str, MayBe], evaluate: Eval) -> None:
    """Tell the operands of an inline asm apart, where the call itself lists them: nothing else has that list."""
    for keyword in node.keywords:
        if keyword.arg == "args":
            named["args"] = _listed(keyword.value, evaluate) or named["args"]
    if len(node.args) > 2 and not any(isinstance(a, ast.Starred) for a in node.args):
        args[2] = _listed(node.args[2], evaluate) or args[2]


def partitions(node: ast.Call, evaluate: Eval) -> Sequence[tuple[Any, list[MayBe]]]:
    """The functions that groups of warps run, each with its arguments; none, where they are not all known."""
    listed = _listed(node.args[0], evaluate) if node.args else None
    return [*_partitions(listed.items or ())] if listed is not None else []


def _partitions(parts: Sequence[MayBe]) -> Iterator[tuple[Any, list[MayBe]]]:
    pairs = [part.items if part.items is not None and len(part.items) == 2 else (NOTHING, NOTHING) for part in parts]
    if all(len(f.functions) == 1 and not f.is_open and given.items is not None for f, given in pairs):
        for function, given in pairs:
            yield function.functions[0].it, [*(given.items or ())]


def by_parameter(target: Any, args: Sequence[MayBe], named: Mapping[str, MayBe]) -> dict[str, MayBe]:
    """All arguments by the names of their parameters; `desc` is the descriptor that AMD's data movers take first."""
    names = parameter_names(target)
    if named_and_home(target)[1].endswith(".tdm") and names[:1] in (("src",), ("dest",)):
        names, named = ("desc", *names[1:]), {"desc" if n == names[0] else n: v for n, v in named.items()}
    return {**dict(zip(names, args, strict=False)), **named}


def _listed(node: ast.expr, evaluate: Eval) -> MayBe | None:
    """The elements of a list that is written out."""
    if not isinstance(node, ast.List | ast.Tuple) or any(isinstance(e, ast.Starred) for e in node.elts):
        return None
    return MayBe(items=tuple(evaluate(e) for e in node.elts))
