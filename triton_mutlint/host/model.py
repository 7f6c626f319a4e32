"""The types that the host side's parts share. Nothing here is executed code: all of it comes from syntax trees."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from enum import Enum

from triton_mutlint.host.modules.module import HostFunction, HostModule
from triton_mutlint.host.state.state import State
from triton_mutlint.host.values.values import ClassValue, FunctionValue, Value
from triton_mutlint.types import Declaration, Location, Problem

__all__ = ["Declaration", "Form", "HostFunction", "Implementation", "OpRegistration", "Problem"]


class Form(str, Enum):
    """How an op is registered."""

    CUSTOM_OP = "custom_op"  # torch.library.custom_op, as decorator or call
    TRITON_OP = "triton_op"  # torch.library.triton_op
    DEFINE = "define"  # a schema string and an implementation
    JAX = "jax"  # a call of jax-triton's `triton_call`
    REGISTRAR = "registrar"  # a library's own function around one of these
    FUNCTION = "function"  # an autograd function: `forward` implements it, and nothing declares what it writes


@dataclass(frozen=True, eq=False)
class Implementation:
    """A function that implements an op, as it was registered.

    `node` is its `def`, without the parameters that are bound already: the object of a method, what a partial
    fixes. `value` is what was registered, `state` what the containers and closures of that hold. `applied` are the
    decorators of a function of a module's top level that stand below those by which it is registered.
    """

    module: HostModule
    node: HostFunction
    value: Value
    state: State = field(default_factory=State)
    applied: tuple[ast.expr, ...] = ()
    takes_keys: bool = False  # the dispatch keys, before the op's arguments

    @property
    def is_plain(self) -> bool:
        """Whether it is just the function of a module's top level."""
        return any(isinstance(one, FunctionValue) and one.node is self.node and one.scope is None and one.owner is None
                   for one in self.value.things) and len(self.value.things) == 1


@dataclass(frozen=True, eq=False)
class OpRegistration:
    """One op: its declaration and the Python functions that implement it.

    There are several `functions` where device types have their own, and none where the implementation could not be
    found (`missing` says why). `arguments` are the op's own names of its arguments, in order, where a schema gives
    them: the functions get positional ones by position and may call them otherwise. Without a schema they are the
    parameters. `keyword_only` are those of them that are passed by name, `plain` those that hold no tensor. `given`
    are those that are tensors in every call, `lists` lists of such: `Tensor`, `Tensor[]` of a schema.
    """

    name: str  # "ns::op"; "<name>" with what is known where it is computed
    form: Form
    location: Location  # of the decorator or call that registers it
    module: HostModule  # that holds the registration
    declaration: Declaration
    functions: tuple[Implementation, ...] = ()
    missing: str = ""
    arguments: tuple[str, ...] = ()
    keyword_only: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    fakes: tuple[Implementation, ...] = ()  # for tensors that hold nothing
    lists: tuple[str, ...] = ()
    owner: ClassValue | None = None  # an autograd function's class
    backward: HostFunction | None = None  # its method for gradients, without the context
