"""The types that the host side's parts share. Nothing here is executed code: all of it comes from syntax trees."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import Enum

from triton_mutlint.host.modules import HostModule
from triton_mutlint.model import Location

HostFunction = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Form(str, Enum):
    """How an op is registered."""

    CUSTOM_OP = "custom_op"  # torch.library.custom_op, as decorator or call
    TRITON_OP = "triton_op"  # torch.library.triton_op
    DEFINE = "define"  # a schema string and an implementation
    REGISTRAR = "registrar"  # a library's own function around one of these


@dataclass(frozen=True)
class Problem:
    """What is wrong with a declaration as written (TML105)."""

    message: str
    location: Location
    help: str = ""


@dataclass(frozen=True)
class Declaration:
    """What an op says it mutates.

    `names` are the arguments it declares, in the order written, or None where that is not known:
    computed at run time, or `"unknown"`, which declares that any may be (`any_may`). `stated` is false
    where the declaration was left out and a default holds. `place` is that of the list, the schema
    or, where it was left out, the registration. `span` is the list's (line, column, end line, end
    column) in its file as `ast` counts, None where there is no literal list to edit.
    """

    names: tuple[str, ...] | None
    place: Location
    any_may: bool = False
    stated: bool = True
    span: tuple[int, int, int, int] | None = None
    problems: tuple[Problem, ...] = ()
    reason: str = ""  # why `names` is None


@dataclass(frozen=True, eq=False)
class OpRegistration:
    """One op: its declaration and the Python functions that implement it.

    `functions` are where each implementation stands; there are several where device types have
    their own, and none where the implementation could not be found (`missing` says why).
    """

    name: str  # "ns::op"; "<name>" with what is known where it is computed
    form: Form
    location: Location  # of the decorator or call that registers it
    module: HostModule  # that holds the registration
    declaration: Declaration
    functions: tuple[tuple[HostModule, HostFunction], ...] = ()
    missing: str = ""
