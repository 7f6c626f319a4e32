"""What running a piece of registering code would do: define an op, or give one an implementation."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from triton_mutlint.host.model import Form
from triton_mutlint.host.registrations.folded import Spot, Value


@dataclass(frozen=True, eq=False)
class Step:
    """Where something is registered: at `site`, by way of the calls `path`, the innermost last.

    `depth` is the site's place in the path: not 0 where a function of the file, called once, names the op.
    """

    site: Spot
    path: tuple[ast.AST, ...]
    depth: int = 0


@dataclass(frozen=True, eq=False)
class OpEvent:
    """An op is defined.

    `mutates` is what was passed (None: left out, so that `default` holds), `schema` a schema string,
    with the name or without. `api` is the function called, `required` that it insists on the list;
    `open` that arguments were passed which cannot be seen.
    """

    form: Form
    api: str
    name: Value
    step: Step
    function: Value | None = None
    mutates: Value | None = None
    schema: Value | None = None
    default: tuple[str, ...] | None = ()
    required: bool = False
    open: bool = False
    misplaced: Value | None = None  # a list where the function belongs

    def given(self) -> bool:
        """Whether a caller passes what decides on the function, or all that is known of the op."""
        decides = self.function if self.function is not None else self.schema
        return decides is not None and decides.given()

    def depends(self) -> bool:
        """Whether a caller passes what decides on the function, or on what it is declared to mutate."""
        return any(v is not None and v.given() for v in (self.function, self.mutates, self.schema))


@dataclass(frozen=True, eq=False)
class ImplEvent:
    """An op gets an implementation; `keys` are the dispatch keys or device types it is for."""

    name: Value
    function: Value
    step: Step
    keys: Value | None = None
    keyset: bool = False  # the function takes the dispatch keys before the op's arguments
    sure: bool = True  # the object it is registered with is known to register

    def given(self) -> bool:
        return self.function.given()

    def depends(self) -> bool:
        return self.function.given() or self.name.given()


@dataclass(eq=False)
class Events:
    """What has been registered so far, in order."""

    found: list[OpEvent | ImplEvent] = field(default_factory=list)
