"""Calls in a kernel's source, as `possible_stores` follows them."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from triton_mutlint.signature.evaluate import UNKNOWN, plain
from triton_mutlint.signature.held import NOTHING, Held, Object, constant, either, mixed
from triton_mutlint.signature.helpers import Helper

ANY = "**"  # stands for whichever parameters `*args` and `**kwargs` go to
_STORING = ("store", "scatter", "atomic_", "_experimental_descriptor_store", "_experimental_device_tensormap")
_QUIET = frozenset({"triton", "builtins", "math", "operator"})  # modules whose other functions store nothing
_ASM = frozenset({"inline_asm_elementwise", "extern_elementwise"})
_LOADED = frozenset({"load", "load_tensor_descriptor", "_experimental_descriptor_load", "dot", "dot_scaled",
                     "program_id", "num_programs", "rand", "randn", "randint", "randint4x", "rand4x", "randn4x"})
_FACTS = frozenset({"dtype", "type", "shape", "element_ty", "scalar", "numel", "primitive_bitwidth", "itemsize"})
_METHODS = frozenset({"to", "cast", "view", "reshape", "expand_dims", "broadcast_to", "trans", "permute", "split",
                      "load", "gather", "advance", "T", "ravel", "sum", "max", "min", "argmax", "argmin", "reduce",
                      "associative_scan", "cumsum", "cumprod", "sort", "flip", "histogram", "item", "abs", "ceil",
                      "floor", "exp", "exp2", "log", "log2", "sin", "cos", "sqrt", "sqrt_rn", "rsqrt", "erf", "sigmoid",
                      "softmax", "xor_sum", "reduce_or", "cdiv", "logical_and", "logical_or", "is_ptr", "is_floating",
                      "is_int", "is_block", "startswith", "endswith", "lower", "upper", "format", "get", "index",
                      "count", "is_fp8", "is_fp16", "is_bf16", "is_fp32", "is_fp64"})

Env = dict[str, Held]


class Following(Protocol):
    """What knows the helpers, and what they do."""

    is_typed: bool

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
        if owner.kind is not None:
            method = self.stores.helper(_member(owner.kind.it, name))
            if method is not None:
                return Held(functions=(Object(_Bound(method, owner)),))
        elif owner.functions and not owner.is_open:
            return either(*(of_global(_member(f.it, name)) for f in owner.functions))
        return NOTHING if name in _FACTS else Held(owner.everything(), is_open=True)

    def call(self, node: ast.Call) -> Held:
        args: list[Held] = []
        named: dict[str, Held] = {}
        for argument in node.args:
            value = self.eval(argument.value if isinstance(argument, ast.Starred) else argument)
            if not isinstance(argument, ast.Starred):
                args.append(value)
            elif value.items is not None and ANY not in named:
                args.extend(value.items)
            else:
                named[ANY] = mixed((value, named.get(ANY, NOTHING)))
        for keyword in node.keywords:
            value = self.eval(keyword.value)
            named[keyword.arg or ANY] = value if keyword.arg else mixed((value, named.get(ANY, NOTHING)))
        if isinstance(node.func, ast.Attribute):
            method, owner = node.func.attr, self.eval(node.func.value)
            function = self.member(owner, method)
        else:
            method, owner, function = "", NOTHING, self.eval(node.func)
        found = [self.applied(f.it, args, named) for f in function.functions]
        if function.is_open or not found:
            found.append(self.unknown(method, owner, args, named, function))
        return either(*found)

    def unknown(self, method: str, owner: Held, args: list[Held], named: Mapping[str, Held], function: Held) -> Held:
        """A call of a method of a value, or of what may be any function."""
        given = mixed((owner, *args, *named.values()))
        if _stores(method):
            self.store(owner.everything())
            return NOTHING
        if method not in _METHODS:
            self.store(given.roots | function.everything())
        return NOTHING if method == "load" else Held(given.roots, is_open=True)

    def applied(self, target: Any, args: list[Held], named: Mapping[str, Held]) -> Held:
        """A call of a known object."""
        if isinstance(target, _Bound):
            target, args = target.method, [target.owner, *args]
        helper = target if isinstance(target, Helper) else self.stores.helper(target)
        if helper is not None:
            returned, stored = self.stores.call(helper, _arguments(helper.node.args, args, named))
            self.store(stored)
            return returned
        given = mixed((*args, *named.values())).roots
        if isinstance(target, type):
            return self.made(target, args, named)
        name, home = _named(target)
        if home.partition(".")[0] not in _QUIET:
            self.store(given)
            return Held(given, is_open=True)
        self.stores.is_typed |= name == "isinstance"
        if _stores(name):
            self.store(args[0].everything() if args else given)
            return NOTHING
        if name in _ASM:
            self.store(given)
        self.combined((*args, *named.values()), given)
        return NOTHING if name in _LOADED else Held(given)

    def made(self, cls: type, args: list[Held], named: Mapping[str, Held]) -> Held:
        """An instance of a class."""
        if cls is tuple and len(args) == 1:
            return args[0]
        given = mixed((*args, *named.values())).roots
        start = self.stores.helper(_member(cls, "__init__"))
        if start is not None:
            _, stored = self.stores.call(start, _arguments(start.node.args, [NOTHING, *args], named))
            self.store(stored)
        return Held(given, is_open=True, kind=Object(cls))

    def combined(self, values: tuple[Held, ...], given: frozenset[str]) -> None:
        """Triton calls the functions among `values`, to reduce or map the others."""
        for value in values:
            for function in value.functions:
                helper = self.stores.helper(function.it)
                if helper is not None:
                    self.applied(helper, [Held(given, is_open=True)] * len(helper.node.args.args), {})

    def store(self, roots: frozenset[str]) -> None:
        for root in roots:
            self.stored.setdefault(root, self.line)


def _arguments(formal: ast.arguments, args: list[Held], named: Mapping[str, Held]) -> Env:
    positional = (*formal.posonlyargs, *formal.args)
    defaults: dict[str, ast.expr | None] = dict(
        zip((a.arg for a in reversed(positional)), reversed(formal.defaults), strict=False))
    defaults.update(zip((a.arg for a in formal.kwonlyargs), formal.kw_defaults, strict=True))
    rest = Held(mixed(named.values()).roots if ANY in named else frozenset(), is_open=True)
    env = {}
    for argument in (*positional, *formal.kwonlyargs):
        default = defaults.get(argument.arg)
        told = isinstance(default, ast.Constant) and ANY not in named
        env[argument.arg] = constant(default.value) if told and isinstance(default, ast.Constant) else rest
    env.update(zip((a.arg for a in positional), args, strict=False))
    env.update((name, value) for name, value in named.items() if name in env)
    if formal.vararg is not None:
        env[formal.vararg.arg] = Held(items=tuple(args[len(positional):]))
    return env


def of_global(found: Any) -> Held:
    """What a name outside of the function holds."""
    value = plain(found)
    if isinstance(value, tuple):
        return Held(items=tuple(of_global(v) for v in value))
    if value is not UNKNOWN and type(value).__name__ != "dtype":
        return constant(value)
    return Held(is_open=True) if found is UNKNOWN else Held(functions=(Object(found),))


def _member(target: Any, name: str) -> Any:
    """An attribute of a module or class; UNKNOWN for what a stand-in does not have."""
    try:
        return getattr(target, name, UNKNOWN)
    except Exception:  # a stand-in's own code runs in there
        return UNKNOWN


def _named(target: Any) -> tuple[str, str]:
    """The name of a function, and its module's."""
    name, home = _member(target, "__name__"), _member(target, "__module__")
    return (name if isinstance(name, str) else ""), (home if isinstance(home, str) else "")


def _stores(name: str) -> bool:
    return name.startswith(_STORING) and not name.endswith(("_load", "_poll"))
