"""What running a piece of registering code would do: define an op, or give one an implementation."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from triton_mutlint.host.model import Form
from triton_mutlint.host.state.state import State
from triton_mutlint.host.values.texts import Spot
from triton_mutlint.host.values.values import Value


@dataclass(frozen=True, eq=False)
class Step:
    """Where something is registered: at `site`, by way of the calls `path`, the innermost last.

    `depth` is the site's place in the path: not 0 where a function of the file, called once, names the op.
    """

    site: Spot
    path: tuple[ast.AST, ...]
    depth: int = 0


@dataclass(frozen=True, eq=False)
class _Event:
    """`state` is what containers held then."""

    name: Value
    step: Step
    state: State


@dataclass(frozen=True, eq=False)
class OpEvent(_Event):
    """An op is defined.

    `mutates` is what was passed (None: left out, so that `default` holds), `schema` a schema string,
    with the name or without. `api` is the function called, `required` that it insists on the list;
    `open` that arguments were passed which cannot be seen.
    """

    form: Form
    api: str
    function: Value | None = None
    mutates: Value | None = None
    schema: Value | None = None
    default: tuple[str, ...] | None = ()
    required: bool = False
    open: bool = False
    misplaced: Value | None = None  # a list where the function belongs


@dataclass(frozen=True, eq=False)
class ImplEvent(_Event):
    """An op gets an implementation; `keys` are the dispatch keys or device types it is for."""

    function: Value
    keys: Value | None = None
    keyset: bool = False  # the function takes the dispatch keys before the op's arguments
    sure: bool = True  # the object it is registered with is known to register


Event = OpEvent | ImplEvent
