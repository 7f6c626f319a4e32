"""The verdict on one torch op, and what is declared of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from triton_mutlint.types.report import Access
from triton_mutlint.types.source import Frame, Location


@dataclass(frozen=True)
class Problem:
    """What is wrong with a declaration as written (TML105)."""

    message: str
    location: Location
    help: str = ""


@dataclass(frozen=True)
class Declaration:
    """What an op says it mutates.

    `names` are the arguments it declares, in the order written, or None where that is not known: computed at run
    time, or `"unknown"`, which declares that any may be (`any_may`). `stated` is false where the declaration was
    left out and a default holds. `place` is that of the list, the schema or, where it was left out, the
    registration. `may_return` are the arguments that it says to return (None: not known), `must_return` those that
    it has to. `span` is the list's (line, column, end line, end column) in its file as `ast` counts, None where
    there is no literal list to edit.
    """

    names: tuple[str, ...] | None
    place: Location
    any_may: bool = False
    stated: bool = True
    span: tuple[int, int, int, int] | None = None
    problems: tuple[Problem, ...] = ()
    reason: str = ""  # why `names` is None
    may_return: tuple[str, ...] | None = ()
    must_return: tuple[str, ...] = ()
    of_torch: bool = False  # the op is torch's own, and so is its schema: `place` is where it gets another body


class OpMutation(str, Enum):
    WRITTEN = "written"  # by way of a value that is the argument's own storage
    MAYBE = "maybe"  # by way of one that may be a copy (`reshape`, `contiguous`, `to`)
    UNWRITTEN = "unwritten"
    UNKNOWN = "unknown"  # it reaches code whose effect is not known


@dataclass(frozen=True, order=True)
class HostEffect:
    """One place at which an op's argument is written, or may be for want of knowledge.

    `text` says what happens there ("`add_kernel` writes `out_ptr`", "`x.copy_`"), in the code `call`. `path` are the
    host calls from the op's function to `location`; `kernel` and `access` tell of the kernel launched there.
    """

    location: Location
    text: str
    path: tuple[Frame, ...] = ()
    kernel: str = ""
    access: Access | None = field(default=None, compare=False)
    call: str = field(default="", compare=False)


@dataclass(frozen=True)
class OpArgument:
    """The verdict on one argument of an op; `effects` are what it rests on."""

    name: str
    index: int
    mutation: OpMutation
    effects: tuple[HostEffect, ...] = ()
    returned: bool = False  # a result of the op is the argument or a view of it
    maybe_returned: bool = False  # a result is that in some cases: unless copied, or on some paths


@dataclass(frozen=True)
class OpReport:
    """The verdict on one torch op, the union over its implementations.

    `form` is how it is registered ("custom_op", "triton_op", "define", "registrar", "jax"; "function" is
    an autograd function, of which the gradients that `backward` is given are arguments too). `gaps` are what its code
    does with the arguments that was not understood. `unwrapped` are launches of a triton_op that do without
    `wrap_triton`, by kernel. `unmarked` are the inputs that an `autograd.Function` writes without `mark_dirty`;
    `fake_problems` say where the fake function surely gives something else.
    """

    name: str
    form: str
    location: Location
    declaration: Declaration
    arguments: tuple[OpArgument, ...] = ()
    kernels: tuple[str, ...] = ()
    gaps: tuple[HostEffect, ...] = ()
    unwrapped: tuple[tuple[str, Location], ...] = ()
    unmarked: tuple[tuple[str, Location], ...] = ()
    fake_problems: tuple[Problem, ...] = ()

    def is_called(self, wanted: str) -> bool:
        """Whether `lib::rope` is meant by `lib::rope` or `rope`."""
        return wanted in (self.name, self.name.rpartition(":")[2])

    @property
    def mutated(self) -> tuple[str, ...]:
        """Arguments written for certain on some path, in signature order."""
        return tuple(a.name for a in self.arguments if a.mutation is OpMutation.WRITTEN)

    @property
    def maybe(self) -> tuple[str, ...]:
        """Arguments written through what may be a copy of them."""
        return tuple(a.name for a in self.arguments if a.mutation is OpMutation.MAYBE)

    @property
    def unknown(self) -> tuple[str, ...]:
        """Arguments that code whose effect is not known may write."""
        return tuple(a.name for a in self.arguments if a.mutation is OpMutation.UNKNOWN)

    @property
    def unfollowed(self) -> str:
        """Why its code was not followed at all, or not to its end; "" where it was."""
        return next((gap.text for gap in self.gaps if gap.call == self.name), "")

    @property
    def complete(self) -> bool:
        """Whether everything that its code does with the arguments was understood."""
        return not self.gaps
