"""What classes define that are not of the project: those of packages that are not there, and Python's own."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Collection
from enum import IntEnum
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

from triton_mutlint.host.modules.module import External
from triton_mutlint.host.modules.modules import in_python
from triton_mutlint.host.values.values import Attribute, ClassValue, FunctionValue, Thing, Value
from triton_mutlint.source.finder import is_real

_KNOWN = sys.stdlib_module_names | {"numpy", "torch", "triton", "typing_extensions"}
# With these, code may ask for an attribute by a name that is not in its text.
_COMPUTING = frozenset({"getattr", "__getattribute__", "vars", "__dict__", "dir", "getmembers", "attrgetter",
                        "methodcaller", "eval", "exec"})


class Inherited(IntEnum):
    """What a method may do that a class has from bases that are not of the project."""

    NOTHING = 0  # there is none, or one in C, which calls no method of the class
    CALLS = 1  # it is Python's own, and may call methods of the class
    ANYTHING = 2


STRANGE = External("<what a package gives that is not there>")


def is_strange(item: Thing) -> bool:
    """Whether it is of a package that is not there: a name in it, what a call of one gives, or an attribute of that."""
    if isinstance(item, Attribute):
        return any(map(is_strange, item.owner.things))
    return isinstance(item, External) and item.name.partition(".")[0] not in _KNOWN


def written_out(item: Thing) -> Thing:
    """A class or function of the library that is followed as code of the project is; anything else is itself."""
    found = in_python(item.name) if isinstance(item, External) else None
    if found is None:
        return item
    module, node = found
    return ClassValue(module, node) if isinstance(node, ast.ClassDef) else FunctionValue(module, node)


def inherited(bases: Collection[Value], names: Collection[str]) -> Inherited:
    """The most that a class with these bases may have one of the methods do."""
    if any(base.cells or base.roots or not base.things for base in bases):
        return Inherited.ANYTHING
    return max((_inherited(written_out(item), tuple(names)) for base in bases for item in base.things),
               default=Inherited.NOTHING)


def _inherited(base: Thing, names: tuple[str, ...]) -> Inherited:
    if isinstance(base, ClassValue):
        return Inherited.NOTHING
    return Inherited.ANYTHING if not isinstance(base, External) or is_strange(base) else _in_library(base.name, names)


@lru_cache(maxsize=1024)
def _in_library(name: str, methods: tuple[str, ...]) -> Inherited:
    """The same for a class by its name; those of torch and numpy call of a class what is followed elsewhere."""
    if name.partition(".")[0] not in sys.stdlib_module_names:
        return Inherited.NOTHING
    order = _order_of(name)
    if order is None or any(_functions(_member(order, method)) for method in methods):
        return Inherited.CALLS
    return Inherited.NOTHING


def may_call(bases: Collection[Value], methods: Collection[str], name: str) -> bool:
    """Whether one of these methods, where Python's library wrote it, may call `name` of a class with these bases."""
    items = {item.name for base in bases for item in base.things if isinstance(item, External)}
    called = [_mentioned(item, tuple(methods)) for item in items if _in_library(item, tuple(methods))]
    return name[:2] == "__" or any(names is None or name in names for names in called)


@lru_cache(maxsize=1024)
def _mentioned(name: str, methods: tuple[str, ...]) -> frozenset[str] | None:
    """The names in the code of these methods and of what it mentions in turn; None where it may compute one."""
    order = _order_of(name)
    if order is None:
        return None
    pending = [function for method in methods for function in _functions(_member(order, method))]
    seen, names = set[FunctionType](), set[str]()
    while pending:
        function = pending.pop()
        if function not in seen:
            seen.add(function)
            new = _names_in(function.__code__)
            names |= new
            for each in new:
                pending += _functions(_member(order, each)) + _functions(function.__globals__.get(each))
    return None if names & _COMPUTING else frozenset(names)


def _order_of(name: str) -> tuple[type, ...] | None:
    """The classes that members of a class of Python's library are looked up in, none where there is no such class.

    None where its module is not imported here.
    """
    module, _, last = name.rpartition(".")
    if module != "builtins" and not is_real(module):
        return None
    made = getattr(importlib.import_module(module), last, None)
    return made.__mro__ if isinstance(made, type) else ()


def _member(order: tuple[type, ...], name: str) -> Any:
    return next((vars(one)[name] for one in order if name in vars(one)), None)


def _functions(made: Any) -> list[FunctionType]:
    """The functions written in Python that are, or are behind, what a class or module holds under a name."""
    if isinstance(made, type):
        return [function for one in vars(made).values() if not isinstance(one, type) for function in _functions(one)]
    parts = (made.fget, made.fset, made.fdel) if isinstance(made, property) else (getattr(made, "__func__", made),)
    return [part for part in parts if isinstance(part, FunctionType)]


def _names_in(code: CodeType) -> set[str]:
    return set(code.co_names).union(*(_names_in(one) for one in code.co_consts if isinstance(one, CodeType)))
