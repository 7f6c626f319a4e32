"""What classes define that are not of the project: those of packages that are not there, and Python's own."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Collection
from enum import IntEnum
from functools import lru_cache
from types import FunctionType

from triton_mutlint.host.modules.module import External
from triton_mutlint.host.modules.modules import in_python
from triton_mutlint.host.values.values import Attribute, ClassValue, FunctionValue, Thing, Value
from triton_mutlint.source.finder import is_real

_KNOWN = sys.stdlib_module_names | {"numpy", "torch", "triton", "typing_extensions"}
_PYTHON = (FunctionType, classmethod, staticmethod, property)


class Inherited(IntEnum):
    """What a method may do that a class has from bases that are not of the project."""

    NOTHING = 0  # there is none, or one in C, which calls no method of the class
    CALLS = 1  # it is Python's own, and may call any method of the class
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
    module, _, last = name.rpartition(".")
    if name.partition(".")[0] not in sys.stdlib_module_names:
        return Inherited.NOTHING
    if module != "builtins" and not is_real(module):
        return Inherited.CALLS
    made = getattr(importlib.import_module(module), last, None)
    orders = made.__mro__ if isinstance(made, type) else ()
    found = (next((vars(one)[method] for one in orders if method in vars(one)), None) for method in methods)
    return Inherited.CALLS if any(isinstance(one, _PYTHON) for one in found) else Inherited.NOTHING
