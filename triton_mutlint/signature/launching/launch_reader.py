"""Reading the argument expressions of one launch, through the names of the launching function."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from triton_mutlint.kernel_source.dtype_names import TL_NAMES
from triton_mutlint.kernel_source.dtypes import canonical_dtype
from triton_mutlint.kernel_source.evaluate import UNKNOWN, own
from triton_mutlint.kernel_source.values import NOTHING, MayBe
from triton_mutlint.kernel_source.walk import expression
from triton_mutlint.signature.launching.launch_index import Launch, LaunchIndex, assignments, name_of
from triton_mutlint.source.walking import walk

INTEGER_METHODS = frozenset(("stride", "numel", "size", "dim", "element_size", "storage_offset", "nelement", "ndim"))


INTEGER_CALLS = frozenset(("len", "int", "cdiv", "next_power_of_2", "prod", "round_up"))


TENSOR_CALLS = frozenset(
    ("empty", "zeros", "ones", "full", "rand", "randn", "randint", "arange", "tensor", "empty_like", "zeros_like",
     "ones_like", "full_like", "rand_like", "randn_like", "empty_strided", "contiguous", "view", "reshape", "flatten",
     "new_empty", "new_zeros", "new_ones", "new_full", "new_tensor", "to", "cuda", "clone", "detach", "transpose",
     "permute", "squeeze", "unsqueeze", "expand", "cat", "stack", "as_tensor", "float", "half", "long", "bool",
     "repeat", "repeat_interleave", "cumsum", "argsort", "view_as", "broadcast_to", "t", "type")
)  # fmt: skip


_CASTS = {"float": "fp32", "half": "fp16", "long": "i64", "bfloat16": "bf16", "double": "fp64", "int": "i32"}


@dataclass(frozen=True)
class Evidence:
    """What one argument expression is: `kind` is tensor, int, float, bool, none, value, dtype, descriptor,
    address, function or unknown.

    `element` is a tensor's or descriptor's dtype ("" = not known); `value` a plain Python value, a
    dtype's short name, a function's name, or a descriptor's block shape (with None for unknown).
    """

    kind: str
    line: int
    element: str = ""
    value: Any = None


def _mentions(node: ast.expr, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for n in walk(node))


class Reader:
    """Reads argument expressions of one launch, through the names of the launching function."""

    def __init__(self, launch: Launch, file: LaunchIndex, namespace: Mapping[str, Any]) -> None:
        self.function = launch.function
        self.locals = assignments(launch.function.body) if launch.function else {}
        self.constants = file.constants
        self.namespace = namespace
        self.line = launch.call.lineno
        self._names: dict[str, list[Evidence]] = {}
        self._values: dict[str, MayBe] = {}

    def read(self, node: ast.expr, depth: int = 0) -> list[Evidence]:
        if depth > 8:
            return []
        if isinstance(node, ast.Constant):
            return [self._constant(node.value)]
        if isinstance(node, ast.IfExp):
            return self.read(node.body, depth + 1) + self.read(node.orelse, depth + 1)
        if isinstance(node, ast.Name):
            return self._name(node, depth)
        if isinstance(node, (ast.Compare, ast.BoolOp)) or (
            isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
        ):
            return self._boolean(node, depth)
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.Subscript):
            return self._subscript(node, depth)
        if isinstance(node, ast.Call):
            return self._call(node, depth)
        return self._arithmetic(node, depth)

    def of(self, kind: str, element: str = "", value: Any = None) -> list[Evidence]:
        return [Evidence(kind, self.line, element, value)]

    def _constant(self, value: Any) -> Evidence:
        kinds = {bool: "bool", int: "int", float: "float", str: "value"}
        kind = "none" if value is None else kinds.get(type(value), "unknown")
        return Evidence(kind, self.line, value=value)

    def _name(self, node: ast.Name, depth: int) -> list[Evidence]:
        """What a name stands for; each is followed once, and one that leads back to itself to nothing."""
        known = self._names.get(node.id)
        if known is None:
            self._names[node.id] = []
            known = self._names[node.id] = self._followed(node, depth)
        return known

    def _followed(self, node: ast.Name, depth: int) -> list[Evidence]:
        if node.id in self.locals:
            value = self.locals[node.id]
            if value is not None and not _mentions(value, node.id):
                return self.read(value, depth + 1)
            found = self._parameter(node.id)
            return found or ([] if value is None else self._reassigned(node.id, value, depth))
        found = self._parameter(node.id)
        if found or node.id in self.locals:
            return found
        constant = self.constants.get(node.id)
        if constant is not None:
            return self.read(constant, depth + 1)
        return self.of("function", value=node.id) if own(self.namespace.get(node.id), "fn") is not None else []

    def _reassigned(self, name: str, value: ast.expr, depth: int) -> list[Evidence]:
        """A name of whose assignments some are made of itself (`x = x.contiguous()`)."""
        if isinstance(value, ast.IfExp):
            return self._reassigned(name, value.body, depth) + self._reassigned(name, value.orelse, depth)
        if not _mentions(value, name):
            return self.read(value, depth + 1)
        method = isinstance(value, ast.Call) and name_of(value.func) in TENSOR_CALLS
        return self.of("tensor") if method else []

    def _parameter(self, name: str) -> list[Evidence]:
        if self.function is None:
            return []
        spec = self.function.args
        for argument in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs):
            if argument.arg == name and argument.annotation is not None:
                return self._annotated(ast.unparse(argument.annotation).strip("'\""))
        return []

    def _annotated(self, text: str) -> list[Evidence]:
        found: list[Evidence] = []
        if "Tensor" in text and "List" not in text and "list[" not in text.lower() and "tuple[" not in text.lower():
            found += self.of("tensor")
        for name in ("bool", "int", "float"):
            if text in (name, f"Optional[{name}]", f"{name} | None"):
                found += self.of(name)
        if found and ("Optional" in text or "None" in text):
            found += self.of("none")
        return found

    def _boolean(self, node: ast.expr, depth: int) -> list[Evidence]:
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            last = self.read(node.values[-1], depth + 1)
            if any(e.kind not in ("bool", "unknown") for e in last):
                return last  # `x or default`
        return self.of("bool")

    def _attribute(self, node: ast.Attribute) -> list[Evidence]:
        owner = ast.unparse(node.value)
        if owner in ("tl", "triton.language") and node.attr in TL_NAMES:
            return self.of("dtype", value=TL_NAMES[node.attr])
        torch_dtype = canonical_dtype(node.attr) if owner == "torch" else None
        if torch_dtype:
            return self.of("dtype", value=torch_dtype)
        if node.attr in ("T", "mT", "data", "grad"):
            return self.of("tensor")
        return self.of("int") if node.attr in ("ndim", "nnz", "itemsize") else []

    def _subscript(self, node: ast.Subscript, depth: int) -> list[Evidence]:
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            return self.of("int")
        if isinstance(node.value, ast.Call) and name_of(node.value.func) in ("stride", "size"):
            return self.of("int")
        return [e for e in self.read(node.value, depth + 1) if e.kind == "tensor"]

    def _call(self, node: ast.Call, depth: int) -> list[Evidence]:
        name = name_of(node.func)
        if name == "data_ptr":
            return self.of("address")
        if name in INTEGER_METHODS or name in INTEGER_CALLS:
            value = self._evaluated(node)
            return self.of("int", value=value if isinstance(value, int) else None)
        if name in ("min", "max", "next_power_of_2"):
            return self._arithmetic(node, depth)
        if name == "bool":
            return self.of("bool")
        if name == "item":
            return []
        if name == "TensorDescriptor" or ast.unparse(node.func).endswith("TensorDescriptor.from_tensor"):
            return self._descriptor(node, depth)
        if name in TENSOR_CALLS:
            return self._tensor(node, name, depth)
        return self._arithmetic(node, depth) if name in ("float", "sqrt") else []

    def _tensor(self, node: ast.Call, name: str, depth: int) -> list[Evidence]:
        if name in ("float", "bool") and isinstance(node.func, ast.Name):
            return self.of(name)
        for keyword in node.keywords:
            if keyword.arg == "dtype":
                return self.of("tensor", self._dtype(keyword.value))
        for argument in node.args:
            element = self._dtype(argument)
            if element:
                return self.of("tensor", element)
        if isinstance(node.func, ast.Attribute) and not node.args and name in _CASTS:
            return self.of("tensor", _CASTS[name])
        if name in ("contiguous", "view", "reshape", "flatten", "clone", "detach", "cuda", "squeeze", "unsqueeze"):
            inner = self.read(node.func.value, depth + 1) if isinstance(node.func, ast.Attribute) else []
            return [e for e in inner if e.kind == "tensor"] or self.of("tensor")
        return self.of("tensor")

    def _dtype(self, node: ast.expr) -> str:
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("torch", "tl"):
            return canonical_dtype(node.attr) or ""
        return ""

    def _descriptor(self, node: ast.Call, depth: int) -> list[Evidence]:
        shape = node.args[-1] if node.args else None
        for keyword in node.keywords:
            if keyword.arg == "block_shape":
                shape = keyword.value
        dims = shape.elts if isinstance(shape, (ast.List, ast.Tuple)) else []
        tensor = self.read(node.args[0], depth + 1) if node.args else []
        element = next((e.element for e in tensor if e.kind == "tensor"), "")
        return self.of("descriptor", element, tuple(self._dimension(d) for d in dims))

    def _dimension(self, node: ast.expr) -> int | str | None:
        """A block dimension: a number, or the name it is written with (perhaps a parameter's)."""
        value = self._evaluated(node)
        if isinstance(value, int):
            return value
        return node.id if isinstance(node, ast.Name) else None

    def _arithmetic(self, node: ast.expr, depth: int) -> list[Evidence]:
        value = self._evaluated(node)
        if isinstance(value, (bool, int, float, str)):
            return [self._constant(value)]
        if isinstance(node, ast.UnaryOp):
            return self.read(node.operand, depth + 1)
        if isinstance(node, ast.BinOp):
            parts = self.read(node.left, depth + 1) + self.read(node.right, depth + 1)
            kinds = {e.kind for e in parts}
            if isinstance(node.op, ast.Div) or "float" in kinds:
                return self.of("float")
            return self.of("int") if kinds == {"int"} else []
        if isinstance(node, ast.Call) and name_of(node.func) in ("min", "max"):
            return self.of("int")
        return self.of("float") if isinstance(node, ast.Call) else []

    def _evaluated(self, node: ast.expr) -> Any:
        value = self._held(node).value
        return None if value is UNKNOWN else value

    def _held(self, node: ast.expr) -> MayBe:
        names = [n.id for n in walk(node) if isinstance(n, ast.Name)]
        assigned = {**self.constants, **self.locals}
        for name in (n for n in names if n in assigned and n not in self._values):
            self._values[name] = NOTHING  # where it is made of itself
            value = assigned[name]
            self._values[name] = NOTHING if value is None else self._held(value)
        return expression(node, self.namespace, {n: self._values[n] for n in names if n in assigned})
