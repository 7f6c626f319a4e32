"""Abstract values of the expressions of a jit body."""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any

from triton_mutlint.signature import marks
from triton_mutlint.signature.constraints import Constraint
from triton_mutlint.signature.dtype_names import TL_NAMES, promoted, short_name
from triton_mutlint.signature.evaluate import UNKNOWN, Scope, dotted, plain
from triton_mutlint.signature.facts import INT, NO_CONST, NONE, NOTHING, Dtype, Slot, Value, every, union
from triton_mutlint.signature.intrinsics import (
    DESCRIPTOR_METHODS,
    HANDLERS,
    Call,
    blend,
    cast,
    descriptor_access,
    merge,
)

if TYPE_CHECKING:
    from triton_mutlint.signature.helpers import Program

_BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift)
_ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_TENSOR_ATTRIBUTES = frozenset(
    ("shape", "T", "numel", "handle", "type", "dtype", "element_ty", "scalar", "block_shape", "value",
     "primitive_bitwidth", "name", "ndim", "strides")
)  # fmt: skip
_BUILTINS = frozenset(("range", "min", "max", "len", "int", "float", "bool", "abs", "print", "isinstance", "tuple"))
_EMPTY_CALL: Any = MappingProxyType({})


class Evaluator:
    """The walk over one function body: its names and what it says of its parameters."""

    def __init__(self, program: Program, scope: Scope, env: dict[str, Value]) -> None:
        self.program = program
        self.file = ""
        self.scope = scope
        self.env = env
        self.constraints: list[Constraint] = []
        self.conditions: list[tuple[ast.expr, bool, int]] = []
        self.repeated = False  # a second pass over a loop body: say nothing twice

    def eval(self, node: ast.expr) -> Value:
        handler = _EXPRESSIONS.get(type(node))
        return handler(self, node) if handler is not None else NOTHING

    def constraint(self, kind: str, node: ast.Call | ast.expr | None, line: int = 0) -> None:
        if self.repeated or len(self.constraints) >= 256:
            return
        if kind == "assert" and isinstance(node, ast.Call):
            node = node.args[0] if node.args else None
        line = line or (node.lineno if node is not None else 0)
        self.constraints.append(Constraint(kind, node, line, (self.scope,), tuple(self.conditions)))

    # ----------------------------------------------------------------- leaves

    def constant(self, node: ast.Constant) -> Value:
        value = node.value
        if type(value) is int:
            return Value(dtype="int", const=value)
        if type(value) is float:
            return Value(dtype="float", const=value)
        return Value(const=value)

    def name(self, node: ast.Name) -> Value:
        found = self.env.get(node.id)
        return found if found is not None else self.object_value(self.program.lookup(node.id, self.scope))

    def object_value(self, value: Any) -> Value:
        if value is UNKNOWN:
            return NOTHING
        short = short_name(value)
        if short:
            return Value(dtype=short, is_dtype=True)
        constant = plain(value)
        if constant is UNKNOWN:
            return Value(ref=value)
        dtype = "int" if type(constant) is int else "float" if type(constant) is float else None
        return Value(dtype=dtype, const=constant)

    def attribute(self, node: ast.Attribute) -> Value:
        root = node.value
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name) and root.id not in self.env:
            return self._global_attribute(node)
        owner = self.eval(node.value)
        return self.field(owner, node.attr)

    def _global_attribute(self, node: ast.Attribute) -> Value:
        if node.attr in TL_NAMES:
            return Value(dtype=TL_NAMES[node.attr], is_dtype=True)
        return self.object_value(dotted(node, self.scope.namespace))

    def field(self, owner: Value, name: str) -> Value:
        if name in ("dtype", "element_ty", "scalar", "type"):
            if owner.is_dtype:
                return owner
            if owner.base:
                element: Dtype = next(iter(owner.base))
                if isinstance(owner.dtype, str) and owner.dtype.startswith("*"):
                    element = owner.dtype[1:] or None
                return Value(dtype=element, is_dtype=True)
            return Value(dtype=owner.dtype, is_dtype=owner.dtype is not None)
        if name in ("T", "value", "handle"):
            return owner
        if owner.items is not None:
            return owner.items.get(name, NOTHING)
        if name in _TENSOR_ATTRIBUTES or owner.mixed or owner.memory:
            return NOTHING
        return Value(frozenset(s.child(name) for s in owner.base)) if owner.base else NOTHING

    # ----------------------------------------------------------------- operators

    def binary(self, node: ast.BinOp) -> Value:
        left, right = self.eval(node.left), self.eval(node.right)
        if left.items is not None or right.items is not None:
            return _concatenate(left, right)
        line, op = node.lineno, node.op
        for slot in left.bare | right.bare:
            slot.arithmetic = slot.arithmetic or line
        if isinstance(op, (ast.Add, ast.Sub)):
            return self._sum(left, right, line)
        if isinstance(op, _BITWISE):
            self._bitwise(left, right, line, isinstance(op, (ast.LShift, ast.RShift)))
        elif isinstance(op, ast.FloorDiv):
            marks.weakly_integer(left, line)
            marks.weakly_integer(right, line)
        else:
            _hint(left, right, line)
            _hint(right, left, line)
        if isinstance(op, (ast.Pow, ast.LShift)):
            for slot in right.base | right.mixed:
                slot.exponent = slot.exponent or line
        value = blend((left, right), None if not isinstance(op, ast.Div) else _divided(left, right))
        if isinstance(op, ast.Mult):
            names = _factors(left) | _factors(right)
            if names:
                return Value(NONE, value.mixed, value.memory, value.dtype, NO_CONST, None, names)
        return value

    def _bitwise(self, left: Value, right: Value, line: int, shift: bool) -> None:
        for value in (left, right):
            if value.dtype == "bool" or isinstance(value.const, bool):
                continue
            if shift or any(v.dtype not in ("i1", None) for v in (left, right) if v is not value):
                marks.integer(value, line)
            elif value.memory:
                marks.weakly_integer(Value(memory=value.memory, dtype=value.dtype), line)
            elif value.base and not value.mixed:
                marks.weakly_integer(value, line)

    def _sum(self, left: Value, right: Value, line: int) -> Value:
        base, extra = marks.base_and_offset(left, right)
        _hint(left, right, line)
        _hint(right, left, line)
        pointed = isinstance(left.dtype, str) and left.dtype.startswith("*")
        dtype = left.dtype if pointed else promoted(left.dtype, right.dtype)
        mixed = union(union(left.mixed, right.mixed), extra)
        return Value(base, mixed, union(left.memory, right.memory), dtype, NO_CONST, None,
                     left.factors | right.factors)  # fmt: skip

    def unary(self, node: ast.UnaryOp) -> Value:
        value = self.eval(node.operand)
        if isinstance(node.op, ast.Not):
            self.condition(node.operand, value)
            return Value(dtype="i1")
        if isinstance(node.op, ast.Invert):
            if value.dtype not in ("i1", None) or value.memory:
                marks.weakly_integer(value, node.lineno)
            return value
        if isinstance(value.const, (int, float)):
            return Value(dtype=value.dtype, const=-value.const)
        return value

    def boolean(self, node: ast.BoolOp) -> Value:
        for part in node.values:
            self.condition(part, self.eval(part))
        return Value(dtype="i1")

    def compare(self, node: ast.Compare) -> Value:
        left = self.eval(node.left)
        for op, item in zip(node.ops, node.comparators):
            right = self.eval(item)
            self._compared(op, left, right, node.lineno)
            self._compared(op, right, left, node.lineno)
            left = right
        return Value(dtype="i1")

    def _compared(self, op: ast.cmpop, value: Value, other: Value, line: int) -> None:
        if other.const is None:
            for part in value.bare:
                part.none_test = part.none_test or line
            return
        if other.is_dtype:
            marks.note(value, "dtype", line)
            return
        literals = _literals(other)
        for slot in value.bare if literals else ():
            if isinstance(op, _ORDER):
                slot.bounds = _extended(slot.bounds, literals)
            else:
                slot.literals = _extended(slot.literals, literals)
        for slot in value.bare if other.dtype is not None else ():
            slot.scalar = slot.scalar or line
            if isinstance(other.const, float) and not slot.constexpr:
                slot.floating = slot.floating or line
        _hint(value, other, line)
        if other.dtype == "int" and isinstance(value.dtype, Slot):
            for slot in value.memory:
                slot.elem_weak_int = slot.elem_weak_int or line

    def conditional(self, node: ast.IfExp) -> Value:
        self.condition(node.test, self.eval(node.test))
        left, right = self.eval(node.body), self.eval(node.orelse)
        marks.agree(left, right, node.lineno)
        return merge(left, right)

    def condition(self, node: ast.expr, value: Value) -> None:
        """`value`, of `node`, decides a branch."""
        marks.note(value, "branch", node.lineno)

    # ----------------------------------------------------------------- tuples and subscripts

    def sequence(self, node: ast.Tuple | ast.List) -> Value:
        return Value(items=dict(enumerate(map(self.eval, node.elts))))

    def subscript(self, node: ast.Subscript) -> Value:
        owner, index = self.eval(node.value), node.slice
        if _slices(index):
            return owner
        key = self.eval(index)
        if owner.items is not None:
            position = key.const
            if isinstance(position, int) and position < 0:
                position += len(owner.items)
            if isinstance(position, int):
                return owner.items.get(position, NOTHING)
            values = list(owner.items.values())
            result = values[0] if values else NOTHING
            for value in values[1:]:
                result = merge(result, value)
            return result
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            return Value(dtype="int")
        position = key.const if isinstance(key.const, int) else "*"
        return Value(frozenset(s.child(position) for s in owner.bare))

    def comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> Value:
        for generator in node.generators:
            self.eval(generator.iter)
        return NOTHING

    # ----------------------------------------------------------------- calls

    def call(self, node: ast.Call) -> Value:
        function = node.func
        if isinstance(function, ast.Attribute):
            root: ast.expr = function.value
            while isinstance(root, ast.Attribute):
                root = root.value
            if not (isinstance(root, ast.Name) and root.id not in self.env):
                return self._method(node, function)
            if isinstance(root, ast.Name) and root.id == "tl" and function.attr in HANDLERS:
                return self.intrinsic(function.attr, node)
            target = dotted(function, self.scope.namespace)
            return self._global_call(node, target, function.attr)
        if isinstance(function, ast.Name):
            local = self.env.get(function.id)
            if local is None:
                target = self.program.lookup(function.id, self.scope)
                return self._global_call(node, target, function.id)
            return self._called(local, node)
        self.eval(function)
        return blend(self._arguments(node)[0])

    def _called(self, value: Value, node: ast.Call) -> Value:
        if value.ref is not None:
            return self._global_call(node, value.ref, "")
        args, kwargs = self._arguments(node)
        for slot in value.bare:
            slot.called = slot.called or node.lineno
            slot.arity = len(args) + len(kwargs)
        return blend((*args, *kwargs.values()))

    def _global_call(self, node: ast.Call, target: Any, name: str) -> Value:
        helper = self.program.helper(target, name)
        if helper is not None:
            args, kwargs = self._arguments(node)
            return self.program.call(self, helper, node, args, kwargs)
        module = getattr(target, "__module__", "") if not isinstance(target, ModuleType) else ""
        if isinstance(module, str) and module.startswith("triton"):
            name = getattr(target, "__name__", name)
        if name in ("range", "static_range"):
            return self.range(node, name)
        if name in HANDLERS:
            return self.intrinsic(name, node)
        args, kwargs = self._arguments(node)
        if isinstance(target, type):
            return self.program.construct(target, args, kwargs)
        if name == "len":
            for slot in args[0].bare if args else ():
                slot.child("*")
            return Value(dtype="int")
        return blend((*args, *kwargs.values()))

    def intrinsic(self, name: str, node: ast.Call) -> Value:
        args, kwargs = self._arguments(node)
        return HANDLERS[name](Call(name, args, kwargs, node, self))

    def applied(self, function: Value, args: tuple[Value, ...], node: ast.Call) -> None:
        """A function passed to `tl.reduce` and the like is applied to elements of the operands."""
        helper = self.program.helper(function.ref) if function.ref is not None else None
        if helper is not None:
            self.program.call(self, helper, node, args, _EMPTY_CALL, adopt=False)

    def range(self, node: ast.Call, name: str = "range") -> Value:
        args, kwargs = self._arguments(node)
        for value in (*args, kwargs.get("step", NOTHING)):
            marks.integer(value, node.lineno)
            if name == "static_range":
                for slot in value.base | value.mixed:
                    slot.unroll = slot.unroll or node.lineno
        step = args[2] if len(args) > 2 else kwargs.get("step")
        return INT if step is None else Value(dtype="i32", factors=_factors(step))

    def _arguments(self, node: ast.Call) -> tuple[tuple[Value, ...], dict[str, Value]]:
        args: list[Value] = []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                value = self.eval(argument.value)
                args.extend(value.items.values() if value.items is not None else ())
            else:
                args.append(self.eval(argument))
        if not node.keywords:
            return tuple(args), _EMPTY_CALL
        return tuple(args), {k.arg: self.eval(k.value) for k in node.keywords if k.arg is not None}

    def _method(self, node: ast.Call, function: ast.Attribute) -> Value:
        owner, name = self.eval(function.value), function.attr
        args, kwargs = self._arguments(node)
        if name == "to":
            kind = args[0] if args else kwargs.get("dtype", NOTHING)
            bitcast = kwargs.get("bitcast", args[2] if len(args) > 2 else NOTHING)
            return cast(owner, kind, node.lineno, bitcast.const is True)
        method = self.program.method(owner, name)
        if method is not None:
            return self.program.call(self, method, node, (owner, *args), kwargs)
        if name in DESCRIPTOR_METHODS and not (owner.memory or owner.mixed):
            return descriptor_access(owner, name, (*args, *kwargs.values()), node.lineno)
        if owner.ref is not None:
            return self._called(Value(ref=getattr(owner.ref, name, None)), node)
        if name in HANDLERS:
            return HANDLERS[name](Call(name, (owner, *args), kwargs, node, self))
        return blend((owner, *args))


def _hint(value: Value, other: Value, line: int) -> None:
    """Arithmetic with, or a comparison to, something of a known kind."""
    if not (value.base and not value.memory):
        return
    if other.dtype in ("i32", "i64", "int"):
        if other.dtype != "int":
            for slot in value.base:
                slot.weak_int = slot.weak_int or line
    elif other.dtype is not None and (marks.is_floating(other.dtype) or isinstance(other.dtype, Slot)):
        marks.weakly_floating(value, line)


def _divided(left: Value, right: Value) -> str | Slot:
    for value in (left, right):
        if isinstance(value.dtype, Slot) or marks.is_floating(value.dtype):
            return value.dtype  # type: ignore[return-value]
    return "fp32"


def _factors(value: Value) -> frozenset[str]:
    names = {s.name for s in value.base if s.constexpr}
    return value.factors | names if names else value.factors


def _literals(value: Value) -> tuple[Any, ...]:
    if value.items is not None:
        return tuple(v.const for v in value.items.values() if v.const is not NO_CONST)
    if value.const is NO_CONST:
        return ()
    return value.const if isinstance(value.const, tuple) else (value.const,)


def _extended(seen: tuple[Any, ...], more: tuple[Any, ...]) -> tuple[Any, ...]:
    return seen + tuple(v for v in more if not any(v is s or (type(v) is type(s) and v == s) for s in seen))


def _slices(index: ast.expr) -> bool:
    """Does a subscript only add dimensions (`x[:, None]`)?"""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return any(isinstance(p, ast.Slice) or (isinstance(p, ast.Constant) and p.value is None) for p in parts)


def _concatenate(left: Value, right: Value) -> Value:
    values = [*(left.items or {}).values(), *(right.items or {}).values()]
    return Value(items=dict(enumerate(values)))


def _walrus(walk: Evaluator, node: ast.NamedExpr) -> Value:
    value = walk.env[node.target.id] = walk.eval(node.value)
    return value


def _formatted(walk: Evaluator, node: ast.expr) -> Value:
    return NOTHING


_EXPRESSIONS: dict[type[ast.expr], Callable[[Evaluator, Any], Value]] = {
    ast.Constant: Evaluator.constant, ast.Name: Evaluator.name, ast.Attribute: Evaluator.attribute,
    ast.BinOp: Evaluator.binary, ast.UnaryOp: Evaluator.unary, ast.BoolOp: Evaluator.boolean,
    ast.Compare: Evaluator.compare, ast.IfExp: Evaluator.conditional, ast.Tuple: Evaluator.sequence,
    ast.List: Evaluator.sequence, ast.Subscript: Evaluator.subscript, ast.Call: Evaluator.call,
    ast.ListComp: Evaluator.comprehension, ast.GeneratorExp: Evaluator.comprehension,
    ast.NamedExpr: _walrus, ast.JoinedStr: _formatted,
}  # fmt: skip

__all__ = ["Evaluator", "every"]
