"""Names that the installed Triton lacks: which a kernel reads, and which versions have them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from triton_mutlint.source.slicing.module_text import Body, read_body
from triton_mutlint.source.slicing.namespace import Namespace
from triton_mutlint.source.slicing.needs import functions_in
from triton_mutlint.source.slicing.spaces import installed, is_triton_module, node_of
from triton_mutlint.triton_names import hint
from triton_mutlint.types import Kernel, Location

_FUNCTIONS = 200  # that are followed from one kernel


@dataclass(frozen=True)
class Absent:
    """A name of a body, as it is written there, that the installed Triton lacks."""

    written: str
    module: str
    name: str
    location: Location | None

    @property
    def message(self) -> str:
        """Says that it is missing, and from what."""
        return f"`{self.written}` is not in {installed('triton')}"

    @property
    def hint(self) -> str:
        """Says which versions have it, or what else may be meant."""
        return hint(self.module, self.name, self.written)


def absent_name(kernel: Kernel) -> Absent | None:
    """The first name that a kernel or a function it reaches reads on every path, and the installed Triton lacks.

    Triton may say something else first: when it looks up the name, or when other arguments are tried.
    """
    pending: list[Any] = [kernel.jit]
    seen: set[int] = set()
    for jit in pending:  # grows while it is walked
        if id(jit) in seen or len(seen) >= _FUNCTIONS:
            continue
        seen.add(id(jit))
        read = _body(jit)
        for use in read.uses if read else ():
            if use.guarded:
                continue
            value, lacked = _followed(jit.fn.__globals__, use.chain)
            if lacked is not None:
                file = _file(jit)
                place = Location(file, use.line) if file is not None else None
                return Absent(".".join(use.chain), value.__name__, lacked, place)
            pending.extend(functions_in(value))
    return None


def _body(jit: Any) -> Body | None:
    space, node = getattr(jit.fn, "__globals__", None), node_of(jit)
    if isinstance(space, Namespace) and node is not None:
        return space.module.body(node)
    if str(getattr(jit.fn, "__module__", "")).partition(".")[0] == "triton":
        return None
    return read_body(jit.parse().body[0])


def _file(jit: Any) -> str | None:
    """The file that the lines of `_body` belong to; those of an imported function are counted from its own first."""
    return jit.fn.__code__.co_filename if isinstance(jit.fn.__globals__, Namespace) else None


def _followed(space: Mapping[str, Any], chain: tuple[str, ...]) -> tuple[Any, str | None]:
    """The value that a dotted name reaches through Triton's modules; else the module, and the name it lacks."""
    try:
        value = space[chain[0]]
    except KeyError:
        return None, None
    for name in chain[1:]:
        if not is_triton_module(value):
            break
        if not hasattr(value, name):
            return value, name
        value = getattr(value, name)
    return value, None
