"""The types that the host side's parts share. Nothing here is executed code: all of it comes from syntax trees."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from triton_mutlint.host.modules.module import HostFunction, HostModule
from triton_mutlint.types import Declaration, Location, Problem

__all__ = ["Declaration", "Form", "HostFunction", "OpRegistration", "Problem"]


class Form(str, Enum):
    """How an op is registered."""

    CUSTOM_OP = "custom_op"  # torch.library.custom_op, as decorator or call
    TRITON_OP = "triton_op"  # torch.library.triton_op
    DEFINE = "define"  # a schema string and an implementation
    REGISTRAR = "registrar"  # a library's own function around one of these


@dataclass(frozen=True, eq=False)
class OpRegistration:
    """One op: its declaration and the Python functions that implement it.

    `functions` are where each implementation stands; there are several where device types have
    their own, and none where the implementation could not be found (`missing` says why). `arguments`
    are the op's own names of its arguments, in order, where a schema gives them: the functions get
    positional ones by position and may call them otherwise. Without a schema they are the parameters.
    `keyword_only` are those of them that are passed by name, `plain` those that hold no tensor; the functions
    in `keysets` take dispatch keys first. `given` are those that are tensors in every call,
    `lists` those that are lists of such: `Tensor`, `Tensor[]` of a schema.
    """

    name: str  # "ns::op"; "<name>" with what is known where it is computed
    form: Form
    location: Location  # of the decorator or call that registers it
    module: HostModule  # that holds the registration
    declaration: Declaration
    functions: tuple[tuple[HostModule, HostFunction], ...] = ()
    missing: str = ""
    arguments: tuple[str, ...] = ()
    keyword_only: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()
    keysets: tuple[HostFunction, ...] = ()
    given: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
