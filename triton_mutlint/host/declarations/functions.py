"""The functions that implement an op: which they are, or why that is not known; what their parameters hold."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from triton_mutlint.host.modules.module import Definition, External, HostFunction, HostModule
from triton_mutlint.host.registrations.things import Opaque, Registered
from triton_mutlint.host.state.state import State
from triton_mutlint.host.values.values import FunctionValue, Partial, Sort, Thing, Value

Found = tuple[HostModule, HostFunction]

# What annotations of parameters that hold no tensor consist of.
_CONTAINERS = frozenset({"Optional", "Union", "List", "Sequence", "Tuple", "list", "tuple"})
_SCALARS = _CONTAINERS | {
    "int", "float", "bool", "str", "complex", "bytes", "None", "dtype", "device", "layout", "memory_format", "Number",
    "SymInt", "SymFloat", "SymBool", "Generator", "Size", "Literal",
}


def functions_of(values: Sequence[tuple[Value, State]]) -> tuple[tuple[Found, ...], str]:
    """The functions that `values` are, and why others are not among them ("" if all are)."""
    found: dict[int, Found] = {}
    missing = ""
    for value, state in values:
        for one in sorted(value.things, key=_order):
            inner, reason = _function(one)
            found.update((id(node), (module, node)) for module, node in inner)
            missing = missing or reason
        for content in state.contents(value):
            name = content.owner.node.name if content.owner is not None else ""
            missing = missing or (f"its function is an instance of `{name}`" if name else _NOT_KNOWN)
        other = value.constant is not None and value.constant[1] is not None
        if other or (value.constant is None and value.kind & ~Sort.NONE) or value == Value():
            missing = missing or _NOT_KNOWN
    return tuple(found.values()), missing


_NOT_KNOWN = "its function is not known"


def _order(one: Thing) -> tuple[str, int]:
    node = getattr(one, "node", None)
    return type(one).__name__, getattr(node, "lineno", 0)


def _function(one: Thing) -> tuple[tuple[Found, ...], str]:
    """The function itself, of an op or of a partial that fixes only keywords; or why there is none."""
    if isinstance(one, Registered):
        return functions_of([(one.event.function, one.event.state)] if one.event.function is not None else [])
    if isinstance(one, FunctionValue):
        return ((one.module, one.node),), ""
    if isinstance(one, Partial) and one.positional and any(getattr(f, "owner", None) for f in one.function.things):
        (method,) = one.function.things
        return (), f"its function is the bound method `{getattr(getattr(method, 'node', None), 'name', '<lambda>')}`"
    if isinstance(one, Partial):
        return functions_of([(one.function, State())]) if not one.positional else (
            (), "its function is a partial one that fixes arguments by position")
    if isinstance(one, External):
        module, _, name = one.name.rpartition(".")
        return (), f"its function is `{name}` of `{module}`, whose source is not at hand"
    return (), f"{_NOT_KNOWN}: {one.reason}" if isinstance(one, Opaque) else _NOT_KNOWN


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
    names = set(_names(parameter.annotation, module))
    return names <= _SCALARS and bool(names - {"None", "Optional", "Union"})


def _names(annotation: ast.expr, module: HostModule) -> Iterator[str]:
    """The last names in an annotation: `List` and `int` of `typing.List[int]`; "" for what the file itself defines."""
    pending: list[ast.AST] = [annotation]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Subscript) and "Literal" in _names(node.value, module):
            yield "Literal"
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Name):
            own = any(isinstance(bound, Definition) for bound in module.bindings.get(node.id, ()))
            yield "" if own else node.id
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                pending.append(ast.parse(node.value, mode="eval").body)
            except SyntaxError:
                yield ""
        elif isinstance(node, ast.Constant):
            yield "None" if node.value is None else ""
        else:
            pending.extend(ast.iter_child_nodes(node))
