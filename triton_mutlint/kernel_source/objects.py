"""What is known of the Python objects that a kernel's source names: modules, classes, functions."""

from __future__ import annotations

import dis
import functools
from collections.abc import Iterable, Mapping, Sequence
from inspect import signature
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

from triton_mutlint.types import TupleType, unwrap_constexpr

UNKNOWN: Any = type("Unknown", (), {"__repr__": lambda self: "UNKNOWN"})()
_PLAIN = (int, float, str, bool, tuple, type(None))
_SEMANTIC = {"_semantic", "_generator", "_builder"}


def plain(value: Any) -> Any:
    """A compile-time value: a number, text, tuple or dtype, also in a `tl.constexpr`; UNKNOWN for all else."""
    value = unwrap_constexpr(value)
    return value if isinstance(value, _PLAIN) or type(value).__name__ == "dtype" else UNKNOWN


def own(value: Any, name: str) -> Any:
    """An attribute an object holds itself: stand-ins answer, or raise, for every other name."""
    try:
        return object.__getattribute__(value, "__dict__").get(name)
    except AttributeError:
        return None


def member(target: Any, name: str) -> Any:
    """An attribute of a module or class; UNKNOWN for what a stand-in does not have."""
    try:
        return getattr(target, name, UNKNOWN)
    except Exception:  # a stand-in's own code runs in there
        return UNKNOWN


def named_and_home(target: Any) -> tuple[str, str]:
    """The name of a function, and its module's."""
    name, home = member(target, "__name__"), member(target, "__module__")
    return (name if isinstance(name, str) else ""), (home if isinstance(home, str) else "")


def fields_of(kind: Any) -> tuple[str, ...]:
    """The names of a namedtuple's elements, by its class or its type as an argument, or of an aggregate's fields."""
    if isinstance(kind, TupleType):
        return kind.fields
    names = member(kind, "_fields")
    if isinstance(names, tuple):
        return names
    return tuple(getattr(kind, "__annotations__", ())) or _set_by_constructor(kind)


def _set_by_constructor(cls: Any) -> tuple[str, ...]:
    """The attributes that the constructor of an aggregate sets: up to Triton 3.7 nothing else tells its fields."""
    start = next(iter(getattr(cls, "hash_attrs", ())), None)
    code = getattr(getattr(start, "fn", start), "__code__", None)
    steps = dis.get_instructions(code) if code is not None else ()
    return tuple(dict.fromkeys(str(step.argval) for step in steps if step.opname == "STORE_ATTR"))


def may_store(cls: type) -> bool:
    """Whether making an instance, which is Python and no kernel, asks for what a store needs."""
    for start in (_start(cls), member(cls, "__new__")):
        code = member(start, "__code__")
        own = code is not UNKNOWN and not named_and_home(start)[1].startswith("triton.")
        if own and _SEMANTIC & {*code.co_varnames, *code.co_names}:
            return True
    return False


def _start(cls: type) -> Any:
    """The constructor of an aggregate, which is kept only there up to Triton 3.7, or of another class."""
    return next(iter(getattr(cls, "hash_attrs", ())), None) or member(cls, "__init__")


def makes_objects(cls: type) -> bool:
    """Whether the constructor of an aggregate may set fields to instances or functions of its own choice."""
    start = _start(cls)
    code = getattr(start, "__code__", None)
    outside = getattr(start, "__globals__", {})
    return code is not None and any(name in outside and not isinstance(outside[name], ModuleType)
                                    for name in code.co_names)


def parameter_names(target: Any) -> tuple[str, ...]:
    """The names of a function's parameters."""
    return _parameter_names(target) if type(target) is FunctionType else _parameter_names.__wrapped__(target)


@functools.cache
def _parameter_names(target: Any) -> tuple[str, ...]:
    try:
        return tuple(signature(target).parameters)
    except (TypeError, ValueError):
        return ()


def stored_through(target: Any, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """The argument that a function of Triton stores through: `ptr`, if it has such a parameter, or the first."""
    names = parameter_names(target) or ("",)
    index = names.index("ptr") if "ptr" in names else 0
    return args[index] if index < len(args) else named.get(names[index])


class _Token:
    """Stands for an argument, and can only be handed on."""


def fields_given(cls: type, count: int, names: Iterable[str]) -> dict[str, int | str] | None:
    """Which argument each field of a new instance holds, by its place or name; None if fields hold anything else.

    The constructor of an aggregate is run with tokens, if it decides nothing.
    """
    found: Any = next(iter(getattr(cls, "hash_attrs", ())), None)
    start = getattr(found, "fn", found)
    code = member(start, "__code__")
    is_own = not named_and_home(start)[1].startswith("triton.")
    if code is UNKNOWN or (is_own and any("JUMP" in step.opname for step in dis.get_instructions(code))):
        return None
    keys: list[int | str] = [*range(count), *names]
    tokens = {key: _Token() for key in keys}
    made = SimpleNamespace()
    try:
        start(made, *(tokens[i] for i in range(count)), **{n: tokens[n] for n in tokens if isinstance(n, str)})
    except Exception:  # the project's own code
        return None
    held = {name: getattr(value, "value", value) for name, value in vars(made).items()}
    given = {name: key for name, value in held.items() for key, token in tokens.items() if token is value}
    return given if given.keys() == held.keys() == set(fields_of(cls)) else None
