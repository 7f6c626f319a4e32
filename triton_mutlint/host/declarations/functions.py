"""The functions that implement an op: which they are, or why that is not known; what their parameters hold."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import lru_cache

from triton_mutlint.host.model import Implementation
from triton_mutlint.host.modules.module import Definition, External, HostFunction, HostModule
from triton_mutlint.host.registrations.things import Opaque
from triton_mutlint.host.state.state import State
from triton_mutlint.host.values.values import FunctionValue, Partial, Sort, Thing, Value, thing
from triton_mutlint.source.walking import dotted

# What annotations of arguments consist of: of those that hold no tensor, and of those that hold others.
PLAIN_TYPES = frozenset({
    "int", "float", "bool", "str", "complex", "bytes", "None", "dtype", "device", "layout", "memory_format", "Number",
    "number", "Scalar", "ScalarType", "SymInt", "SymFloat", "SymBool", "Generator", "Size", "Literal", "constexpr",
})  # fmt: skip
CONTAINERS = frozenset({"List", "list", "Tuple", "tuple", "Sequence", "Iterable", "TensorList", "Collection"})
AROUND = CONTAINERS | {"Optional", "Union"}


def functions_of(values: Sequence[tuple[Value, State, bool]], path: Sequence[ast.AST] = ()
                 ) -> tuple[tuple[Implementation, ...], str]:
    """The functions that `values` are, and why others are not among them ("" if all are).

    Each comes with whether it takes dispatch keys. `path` are the calls by which they are registered, decorators
    among them.
    """
    found: dict[int, Implementation] = {}
    missing = ""
    for value, state, keys in values:
        for one in sorted(value.things, key=_order):
            inner, reason = _function(one, state, path)
            found.update((id(function.node), replace(function, takes_keys=keys)) for function in inner)
            missing = missing or reason
        for cell in sorted(value.cells, key=repr):
            content = state.cell(cell)
            owner = content.owner if content is not None else None
            node = next((n for n in owner.node.body if isinstance(n, ast.FunctionDef) and n.name == "__call__"), None) \
                if owner is not None else None
            if owner is not None and node is not None:
                bound = without(node, 1)
                found[id(bound)] = Implementation(
                    owner.module, bound, Value(cells=frozenset([cell])), state, takes_keys=keys)
            else:
                name = owner.node.name if owner is not None else ""
                missing = missing or (f"its function is an instance of `{name}`" if name else _NOT_KNOWN)
        other = value.constant is not None and value.constant[1] is not None
        if other or (value.constant is None and value.kind & ~Sort.NONE) or value == Value():
            missing = missing or _NOT_KNOWN
    return tuple(found.values()), missing


_NOT_KNOWN = "its function is not known"


def _order(one: Thing) -> tuple[str, int]:
    node = getattr(one, "node", None)
    return type(one).__name__, getattr(node, "lineno", 0)


def _function(one: Thing, state: State, path: Sequence[ast.AST]) -> tuple[tuple[Implementation, ...], str]:
    """The function itself, of an op or of a partial; or why there is none."""
    if isinstance(one, FunctionValue):
        decorators = getattr(one.node, "decorator_list", [])
        last = max((i for i, d in enumerate(decorators) if any(d is step for step in path)), default=-1)
        where, node = _signed(one, state)
        return (Implementation(where, node, thing(one), state, tuple(decorators[last + 1:])),), ""
    if isinstance(one, Partial):
        inner, reason = functions_of([(one.function, state, False)], path)
        named = frozenset(name for name, _ in one.keywords)
        return tuple(replace(function, node=without(function.node, len(one.positional), named), value=thing(one))
                     for function in inner), reason
    if isinstance(one, External):
        module, _, name = one.name.rpartition(".")
        return (), f"its function is `{name}` of `{module}`, whose source is not at hand"
    return (), f"{_NOT_KNOWN}: {one.reason}" if isinstance(one, Opaque) else _NOT_KNOWN


def _signed(one: FunctionValue, state: State) -> tuple[HostModule, HostFunction]:
    """The function whose signature Python shows for one: that which it wraps, by `functools.wraps`."""
    for decorator in getattr(one.node, "decorator_list", ()):
        if isinstance(decorator, ast.Call) and dotted(decorator.func)[-1:] == ("wraps",) and decorator.args:
            name, scope = dotted(decorator.args[0]), one.scope
            while scope is not None and len(name) == 1:
                held = state.names.get(scope, {}).get(name[0])
                inner = [t for t in held.things if isinstance(t, FunctionValue)] if held is not None else []
                if len(inner) == 1 and inner[0].node is not one.node:
                    return _signed(inner[0], state)
                scope = state.scopes.get(scope)
    return one.module, one.node


@lru_cache(maxsize=4096)  # a function stays one
def without(node: HostFunction, count: int, named: frozenset[str] = frozenset()) -> HostFunction:
    """A function as those see it for whom its first parameters, and some others by name, are bound."""
    if not count and not named:
        return node
    made = copy(node)
    a = made.args = copy(node.args)
    given = dict(zip([p.arg for p in (*a.posonlyargs, *a.args)][::-1], a.defaults[::-1], strict=False))
    left = max(0, count - len(a.posonlyargs))
    a.posonlyargs = a.posonlyargs[count:]
    a.args = [p for p in a.args[left:] if p.arg not in named]
    a.defaults = [given[p.arg] for p in (*a.posonlyargs, *a.args) if p.arg in given]
    kept = [(p, d) for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True) if p.arg not in named]
    a.kwonlyargs, a.kw_defaults = [p for p, _ in kept], [d for _, d in kept]
    return made


# --------------------------------------------------------------------------- parameters


def parameters(function: HostFunction) -> tuple[ast.arg, ...]:
    """The parameters of a function, those for any further arguments left out."""
    a = function.args
    return (*a.posonlyargs, *a.args, *a.kwonlyargs)


def takes_more(function: HostFunction) -> bool:
    """Whether it takes arguments that its signature does not name."""
    return function.args.vararg is not None or function.args.kwarg is not None


def is_plain_scalar(module: HostModule, parameter: ast.arg) -> bool:
    """Whether the annotation says that a parameter holds no tensor: it consists of names of types that hold none."""
    if parameter.annotation is None:
        return False
    names = set(words(parameter.annotation))
    own = any(isinstance(bound, Definition) for name in names for bound in module.bindings.get(name, ()))
    return not own and names <= PLAIN_TYPES | AROUND - {"TensorList"} and bool(names - {"None", "Optional", "Union"})


def words(annotation: ast.expr) -> Iterator[str]:
    """The names of the types in an annotation, without those of the modules that they are taken from."""
    if isinstance(annotation, ast.Name):
        yield annotation.id
    elif isinstance(annotation, ast.Attribute):
        yield annotation.attr
    elif isinstance(annotation, ast.Constant):
        if isinstance(annotation.value, str):
            yield from re.findall(r"\w+", annotation.value)
        elif annotation.value is None:
            yield "None"
    elif isinstance(annotation, ast.Subscript) and next(words(annotation.value), "") == "Literal":
        yield "Literal"
    else:
        for child in ast.iter_child_nodes(annotation):
            if isinstance(child, ast.expr):
                yield from words(child)
