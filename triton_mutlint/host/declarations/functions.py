"""The functions that implement an op: which they are, or why that is not known; what their parameters hold."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from triton_mutlint.host.modules.module import Definition, HostFunction, HostModule
from triton_mutlint.host.registrations.folded import (
    Const,
    Either,
    Ext,
    Func,
    Instance,
    Method,
    Op,
    Partial,
    Text,
    Unknown,
    Value,
    options,
)

Found = tuple[HostModule, HostFunction]

# What annotations of parameters that hold no tensor consist of.
_CONTAINERS = frozenset({"Optional", "Union", "List", "Sequence", "Tuple", "list", "tuple"})
_SCALARS = _CONTAINERS | {
    "int", "float", "bool", "str", "complex", "bytes", "None", "dtype", "device", "layout", "memory_format", "Number",
    "SymInt", "SymFloat", "SymBool", "Generator", "Size", "Literal",
}


def functions_of(values: Sequence[Value]) -> tuple[tuple[Found, ...], str]:
    """The functions that `values` are, and why others are not among them ("" if all are)."""
    found: dict[int, Found] = {}
    missing = ""
    for value in (one for v in values for one in options(v)):
        function = plain(value)
        if isinstance(function, Func):
            found[id(function.node)] = (function.module, function.node)
        elif not (isinstance(function, Const) and function.value is None):
            missing = missing or _why(function)
    return tuple(found.values()), missing


def plain(value: Value) -> Value:
    """The function itself, of an op or of a partial that fixes only keywords."""
    if isinstance(value, Op):
        return plain(value.event.function) if value.event.function is not None else value
    if isinstance(value, Partial) and not value.pending and not value.args.positional and not value.args.open:
        return plain(value.callee)
    if isinstance(value, Func) and value.owner is not None and not _is_static(value):
        return Method(owner=value.owner, name=value.name)
    return value


def _is_static(func: Func) -> bool:
    return any(ast.unparse(d) == "staticmethod" for d in getattr(func.node, "decorator_list", ()))


def _why(value: Value) -> str:
    if isinstance(value, Ext):
        module, _, name = value.name.rpartition(".")
        return f"its function is `{name}` of `{module}`, whose source is not at hand"
    if isinstance(value, Partial):
        return "its function is a partial one that fixes arguments by position"
    if isinstance(value, Method):
        return f"its function is the bound method `{value.name}`"
    if isinstance(value, Instance):
        return f"its function is an instance of `{value.cls.node.name}`"
    reason = value.reason if isinstance(value, Unknown) else ""
    return f"its function is not known: {reason}" if reason else "its function is not known"


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


def text_of(value: Value) -> str | None:
    """The string that `value` is, if it is one and known."""
    return value.text if isinstance(value, Text) and value.known else None


def single(value: Value) -> Value:
    """`value`, or the one of several that all say the same."""
    if isinstance(value, Either) and len({text_of(v) for v in value.options}) == 1:
        return value.options[0]
    return value
