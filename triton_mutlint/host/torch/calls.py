"""Calls of torch functions and Tensor methods, by what the table says of them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from triton_mutlint.host.calls.calls import Calling
from triton_mutlint.host.expressions.attributes import is_array
from triton_mutlint.host.model import Implementation, OpRegistration
from triton_mutlint.host.modules.module import External
from triton_mutlint.host.torch import table as torch_table
from triton_mutlint.host.torch.schema import Schema
from triton_mutlint.host.torch.table import Result, TorchEffect, applied
from triton_mutlint.host.values.groups import Arguments, merged
from triton_mutlint.host.values.values import (
    NOTHING,
    UNSEEN,
    Attribute,
    FunctionValue,
    Sort,
    Value,
    join,
    thing,
    truth,
    weakened,
)

# Methods that hardly anything but a tensor has: enough to take an unknown object for one.
_TENSOR_ONLY = frozenset({
    "view", "reshape", "to", "contiguous", "size", "stride", "numel", "dim", "data_ptr", "element_size",
    "is_contiguous", "new_empty", "new_zeros", "new_tensor",
    "clone", "unsqueeze", "squeeze", "expand", "permute", "transpose", "t",
    "detach", "float", "half", "bfloat16", "item", "tolist", "cpu", "cuda", "flatten", "narrow", "storage_offset",
})  # fmt: skip


# Methods of arrays that give another view of them, or only look.
_ARRAYS = frozenset({"view", "reshape", "numpy", "item", "tolist", "size", "sum", "mean", "__getitem__"})
# Parameters that take no tensor, nor what stands for one.
_SETTINGS = frozenset({"dtype", "device", "layout", "memory_format", "out_dtype", "non_blocking", "pin_memory"})
# With one of these, a class decides itself what torch's functions do to its objects.
_OVERRIDES = ("__torch_function__", "__torch_dispatch__")


class TorchCalls(Calling):
    """Applies torch's functions."""

    def torch_function(self, name: str, arguments: Arguments, node: ast.AST) -> Value:
        """`torch.x(...)`; `torch.ops.ns.op(...)` of an op that the run knows runs its implementation."""
        if name.startswith("torch.ops."):
            namespace, op, *overload = [*name.split(".")[2:], ""][:3]
            several = self.world.ops.get(".".join(filter(None, (f"{namespace}::{op}", *overload))))
            ops = several or self.world.ops.get(f"{namespace}::{op}")
            own = namespace == "aten" and torch_table.function(name) is not None  # on some devices it has another body
            if ops and not own:
                return join(*(self._op(op, arguments, node) for op in ops))
            if torch_table.function(name) is None:
                schemas = self.world.compiled.schemas(self.here.module, namespace, op, "".join(overload))
                if schemas:
                    return self._compiled(schemas, arguments, node)
        if name.startswith(("torch.library.", "torch._library.")):
            return arguments.positional[0] if len(arguments.positional) == 1 else UNSEEN
        if name == "torch.is_tensor":
            tensor = thing(External("torch.Tensor"))
            return self.external("builtins.isinstance", Arguments((*arguments.positional, tensor)), node)
        effect = torch_table.function(name)
        if effect is None:
            return self.not_known(UNSEEN, arguments, node)
        if name == "torch.einsum" and _is_contraction(arguments):
            effect = replace(effect, maybe=())
        return self.apply(effect, arguments, node)

    def _op(self, op: OpRegistration, arguments: Arguments, node: ast.AST) -> Value:
        """Another op of the run: what its implementation does counts, or else what it declares."""
        if op.functions:
            return join(*(self.call(self.registered(one), arguments, node) for one in op.functions))
        if op.declaration.names is None or not op.arguments:
            return self.not_known(UNSEEN, arguments, node)
        positions = [name for name in op.arguments if name not in op.keyword_only]
        told = [(op.name, positions, op.declaration.names)]
        return self._declared(told, arguments, node)

    def registered(self, one: Implementation) -> Value:
        """What an op was registered with, where its closures and containers hold what they did then."""
        if one.is_plain:
            value, top = thing(FunctionValue(one.module, one.node)), self.top(one.module)
            for decorator in reversed(one.applied):
                with self.at(self.module_state, top):
                    value = self.decorated(decorator, value)
            return value
        if id(one) not in self.world.shared.registered:
            self.world.shared.registered.add(id(one))
            self.scopes.update({scope: one.state.scopes.get(scope) for scope in one.state.names})
            known = self.module_state.heap
            self.module_state.update({c: merged(known.get(c, held), held) for c, held in one.state.heap.items()})
            for scope, names in one.state.names.items():
                self.module_state.names[scope] = {**names, **self.module_state.names.get(scope, {})}
            self.loosen(one.value, False)
        return one.value

    def _compiled(self, schemas: Sequence[Schema], arguments: Arguments, node: ast.AST) -> Value:
        """An op in C++; where its overloads differ, any of them.

        What one declares as written that returns nothing is its only result. One that returns tensors may declare
        more than it does: flash-attn's `fwd` declares `q`.
        """
        told = [(s.name, [a.name for a in s.arguments if not a.kwarg_only], () if s.returns else s.mutated)
                for s in schemas]
        return self._declared(told, arguments, node)

    def _declared(self, several: Sequence[tuple[str, list[str], Sequence[str]]], arguments: Arguments,
                  node: ast.AST) -> Value:
        """Ops without code, by name, arguments and what they declare: that much they write, for all that is known."""
        written: dict[int, Value] = {}
        for op, positions, names in several:
            for name in names:
                given = arguments.get(positions.index(name) if name in positions else -1, name)
                if given is not None:
                    written[id(given)] = given
                    effect = self.effect(f"`{op}` declares that it writes `{name}`", node)
                    self._write(given if len(several) == 1 else weakened(given), effect)
        others = [value for value in arguments if id(value) not in written]
        self.effects.gap(self.effect(f"the code of {self.callee(node)} is not there", node), self.state, others)
        same, maybe = self.state.reach(arguments)
        return Value(kind=Sort.TENSOR | Sort.OTHER, unsure=same | maybe)

    def tensor_method(self, attribute: Attribute, arguments: Arguments, node: ast.AST) -> Value:
        """`x.name(...)`, where `x` is a tensor, or may be one."""
        owner, name = attribute.owner, attribute.name
        effect = torch_table.method(name)
        sure = bool(owner.kind & Sort.TENSOR or owner.same or owner.maybe)
        if is_array(owner) and name not in _ARRAYS:
            return self.not_known(owner, arguments, node)
        if effect is None or not (sure or name in _TENSOR_ONLY or (name.endswith("_") and not name.endswith("__"))):
            return self.not_known(owner, arguments, node)
        result = self.apply(effect, arguments.before(owner), node)
        if result.roots and (name in ("numpy", "__array__") or is_array(owner)) and result.kind & Sort.TENSOR:
            return replace(result, kind=Sort.OTHER)
        return result

    def apply(self, effect: TorchEffect, arguments: Arguments, node: ast.AST) -> Value:
        """Note what a torch function writes; the result shares storage as `effect` says."""
        given, spare = self._given(effect, arguments)
        settings = [given[at] for at, name in enumerate(effect.parameters) if name in _SETTINGS]
        self.handed([value for value in arguments if value not in settings], node)
        what = self.quoted(node)
        self._exposed(effect, given)
        if self._overridden(arguments):
            return self.not_known(UNSEEN, arguments, node)
        result = replace(applied(effect, given), some=effect.result is Result.TENSOR)
        if any(value.roots for value in spare):  # a keyword that the table does not have
            result = join(result, self.not_known(UNSEEN, Arguments(tuple(spare)), node))
        result = self._written(effect, arguments, given, result, what, node)
        for name in effect.writes_named:
            value = arguments.named.get(name)
            if value is not None and not value.is_constant(None):
                self._write(value, self.effect(what, node))
                result = join(replace(result, same=result.same | value.same), value)
        return result

    def _overridden(self, arguments: Arguments) -> bool:
        owners = (content.owner for value in arguments for content in self.state.contents(value))
        return any(self.class_member(owner, name) for owner in owners if owner is not None for name in _OVERRIDES)

    def _written(self, effect: TorchEffect, arguments: Arguments, given: list[Value | None], result: Value, what: str,
                 node: ast.AST) -> Value:
        """Note what is written by position; the result, which flags may make an argument itself."""
        writes: Sequence[int] = effect.writes
        on: bool | None = True
        if effect.only_if:
            flag = arguments.get(effect.named(effect.only_if) or -1, effect.only_if)
            on = effect.only_if_default if flag is None else truth(flag)
            writes = () if on is False else writes
        copies = arguments.named.get("copy")
        if copies is not None and copies.is_constant(True):
            result = replace(result, same=frozenset(), maybe=frozenset())
        if effect.inplace:
            flag = arguments.get(effect.named(effect.inplace) or -1, effect.inplace)
            if flag is not None and truth(flag) is not False and given[0] is not None:
                writes = (*writes, 0)
                result = join(result, given[0]) if truth(flag) is None else given[0]
        for position in writes:
            value = given[position]
            if value is not None:
                self._write(value if on else weakened(value), self.effect(what, node))
                self._takes_addresses(value, given, node)
        for position in effect.metadata:
            value = given[position]
            if value is not None and position not in writes:
                self._write(value, self.effect(what, node))
        return result

    def _exposed(self, effect: TorchEffect, given: Sequence[Value | None]) -> None:
        for position in effect.carries:
            value = given[position]
            if value is not None:
                self.effects.exposed.update(dict.fromkeys(value.roots))

    def _takes_addresses(self, value: Value, given: Sequence[Value | None], node: ast.AST) -> None:
        """`table.copy_(addresses)`: the tensor holds them from now on."""
        carried = NOTHING.union(*(other.carried for other in given if other is not None))
        if carried - value.carried and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            self.assign(node.func.value, replace(value, carried=value.carried | carried))

    def _write(self, value: Value, effect: object) -> None:
        elements = self.state.elements(value) if value.cells else Value()
        self.effects.write(value, effect)  # type: ignore[arg-type]
        self.effects.write(elements, effect)  # type: ignore[arg-type]

    def _given(self, effect: TorchEffect, arguments: Arguments) -> tuple[list[Value | None], list[Value]]:
        """The arguments by the effect's positions, and those that have none.

        Of lists, what they hold counts as the list's own.
        """
        given: list[Value | None] = [None] * len(effect.parameters)
        spare: list[Value] = []

        def put(position: int | None, value: Value) -> None:
            if position is None:
                spare.append(value)
                return
            if value.cells:
                held = self.state.elements(value)
                value = replace(join(value, held), cells=frozenset())
            old = given[position]
            given[position] = value if old is None else join(old, value)

        for index, value in enumerate(arguments.positional):
            put(effect.position(index), value)
        for name, value in arguments.named.items():
            if name not in effect.writes_named:
                put(effect.named(name), value)
        for rest in (arguments.star, arguments.double_star):
            if rest is not None:
                first = effect.position(len(arguments.positional)) if rest is arguments.star else 0
                for position in range(len(given) if first is None else first, len(given)):
                    takes_all = rest is arguments.star and effect.parameters[position].startswith("*")
                    if given[position] is None or takes_all:
                        put(position, rest)
        return given, spare


def _is_contraction(arguments: Arguments) -> bool:
    """Whether `einsum` is given an equation and several operands: of one alone it may give a view."""
    equation, *operands = arguments.positional or (UNSEEN,)
    return equation.constant is not None and len(operands) > 1
