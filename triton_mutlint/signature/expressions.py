"""Abstract values of the expressions of a jit body."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import reduce
from types import MappingProxyType, ModuleType
from typing import Any

from triton_mutlint.kernel_source.evaluate import dotted
from triton_mutlint.signature import marks
from triton_mutlint.signature.facts import INT, NONE, NOTHING, Slots, Value, refs_of
from triton_mutlint.signature.intrinsic_call import Call, blend, merge
from triton_mutlint.signature.intrinsics import HANDLERS
from triton_mutlint.signature.leaves import Leaves
from triton_mutlint.signature.memory_ops import DESCRIPTOR_METHODS, KEYWORD_OPTIONS, descriptor_access
from triton_mutlint.signature.operators import factors
from triton_mutlint.signature.value_ops import cast

_HOST_FUNCTIONS = frozenset(("min", "max", "len", "int", "float", "bool", "abs", "print", "isinstance", "tuple"))
_EMPTY_CALL: Any = MappingProxyType({})


class Evaluator(Leaves):
    """The walk over one function body: its calls."""

    def eval(self, node: ast.expr) -> Value:
        handler = _EXPRESSIONS.get(type(node))
        return handler(self, node) if handler is not None else NOTHING

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
        return self._called(self.eval(function), node)

    def _called(self, value: Value, node: ast.Call) -> Value:
        results = [self._global_call(node, ref, "") for ref in refs_of(value)]
        if value.bare or not results:
            args, kwargs = self._arguments(node)
            for slot in value.bare:
                slot.called = slot.called or node.lineno
                slot.arity = len(args) + len(kwargs)
                slot.matters = slot.matters or node.lineno
            results.append(self._handed(value.bare, args, kwargs, node.lineno))
        return reduce(merge, results)

    def _handed(self, functions: Slots, args: tuple[Value, ...], kwargs: Mapping[str, Value], line: int) -> Value:
        """The arguments go to one of `functions`; to one that is not known here, if there is none."""
        self.effects += 1
        for slot in functions:
            marks.handed_to(slot, dict((*enumerate(args), *kwargs.items())), line)
        if not functions:
            marks.handed((*args, *kwargs.values()), line)
        return blend((*args, *kwargs.values()))

    def _global_call(self, node: ast.Call, target: Any, name: str) -> Value:
        helper = self.program.helper(target, name)
        if helper is not None:
            formal = helper.node.args
            args, kwargs = self._arguments(node, 0 if formal.vararg else len(formal.posonlyargs) + len(formal.args))
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
        if not (name in _HOST_FUNCTIONS or ".extra" in str(module) or "libdevice" in str(module)):
            return self._handed(NONE, args, kwargs, node.lineno)  # what it does is not known here
        return blend((*args, *kwargs.values()))

    def intrinsic(self, name: str, node: ast.Call) -> Value:
        self.asserting = name == "static_assert"
        args, kwargs = self._arguments(node)
        self.asserting = False
        for key, value in (*enumerate(args), *kwargs.items()):
            for slot in value.bare if key not in KEYWORD_OPTIONS else ():
                slot.arithmetic = slot.arithmetic or node.lineno
        return HANDLERS[name](Call(name, args, kwargs, node, self))

    def applied(self, function: Value, args: tuple[Value, ...], node: ast.Call) -> None:
        """A function passed to `tl.reduce` and the like is applied to elements of the operands."""
        for ref in refs_of(function):
            helper = self.program.helper(ref)
            if helper is not None:
                self.program.call(self, helper, node, args, _EMPTY_CALL, adopt=False)
        for slot in function.bare:
            marks.handed_to(slot, dict(enumerate(args)), node.lineno)

    def range(self, node: ast.Call, name: str = "range") -> Value:
        args, kwargs = self._arguments(node)
        for value in (*args, kwargs.get("step", NOTHING)):
            marks.integer(value, node.lineno)
            if name == "static_range":
                for slot in value.base | value.mixed:
                    slot.unroll = slot.unroll or node.lineno
        step = args[2] if len(args) > 2 else kwargs.get("step")
        return INT if step is None else Value(dtype="i32", factors=factors(step))

    def _arguments(self, node: ast.Call, taken: int = 0) -> tuple[tuple[Value, ...], dict[str, Value]]:
        """The arguments of a call; a tuple that is spread has as many elements as are left of those `taken`."""
        args: list[Value] = []
        left = range(taken - len(node.args) + 1 - len(node.keywords))
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                value = self.eval(argument.value)
                for slot in value.bare if value.items is None and left else ():
                    slot.length = slot.length or len(left)
                args.extend(value.items.values() if value.items is not None else
                            (Value(frozenset(s.child(i) for s in value.base)) for i in left))
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
            return self.program.made(owner, kind, cast(owner, kind, node.lineno, bitcast.const is True), node.lineno)
        self.typed |= owner.is_dtype
        method = self.program.method(owner, name)
        if method is not None:
            return self.program.call(self, method, node, (owner, *args), kwargs)
        if name in DESCRIPTOR_METHODS and not (owner.memory or owner.mixed):
            self.effects += name not in ("load", "gather")
            return descriptor_access(owner, name, (*args, *kwargs.values()), node.lineno)
        if owner.ref is not None and owner.ref != "block":
            return self._called(Value(ref=getattr(owner.ref, name, None)), node)
        if name in HANDLERS:
            return HANDLERS[name](Call(name, (owner, *args), kwargs, node, self))
        if owner.bare and owner.dtype is None:
            self._handed(owner.bare, args, kwargs, node.lineno)  # an object passed as an argument
        return blend((owner, *args))


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
