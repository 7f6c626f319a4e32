"""Torch's functions that register ops: what a call of each means."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol

from triton_mutlint.config.registrar import Registrar
from triton_mutlint.host.model import Form
from triton_mutlint.host.registrations.events import ImplEvent, OpEvent, Step
from triton_mutlint.host.registrations.folded import (
    Args,
    Const,
    Ext,
    Func,
    Inferred,
    Items,
    Lib,
    Method,
    Op,
    Partial,
    Table,
    Text,
    Unknown,
    Value,
    options,
)
from triton_mutlint.host.registrations.folding_builtins import chained
from triton_mutlint.host.registrations.folding_values import as_text, is_none, joined

_TORCH = re.compile(r"torch\.(_?library|_custom_op)\b")
_SAME_FUNCTION = re.compile(
    r"torch\.(compile|jit\.\w+|no_grad|inference_mode|enable_grad|compiler\.\w+|_dynamo\.\w+|_disable_dynamo)"
    r"|functools\.(wraps|lru_cache|cache)|builtins\.(staticmethod|classmethod)|typing\.\w+|contextlib\.contextmanager"
)


class Register(Protocol):
    """What the calls below note things with."""

    def step(self, node: ast.AST) -> Step:
        """That of a call at `node`."""

    def note(self, event: OpEvent | ImplEvent) -> None:
        """Something is registered."""


def external(callee: Ext, args: Args, node: ast.AST, register: Register) -> Value | None:
    """What calling something of torch or the standard library gives; None for what is not known."""
    last = callee.name.rpartition(".")[2]
    if _TORCH.match(callee.name) and last in _LIBRARY:
        return _LIBRARY[last](callee, args, node, register)
    if callee.name == "functools.partial" and args.positional:
        return Partial(callee=args.positional[0], args=Args(args.positional[1:], args.keywords, args.open))
    if callee.name == "itertools.chain":
        return chained(args)
    if callee.name == "functools.wraps":
        return replace(callee, name="functools.cache")  # which leaves the wrapper what it is
    if _SAME_FUNCTION.match(callee.name):
        function = args.positional[0] if args.positional else None
        if isinstance(function, (Func, Partial, Op)):
            return function
        return callee  # `torch.compile(dynamic=True)`, and then its result is called with the function
    return None


def _op(callee: Ext, args: Args, node: ast.AST, register: Register) -> Value:
    function = args.take(1, "fn")
    if isinstance(function, (Items, Table, Text)):  # a list where the function belongs
        held = {"misplaced": function, **args.keywords}
        return Partial(callee=callee, args=Args(args.positional[:1], held, args.open), pending="fn")
    if function is None or is_none(function):
        return Partial(callee=callee, args=args, pending="fn")
    last = callee.name.rpartition(".")[2]
    schema = args.take(None, "schema")
    event = OpEvent(
        Form.TRITON_OP if last == "triton_op" else Form.CUSTOM_OP, f"torch.library.{last}",
        args.take(0, "name") or Unknown("it is missing"), register.step(node), function,
        args.take(None, "mutates_args"), schema if schema is not None and not is_none(schema) else None,
        required=True, open=args.open, misplaced=args.take(None, "misplaced"),
    )
    register.note(event)
    return Op(event=event)


def _library(callee: Ext, args: Args, node: ast.AST, register: Register) -> Value:
    return Lib(namespace=args.take(0, "ns") or Unknown())


def _define(callee: Ext, args: Args, node: ast.AST, register: Register) -> Value:
    first = args.take(0, "qualname") or Unknown()
    schema = args.take(1, "schema") or Unknown()
    if not isinstance(first, Lib):
        _defined("torch.library.define", first, schema, node, register)
        return Const()
    function = args.take(None, "f")  # `@torch.library.define(lib, "op(Tensor x) -> Tensor")`
    if function is None:
        return Partial(callee=callee, args=args, pending="f")
    define(first, schema, node, register)
    register.note(ImplEvent(op_name(first, named_by(schema)), function, register.step(node)))
    return function


def _impl(callee: Ext, args: Args, node: ast.AST, register: Register) -> Value:
    first = args.take(0, "qualname") or Unknown()
    if isinstance(first, (Lib, Unknown)) and len(args.positional) > 1:
        name, keys, function = op_name(first, args.take(1, "name") or Unknown()), args.take(2, "dispatch_key"), None
        function = args.take(None, "func")
    else:
        name, keys, function = first, args.take(1, "types"), args.take(2, "func")
    if function is None or is_none(function):
        return Partial(callee=callee, args=args, pending="func")
    register.note(ImplEvent(name, function, register.step(node), keys, "with_keyset" in args.keywords))
    return function


def _register_kernel(callee: Ext, args: Args, node: ast.AST, register: Register) -> Value:
    function = args.take(2, "func")
    if function is None or is_none(function):
        return Partial(callee=callee, args=args, pending="func")
    for op in options(args.take(0, "op") or Unknown()):
        name = op.event.name if isinstance(op, Op) else _overload(op)
        register.note(ImplEvent(name, function, register.step(node), args.take(1, "device_types")))
    return function


def _overload(op: Value) -> Value:
    """The name of `torch.ops.ns.name.default`."""
    if isinstance(op, Ext) and op.name.startswith("torch.ops."):
        parts = op.name.split(".")[2:]
        overload = f".{parts[2]}" if len(parts) > 2 and parts[2] != "default" else ""
        return Text("::".join(parts[:2]) + overload)
    return op


def _infer_schema(callee: Ext, args: Args, node: ast.AST, register: Register) -> Value:
    mutates = args.take(1, "mutates_args")
    prefix = args.take(None, "op_name")
    shown = as_text(prefix, "op_name") if prefix is not None and not is_none(prefix) else Text()
    return Inferred(function=args.take(0, "prototype_function") or Unknown(), mutates=mutates, prefix=shown)


_LIBRARY: Mapping[str, Callable[[Ext, Args, ast.AST, Register], Value]] = {
    "custom_op": _op, "triton_op": _op, "Library": _library, "_scoped_library": _library, "define": _define,
    "impl": _impl, "register_kernel": _register_kernel, "infer_schema": _infer_schema,
}  # fmt: skip


# --------------------------------------------------------------------------- methods


def on_method(owner: Value, name: str, args: Args, node: ast.AST, register: Register) -> Value | None:
    """`owner.name(...)` of a library, of an op, or of what may be one; None where it is neither."""
    if isinstance(owner, Op) and name == "register_kernel":
        function = args.take(1, "fn")
        if function is None or is_none(function):
            return Partial(callee=Method(owner=owner, name=name), args=args, pending="fn")
        register.note(ImplEvent(owner.event.name, function, register.step(node), args.take(0, "device_types")))
        return function
    if name == "define" and isinstance(owner, (Lib, Unknown)):
        schema = args.take(0, "schema")
        if schema is not None and (isinstance(owner, Lib) or _is_schema(schema) or schema.given()):
            define(owner, schema, node, register)
            return Const()
    if name == "impl" and isinstance(owner, (Lib, Unknown)):
        return _impl_of(owner, args, node, register)
    return None


def _impl_of(owner: Value, args: Args, node: ast.AST, register: Register) -> Value | None:
    op, function, keys = args.take(0, "op_name"), args.take(1, "fn"), args.take(2, "dispatch_key")
    if op is None and args.open and isinstance(owner, Lib):  # `lib.impl(*entry)`
        op = function = Unknown("it is passed with `*`", True)
    if op is None or not (isinstance(owner, Lib) or isinstance(op, Text) or op.given()):
        return None
    if function is None or isinstance(function, Text):  # `@lib.impl("op", "CUDA")`
        held = Args((op,), {**args.keywords, "dispatch_key": function or keys or Text("")}, args.open)
        return Partial(callee=Method(owner=owner, name="impl"), args=held, pending="fn")
    keyset = "with_keyset" in args.keywords
    register.note(ImplEvent(op_name(owner, op), function, register.step(node), keys, keyset, isinstance(owner, Lib)))
    return Const()


def define(owner: Value, schema: Value, node: ast.AST, register: Register) -> None:
    """Note `owner.define(schema)`."""
    for one in options(schema):
        _defined("Library.define", op_name(owner, named_by(one)), one, node, register)


def _defined(api: str, name: Value, schema: Value, node: ast.AST, register: Register) -> None:
    function, mutates = (schema.function, schema.mutates) if isinstance(schema, Inferred) else (None, None)
    register.note(OpEvent(Form.DEFINE, api, name, register.step(node), function, mutates, schema))


def _is_schema(value: Value) -> bool:
    return isinstance(value, Inferred) or (isinstance(value, Text) and "->" in value.text and "(" in value.text)


def named_by(schema: Value) -> Value:
    """The name that a schema begins with."""
    if isinstance(schema, Inferred):
        return schema.prefix
    if not isinstance(schema, Text):
        return schema
    name = schema.text.partition("(")[0].strip()
    return Text(name, schema.known or "{" not in name, schema.given(), spot=schema.spot)


def op_name(owner: Value, name: Value) -> Value:
    """The full name of op `name` of the library `owner`."""
    shown = as_text(_overload(name), "name")
    if "::" in shown.text:
        return shown
    namespace = owner.namespace if isinstance(owner, Lib) else Unknown()
    spaces = [as_text(n, "…") for n in options(namespace)]
    space = spaces[0] if len(spaces) == 1 else Text("{…}", False)
    return replace(joined([space, Text("::"), shown]), spot=shown.spot)


# --------------------------------------------------------------------------- registrars


def by_registrar(registrar: Registrar, callee: Value, name: str, args: Args, node: ast.AST,
                 register: Register) -> Value:
    """What calling a function that registers ops gives, by what is known of its parameters."""
    function = passed(registrar, args, registrar.function)
    pending = registrar.function or "decorated"
    function = args.take(None, pending) if function is None else function
    if function is None or is_none(function):
        return Partial(callee=callee, args=args, pending=pending)
    called = passed(registrar, args, registrar.name)
    if called is None or is_none(called):
        called = Text(function.name) if isinstance(function, Func) else Text("{name}", False, function.given())
    shown = as_text(called, "name")
    if registrar.namespace and "::" not in shown.text:
        shown = joined([Text(f"{registrar.namespace}::"), shown])
    mutates = passed(registrar, args, registrar.mutates)
    mutates = None if mutates is not None and is_none(mutates) else mutates
    event = OpEvent(Form.REGISTRAR, name, shown, register.step(node), function, mutates,
                    default=registrar.default, open=args.open)
    register.note(event)
    return Op(event=event)


def passed(registrar: Registrar, args: Args, parameter: str) -> Value | None:
    """What is passed for a registrar's parameter."""
    index = registrar.order.index(parameter) if parameter in registrar.order else None
    return args.take(index, parameter) if parameter else None
