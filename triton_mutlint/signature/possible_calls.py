"""Calls in a kernel's source, as `possible_stores` follows them."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from triton_mutlint.signature.evaluate import UNKNOWN, plain
from triton_mutlint.signature.held import LOADED, NOTHING, SOME, Held, Object, constant, either, mixed, parameter
from triton_mutlint.signature.helpers import Helper
from triton_mutlint.signature.possible_ops import (
    ANSWERING,
    ANY,
    ASM,
    ASM_CALL,
    COMBINING,
    FACTS,
    LOADS,
    METHODS,
    NUMBERS,
    QUIET,
    SIZES,
    TYPING,
    WHOLE,
    loaded,
    masked_off,
    of_asm,
    reads,
    stores,
)
from triton_mutlint.signature.python_objects import fields_of, makes_objects, may_store, member, named_and_home

Env = dict[str, Held]


class Following(Protocol):
    """What knows the helpers, and what they do."""

    is_typed: bool
    is_sized: bool
    kept: dict[str, int]
    loads: set[str]

    def call(self, helper: Helper, env: Env) -> tuple[Held, frozenset[str]]: ...

    def helper(self, target: Any, name: str = "") -> Helper | None: ...


@dataclass(frozen=True, eq=False)
class _Bound:
    """A method of a value."""

    method: Helper
    owner: Held


class Calls:
    """The part of a walk over a function's body that applies functions to values."""

    def __init__(self, stores: Following, line: int) -> None:
        self.stores, self.line = stores, line
        self.stored: dict[str, int] = {}

    def eval(self, node: ast.expr) -> Held:
        """What an expression may hold."""
        raise NotImplementedError

    def member(self, owner: Held, name: str) -> Held:
        """`owner.name`."""
        self.stores.is_sized |= name in SIZES
        names = fields_of(owner.kinds[0].it) if len(owner.kinds) == 1 else ()
        if owner.items is not None and name in names[: len(owner.items)]:
            return owner.items[names.index(name)]
        if owner.functions and not owner.is_open:
            return either(*(of_global(member(f.it, name)) for f in owner.functions))
        methods = [self.stores.helper(member(kind.it, name)) for kind in owner.kinds]
        bound = [Held(functions=(Object(_Bound(m, owner)),)) for m in methods if m is not None]
        if bound and len(bound) == len(methods):
            return either(*bound)
        nested = (SOME,) if SOME in owner.kinds else ()
        field = NOTHING if name in FACTS and not owner.kinds else Held(owner.everything(), is_open=True, kinds=nested)
        return either(field, *bound)

    def overloaded(self, *values: Held) -> None:
        """An operator is applied to `values`: one of them may define what it does."""
        for kind in dict.fromkeys(k for v in values for k in v.kinds):
            if kind == SOME or any(self.stores.helper(member(kind.it, n)) for n in dir(kind.it) if n[:2] == "__"):
                self.store(mixed(values).roots)

    def call(self, node: ast.Call) -> Held:
        args: list[Held] = []
        named: dict[str, Held] = {}
        for argument in node.args:
            value = self.eval(argument.value if isinstance(argument, ast.Starred) else argument)
            if ANY in named or (isinstance(argument, ast.Starred) and not value.has_length):
                named[ANY] = mixed((value, named.get(ANY, NOTHING)))
            else:
                args.extend(value.items or () if isinstance(argument, ast.Starred) else (value,))
        for keyword in node.keywords:
            value = self.eval(keyword.value)
            named[keyword.arg or ANY] = value if keyword.arg else mixed((value, named.get(ANY, NOTHING)))
        if isinstance(node.func, ast.Attribute):
            method, owner = node.func.attr, self.eval(node.func.value)
            function = self.member(owner, method)
        else:
            method, owner, function = "", NOTHING, self.eval(node.func)
        if any(named_and_home(f.it)[0] == ASM_CALL for f in function.functions):
            self.spelled_out(node, args, named)
        found = [self.applied(f.it, args, named, method) for f in function.functions]
        if function.is_open or not found:
            found.append(self.unknown(method, owner, args, named, function).converted())
        return either(*found)

    def spelled_out(self, node: ast.Call, args: list[Held], named: dict[str, Held]) -> None:
        """Tell the operands of an inline asm apart, where the call itself lists them: nothing else has that list."""
        for keyword in node.keywords:
            if keyword.arg == "args":
                named["args"] = self.listed(keyword.value) or named["args"]
        if len(node.args) > 2 and not any(isinstance(a, ast.Starred) for a in node.args):
            args[2] = self.listed(node.args[2]) or args[2]

    def listed(self, node: ast.expr) -> Held | None:
        """The elements of a list that is written out."""
        if not isinstance(node, ast.List | ast.Tuple) or any(isinstance(e, ast.Starred) for e in node.elts):
            return None
        return Held(items=tuple(self.eval(e) for e in node.elts))

    def unknown(self, method: str, owner: Held, args: list[Held], named: Mapping[str, Held], function: Held) -> Held:
        """A call of a method of a value, or of what may be any function."""
        given = mixed((owner, *args, *named.values()))
        if owner.is_value and stores(method):
            self.store(frozenset() if masked_off(method, [owner, *args], named) else owner.everything())
            self.keep(given.roots - owner.everything())
            return LOADED
        if not owner.is_value or method not in METHODS:
            self.store(given.roots | function.everything())
            return replace(given, is_open=True, kinds=given.kinds if method else (SOME,))
        if method in COMBINING:
            self.combined(method, (NOTHING, *args), named, given.roots)
        self.load(owner.everything() if reads(method) else frozenset())
        return loaded(*args, *named.values()) if method == "load" else Held(given.roots)

    def applied(self, target: Any, args: list[Held], named: Mapping[str, Held], method: str = "") -> Held:
        """A call of a known object; `method` is its name as an attribute, which methods of tensors do not know."""
        if isinstance(target, _Bound):
            target, args = target.method, [target.owner, *args]
        helper = target if isinstance(target, Helper) else self.stores.helper(target)
        if helper is not None:
            returned, stored = self.stores.call(helper, _arguments(helper, args, named))
            self.store(stored)
            return returned
        return self.computed(target, args, named, method).converted()

    def computed(self, target: Any, args: list[Held], named: Mapping[str, Held], method: str) -> Held:
        """A call of what is no jit function."""
        name, home = named_and_home(target)
        if name in WHOLE and home.partition(".")[0] in QUIET:
            return mixed(value.number() for value in (*args, *named.values()))
        if isinstance(target, type):
            return self.made(target, args, named)
        everything = mixed((*args, *named.values()))
        given = everything.roots
        name = method if name == "wrapper" and method else name
        if home.partition(".")[0] not in QUIET:
            self.store(given)
            return replace(everything, is_open=True, kinds=(SOME,))
        sized = name == "len" and bool(given) and args[:1] != [] and not args[0].has_length
        self.stores.is_typed |= name in TYPING or sized
        if name in ANSWERING and home == "builtins":
            return NOTHING
        if stores(name):
            if not masked_off(name, args, named):
                self.store(args[0].everything() if args and ANY not in named else given)
            self.keep(given)
            return LOADED
        read = of_asm(args, named) if name == ASM_CALL else None
        if read is not None:
            self.load(given)
            self.store(read[0])
            self.keep(given - read[0] if read[0] else frozenset())
            return read[1]
        if name in ASM or home.startswith("triton.experimental"):
            self.store(given)
        self.combined(name, args, named, given)
        self.load(given if reads(name) else frozenset())
        if name in LOADS:
            return loaded(*args[1:], *named.values())
        return NOTHING if name in NUMBERS else Held(given) if home != "builtins" else everything

    def made(self, cls: type, args: list[Held], named: Mapping[str, Held]) -> Held:
        """An instance of a class."""
        if cls is tuple and len(args) == 1:
            return args[0]
        everything = mixed((*args, *named.values()))
        given, nested = everything.roots, bool(everything.kinds)
        fields = getattr(cls, "_fields", None)
        if fields is not None and len(args) + len(named) == len(fields) and set(named) <= set(fields[len(args):]):
            items = (*args, *(named[name] for name in fields[len(args):]))
            return Held(items=items, kinds=(Object(cls),))
        if may_store(cls):
            self.store(given)
        if cls.__module__.partition(".")[0] in QUIET and not nested:
            return Held(given)
        nested = nested or makes_objects(cls)
        return Held(given, is_open=True, kinds=(Object(cls), SOME) if nested else (Object(cls),))

    def combined(self, name: str, args: Sequence[Held], named: Mapping[str, Held], given: frozenset[str]) -> None:
        """Triton calls the functions among the arguments, to reduce or map the others."""
        for value in (*args, *named.values()):
            for function in value.functions:
                helper = self.stores.helper(function.it)
                if helper is not None:
                    self.applied(helper, [Held(given, is_open=True)] * len(helper.node.args.args), {})
        if name in COMBINING:
            key, index = COMBINING[name]
            combine = named[key] if key in named else args[index] if index < len(args) else NOTHING
            if combine.is_open or not combine.functions:
                self.store(given)

    def keep(self, roots: frozenset[str]) -> None:
        """It is put into memory, from where it may be loaded again."""
        for root in roots:
            self.stores.kept.setdefault(parameter(root), self.line)

    def load(self, roots: frozenset[str]) -> None:
        """It may be read from there."""
        self.stores.loads.update(map(parameter, roots))

    def store(self, roots: frozenset[str]) -> None:
        for root in roots:
            self.stored.setdefault(parameter(root), self.line)


def _arguments(helper: Helper, args: list[Held], named: Mapping[str, Held]) -> Env:
    formal = helper.node.args
    positional = (*formal.posonlyargs, *formal.args)
    rest = replace(mixed(named.values()) if ANY in named else NOTHING, is_open=True)
    told = {} if ANY in named else helper.defaults
    env = {a.arg: of_global(told[a.arg]) if a.arg in told else rest for a in (*positional, *formal.kwonlyargs)}
    env.update(zip((a.arg for a in positional), args, strict=False))
    env.update((name, value) for name, value in named.items() if name in env)
    if formal.vararg is not None:
        left = args[len(positional):]
        env[formal.vararg.arg] = mixed((rest, *left)) if ANY in named else Held(items=tuple(left))
    if formal.kwarg is not None:
        env[formal.kwarg.arg] = replace(mixed(named.values()), is_open=True)
    return env


def of_global(found: Any) -> Held:
    """What a name outside of the function holds."""
    if type(found).__name__ == "constexpr":
        found = getattr(found, "value", found)
    value = plain(found)
    if isinstance(value, tuple):
        kinds = (Object(type(value)),) if type(value) is not tuple else ()
        return Held(items=tuple(of_global(v) for v in value), kinds=kinds)
    if value is not UNKNOWN and type(value).__name__ != "dtype":
        return constant(value)
    return Held(is_open=True) if found is UNKNOWN else Held(functions=(Object(found),))
