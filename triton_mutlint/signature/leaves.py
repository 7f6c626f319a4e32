"""Abstract values of what a jit body names: constants, names, attributes, elements of tuples."""

from __future__ import annotations

import ast
from typing import Any

from triton_mutlint.kernel_source.evaluate import UNKNOWN, dotted, plain
from triton_mutlint.signature.dtype_names import TL_NAMES, short_name
from triton_mutlint.signature.facts import NONE, NOTHING, Dtype, Value, either
from triton_mutlint.signature.intrinsic_call import merge
from triton_mutlint.signature.operators import Operators

_TENSOR_ATTRIBUTES = frozenset(
    ("shape", "T", "numel", "handle", "type", "dtype", "element_ty", "scalar", "block_shape", "value",
     "primitive_bitwidth", "name", "ndim", "strides")
)  # fmt: skip


class Leaves(Operators):
    """The walk over one function body: its names and subscripts."""

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
            wrapped = type(value).__name__ == "constexpr" and callable(getattr(value, "value", None))
            return Value(ref=value.value if wrapped else value)
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
                return Value(dtype=owner.dtype, is_dtype=True) if owner.base else owner
            if owner.base:
                element: Dtype = next(iter(owner.base))
                if isinstance(owner.dtype, str) and owner.dtype.startswith("*"):
                    element = owner.dtype[1:] or None
                itself = owner.bare if name in ("dtype", "type") and owner.ref is None else NONE
                return Value(itself, dtype=element, is_dtype=True)
            return Value(dtype=owner.dtype, is_dtype=owner.dtype is not None)
        if name in ("T", "value", "handle"):
            return owner
        self.typed |= owner.is_dtype
        if owner.items is not None:
            return owner.items.get(name, NOTHING)
        if name in _TENSOR_ATTRIBUTES or owner.mixed or owner.memory:
            return NOTHING
        return Value(frozenset(s.child(name) for s in owner.base)) if owner.base else NOTHING

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
        if owner.ref is not None:
            return Value(ref=either(_held(owner.ref, key.const)))
        position = key.const if isinstance(key.const, int) else "*"
        return Value(frozenset(s.child(position) for s in owner.bare))

    def comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> Value:
        for generator in node.generators:
            self.eval(generator.iter)
        return NOTHING


def _slices(index: ast.expr) -> bool:
    """Does a subscript only add dimensions (`x[:, None]`)?"""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return any(isinstance(p, ast.Slice) or (isinstance(p, ast.Constant) and p.value is None) for p in parts)


def _held(ref: Any, key: Any) -> tuple[Any, ...]:
    """The objects in a global tuple, list or dictionary: the one under a key, or all of them."""
    ref = getattr(ref, "value", ref)
    found = dict(enumerate(ref)) if isinstance(ref, (tuple, list)) else ref if isinstance(ref, dict) else {}
    try:
        return (found[key],) if key in found else tuple(found.values())
    except TypeError:  # a key that cannot be looked up
        return tuple(found.values())
