"""Names that the installed Triton lacks: which a kernel reads, and which versions have them."""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

from triton_mutlint.source.bodies import Body, read_body
from triton_mutlint.source.modules import installed, is_triton_module
from triton_mutlint.source.namespace import Namespace
from triton_mutlint.source.needs import functions_in, node_of
from triton_mutlint.types import Kernel, Location

ANOTHER = "analyse it with the Triton version (or vendor's Triton) that it is written for"
_LIBDEVICE = "triton.language.extra.libdevice"
_OF_MODULE = re.compile(r"module ['\"](triton[\w.]*)['\"] has no attribute ['\"](\w+)")
_OF_OBJECT = re.compile(r"'(?:_experimental_)?(\w+)' object has no attribute '(\w+)'")
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


def hint(module: str, name: str, written: str = "") -> str:
    """What to do about a name that a module or class of the installed Triton lacks."""
    have = _versions(f"{module}.{name}")
    if have:
        return f"analyse it with a Triton version that has it: {have}"
    there = sys.modules.get(module)
    close = get_close_matches(name, [n for n in dir(there) if not n.startswith("_")], 1, 0.75) if there else []
    if close:
        return f"did you mean `{'.'.join([*(written or module + '.' + name).split('.')[:-1], *close])}`?"
    if hasattr(importlib.import_module(_LIBDEVICE), name):
        return f"did you mean `{_LIBDEVICE}.{name}`?"
    return ANOTHER


def hint_of(message: str) -> str | None:
    """The hint on a missing name that an error's message tells of; None if it tells of none that is known."""
    found = _OF_MODULE.search(message)
    if found:
        return hint(found[1], found[2])
    found = _OF_OBJECT.search(message)
    if found is None:
        return None
    have = _versions(f"{found[1]}.{found[2]}")
    return f"analyse it with a Triton version that has it: {have}" if have else None


def _versions(name: str) -> str:
    """The versions that have a name, for people; "" where all or none of those that were asked do."""
    table = _table()
    have, every = table["names"].get(name, []), table["versions"]
    if not have:
        return ""
    if have == every[every.index(have[0]):]:
        return f"{have[0]} or newer"
    return have[0] if len(have) == 1 else f"{have[0]} to {have[-1]}"


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Any]:
    table: Mapping[str, Any] = json.loads(Path(__file__).with_name("triton_names.json").read_text(encoding="utf-8"))
    return table


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
