"""Calls in a kernel's source: what they may touch, and what they give."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from triton_mutlint.kernel_source.accesses import Accesses, by_parameter, partitions, spell_out
from triton_mutlint.kernel_source.folding import folded
from triton_mutlint.kernel_source.helpers import Helper, any_of, bound_arguments
from triton_mutlint.kernel_source.objects import (
    fields_given,
    fields_of,
    makes_objects,
    may_store,
    member,
    named_and_home,
)
from triton_mutlint.kernel_source.operations import (
    ALLOCATES,
    ANSWERING,
    ANY,
    ASM,
    ASM_CALL,
    CHECKS,
    COMBINING,
    FACTS,
    LOADS,
    NUMBERS,
    PURE,
    QUIET,
    SIZES,
    SPECIALIZE,
    VENDORS,
    WHOLE,
    loaded,
    mapped_elements,
    masked_off,
    may_act,
    of_asm,
    reads,
    stores,
    unpacked,
    with_fields,
)
from triton_mutlint.kernel_source.slots import merged
from triton_mutlint.kernel_source.values import (
    NO_ROOTS,
    NOTHING,
    SOME,
    MayBe,
    Object,
    either,
    made,
    mixed,
)
from triton_mutlint.types import Site


@dataclass(frozen=True, eq=False)
class _Bound:
    """A method of a value."""

    method: Helper
    owner: MayBe


class Calls(Accesses):
    """The part of a walk over a function's body that applies functions to values."""

    node: ast.Call | None = None  # the call that is followed

    def eval(self, node: ast.expr) -> MayBe:
        """What an expression may hold."""
        raise NotImplementedError

    def instance(self, cls: type, args: Sequence[MayBe], named: Mapping[str, MayBe]) -> MayBe | None:
        """An instance of an aggregate whose fields are arguments of its constructor."""
        found = None if ANY in named or may_store(cls) else fields_given(cls, len(args), named)
        if found is None:
            return None
        keys = [found[name] for name in fields_of(cls)]
        items = tuple(args[key] if isinstance(key, int) else named[key] for key in keys)
        return MayBe(items=items, kinds=(Object(cls),))

    def member(self, owner: MayBe, name: str) -> MayBe:
        """`owner.name`."""
        if name == "value" and owner.is_known:
            return owner
        if name in SIZES:
            self.done("size", NO_ROOTS)
        names = fields_of(owner.kinds[0].it) if len(owner.kinds) == 1 else ()
        if owner.items is not None and name in names[: len(owner.items)]:
            return owner.items[names.index(name)]
        if owner.functions and not owner.is_open:
            return either(*(self.walk.outside.attribute(f.it, name) for f in owner.functions))
        methods = [self.walk.helper(member(kind.it, name)) for kind in owner.kinds]
        bound = [MayBe(functions=(Object(_Bound(m, owner)),)) for m in methods if m is not None]
        if bound and len(bound) == len(methods):
            return either(*bound)
        nested = (SOME,) if SOME in owner.kinds else ()
        field = NOTHING if name in FACTS and not owner.kinds else MayBe(owner.everything(), is_open=True, kinds=nested)
        return either(field, *bound)

    def overloaded(self, *values: MayBe) -> None:
        """An operator is applied to `values`: one of them may define what it does."""
        for kind in dict.fromkeys(k for v in values for k in v.kinds):
            if kind == SOME or any(self.walk.helper(member(kind.it, n)) for n in dir(kind.it) if n[:2] == "__"):
                self.done("store", mixed(values).roots)

    def call(self, node: ast.Call) -> MayBe:
        args: list[MayBe] = []
        named: dict[str, MayBe] = {}
        for argument in node.args:
            value = self.eval(argument.value if isinstance(argument, ast.Starred) else argument)
            is_spread = isinstance(argument, ast.Starred)
            if ANY in named or (is_spread and not value.has_length):
                named[ANY] = any_of(value, named)
            else:
                args.extend((value.items or ()) if is_spread else (value,))
        for keyword in node.keywords:
            value = self.eval(keyword.value)
            named[keyword.arg or ANY] = value if keyword.arg else any_of(value, named)
        if isinstance(node.func, ast.Attribute):
            method, owner = node.func.attr, self.eval(node.func.value)
            function = self.member(owner, method)
        else:
            method, owner, function = "", NOTHING, self.eval(node.func)
        if ASM_CALL in (names := [named_and_home(f.it)[0] for f in function.functions]):
            spell_out(node, args, named, self.eval)
        self.at, self.node = self.place(node), node
        self.show(node)
        if SPECIALIZE in names:
            parts = [self.applied(target, given, {}) for target, given in partitions(node, self.eval)]
            if parts:
                return parts[0]
        found = [self.applied(f.it, args, named, method) for f in function.functions]
        if function.is_open or not found:
            found.append(self.unknown(method, owner, args, named, function).converted())
        return either(*found)

    def unknown(self, method: str, owner: MayBe, args: list[MayBe], named: Mapping[str, MayBe],
                function: MayBe) -> MayBe:
        """A call of a method of a value, or of what may be any function."""
        value = self.anything_called(method, owner, args, named, function)
        return self.show(self.node).method(function, owner, method, args, named, value)

    def anything_called(self, method: str, owner: MayBe, args: list[MayBe], named: Mapping[str, MayBe],
                function: MayBe) -> MayBe:
        given = mixed((owner, *args, *named.values()))
        if stores(method):
            self.consult(*args, *named.values())
        if owner.is_value and stores(method):
            if not masked_off(method, [owner, *args], named):
                self.write(owner.everything())
            self.keep(given.roots - owner.everything())
            return loaded(given)
        if not owner.is_value or method not in PURE:
            self.store(given.roots | function.everything())
            return replace(given, is_open=True, kinds=given.kinds if method else (SOME,))
        if method in COMBINING:
            self.combined(method, (NOTHING, *args), named, given)
        self.load(owner.everything() if reads(method) else frozenset())
        return loaded(owner, *args, *named.values()) if method == "load" else MayBe(given.roots)

    def applied(self, target: Any, args: list[MayBe], named: Mapping[str, MayBe], method: str = "") -> MayBe:
        """A call of a known object; `method` is its name as an attribute, which methods of tensors do not know."""
        if isinstance(target, _Bound):
            target, args = target.method, [target.owner, *args]
        helper = target if isinstance(target, Helper) else self.walk.helper(target)
        if helper is not None:
            done = self.walk.call(helper, bound_arguments(helper, args, named), self)
            self.effects += done.writes
            self.consulted |= done.consulted
            self.sites.update((root, Site(site.kind, (self.at, *site.path))) for root, site in done.sites)
            return done.returned
        return self.computed(target, args, named, method).converted()

    def computed(self, target: Any, args: list[MayBe], named: Mapping[str, MayBe], method: str) -> MayBe:
        """A call of what is no jit function."""
        name, home = named_and_home(target)
        is_copy = name == "aggregate_replace"
        value = with_fields(args, named) if is_copy else self.foreign(target, args, named, method)
        if stores(method or name) or stores(name) or name in CHECKS or name == ASM_CALL:
            self.consult(*args, *named.values())
        is_known = home.partition(".")[0] in QUIET or type(target).__name__ == "ConstexprFunction"
        if value.items is not None or (isinstance(target, type) and not is_known):
            return value
        if home.startswith(VENDORS) and ANY not in named:
            args, named = [], by_parameter(target, args, named)
        return self.show(self.node).called(name if is_known else "", args, named, value)

    def foreign(self, target: Any, args: list[MayBe], named: Mapping[str, MayBe], method: str) -> MayBe:
        """What a call of what is no jit function may touch, and what it may give."""
        name, home = named_and_home(target)
        found = None if named else folded(target, args)
        if found is not None:
            return found if self.walk.outside.is_settled(target) else MayBe(is_open=True)
        everything = mixed((*args, *named.values()))
        if name in WHOLE and home.partition(".")[0] in QUIET:
            return replace(mixed(value.number() for value in (*args, *named.values())), kinds=())
        if isinstance(target, type):
            return self.made(target, args, named)
        given = everything.roots
        name = method if name == "wrapper" and method else name
        if home.partition(".")[0] not in QUIET:
            self.store(given)
            return replace(everything, is_open=True, kinds=(SOME,))
        self.asked(name, args, given)
        if name in ANSWERING and home == "builtins":
            return NOTHING
        if stores(name):
            self.stored(target, name, args, named, given)
            return loaded(everything)
        read = of_asm(args, named) if name == ASM_CALL else None
        if read is not None:
            self.load(given)
            self.store(read[0])
            self.done("asm", NO_ROOTS)
            self.keep(given - read[0] if read[0] else frozenset())
            return read[1]
        if name in ASM or may_act(target, name, home):
            self.write(given)
        if name in ALLOCATES:  # shared memory, which may be filled at once
            self.keep(given)
            return NOTHING
        if name in CHECKS and args:
            self.checked(args[0])
        value = self.combined(name, args, named, MayBe(given) if home != "builtins" else everything)
        self.load(given if reads(name) else frozenset())
        if name in LOADS:
            return loaded(args[0] if args else everything, *args[1:], *named.values())
        return NOTHING if name in NUMBERS else value

    def made(self, cls: type, args: list[MayBe], named: Mapping[str, MayBe]) -> MayBe:
        """An instance of a class."""
        if (cls is tuple or cls.__name__ == "constexpr") and len(args) == 1:
            return args[0]
        found = self.instance(cls, args, named) if cls.__module__.partition(".")[0] not in QUIET else None
        if found is not None and not hasattr(cls, "_fields"):
            return found
        everything = mixed((*args, *named.values()))
        given, nested = everything.roots, bool(everything.kinds)
        fields = getattr(cls, "_fields", None)
        if fields is not None and len(args) + len(named) == len(fields) and set(named) <= set(fields[len(args):]):
            items = (*args, *(named[name] for name in fields[len(args):]))
            return MayBe(items=items, kinds=(Object(cls),))
        if may_store(cls):
            self.store(given)
        if cls.__module__.partition(".")[0] in QUIET and not nested:
            return MayBe(given)
        nested = nested or makes_objects(cls)
        return MayBe(given, is_open=True, kinds=(Object(cls), SOME) if nested else (Object(cls),))

    def combined(self, name: str, args: Sequence[MayBe], named: Mapping[str, MayBe], given: MayBe) -> MayBe:
        """Triton calls the functions among the arguments, to reduce or map the others: what they give, else `given`."""
        every = (*args, *named.values())
        if not any(value.functions or value.is_open for value in every):
            return given
        values = (value for value in every if not value.has_objects())
        parts = MayBe(given.roots, is_open=True, trace=merged(made(values)))
        mapped, pack = mapped_elements(name, args, named)
        found = []
        node, self.node = self.node, None
        for value in every:
            for function in value.functions:
                if (helper := self.walk.helper(function.it)) is not None:
                    found.append(self.applied(helper, mapped or [parts] * len(helper.node.args.args), {}))
        self.node = node
        if name in COMBINING:
            key, index = COMBINING[name]
            combine = named[key] if key in named else args[index] if index < len(args) else NOTHING
            self.show(node).passed(combine, (parts, parts))
            if combine.is_open or not combine.functions:
                self.store(given.roots)
            elif mapped and len(found) == len(combine.functions):
                return either(*(unpacked(each, pack) for each in found))
        return given
