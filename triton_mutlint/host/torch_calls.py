"""Calls of torch functions and Tensor methods, by what the table says of them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from triton_mutlint.host import torch_table
from triton_mutlint.host.arguments import Arguments
from triton_mutlint.host.attributes import applied
from triton_mutlint.host.core import Activation, text_of
from triton_mutlint.host.functions import FunctionsMixin
from triton_mutlint.host.model import OpRegistration
from triton_mutlint.host.state import State
from triton_mutlint.host.torch_table import TorchEffect
from triton_mutlint.host.values import UNSEEN, Attribute, FunctionValue, Kind, Value, join, truth, weakened

# Methods that hardly anything but a tensor has: enough to take an unknown object for one.
_TENSOR_ONLY = frozenset({
    "view", "reshape", "to", "contiguous", "size", "stride", "numel", "dim", "data_ptr", "element_size",
    "is_contiguous", "new_empty", "new_zeros", "new_tensor",
    "clone", "unsqueeze", "squeeze", "expand", "permute", "transpose", "t",
    "detach", "float", "half", "bfloat16", "item", "tolist", "cpu", "cuda", "flatten", "narrow", "storage_offset",
})  # fmt: skip


class TorchCallsMixin(FunctionsMixin):
    """Applies torch's functions."""

    def torch_function(self, name: str, arguments: Arguments, node: ast.AST, state: State, here: Activation) -> Value:
        """`torch.x(...)`; `torch.ops.ns.op(...)` of an op that the run knows runs its implementation."""
        if name.startswith("torch.ops."):
            ops = self.world.ops.get("::".join(name.split(".")[2:4]))
            if ops:
                return join(*(self._op(op, arguments, node, state, here) for op in ops))
        if name.startswith(("torch.library.", "torch._library.")):
            return arguments.positional[0] if len(arguments.positional) == 1 else UNSEEN
        effect = torch_table.function(name)
        if effect is None:
            return self.not_known(UNSEEN, arguments, node, state, here)
        return self.apply(effect, arguments, node, state, here)

    def _op(self, op: OpRegistration, arguments: Arguments, node: ast.AST, state: State, here: Activation) -> Value:
        """Another op of the run: what its implementation does counts, or else what it declares."""
        if op.functions:
            results = [self.invoke(FunctionValue(module, function), arguments, node, state, here)
                       for module, function in op.functions]
            return join(*results)
        if op.declaration.names is None or not op.arguments:
            return self.not_known(UNSEEN, arguments, node, state, here)
        for index, name in enumerate(op.arguments):
            given = arguments.get(index, name)
            if given is not None and name in op.declaration.names:
                self._write(given, self.effect(f"`{op.name}` declares that it writes `{name}`", node, here), state)
        return Value(kind=Kind.TENSOR)

    def tensor_method(self, attribute: Attribute, arguments: Arguments, node: ast.AST, state: State,
                      here: Activation) -> Value:
        """`x.name(...)`, where `x` is a tensor, or may be one."""
        owner, name = attribute.owner, attribute.name
        effect = torch_table.method(name)
        sure = bool(owner.kind & Kind.TENSOR or owner.same or owner.maybe)
        if effect is None or not (sure or name in _TENSOR_ONLY or (name.endswith("_") and not name.endswith("__"))):
            return self.not_known(owner, arguments, node, state, here)
        return self.apply(effect, arguments.before(owner), node, state, here)

    def apply(self, effect: TorchEffect, arguments: Arguments, node: ast.AST, state: State, here: Activation) -> Value:
        """Note what a torch function writes; the result shares storage as `effect` says."""
        given, spare = self._given(effect, arguments, state)
        what = f"`{text_of(node)}`"
        result = applied(effect, given)
        if any(value.roots for value in spare):  # a keyword that the table does not have
            result = join(result, self.not_known(UNSEEN, Arguments(tuple(spare)), node, state, here))
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
                self._write(value if on else weakened(value), self.effect(what, node, here), state)
        for position in effect.metadata:
            value = given[position]
            if value is not None and position not in writes:
                self._write(value, self.effect(what, node, here), state)
        for name in effect.writes_named:
            value = arguments.named.get(name)
            if value is not None and not value.is_constant(None):
                self._write(value, self.effect(what, node, here), state)
                result = join(replace(result, same=result.same | value.same), value)
        return result

    def _write(self, value: Value, effect: object, state: State) -> None:
        elements = state.elements(value) if value.cells else Value()
        self.effects.write(value, effect)  # type: ignore[arg-type]
        self.effects.write(elements, effect)  # type: ignore[arg-type]

    def _given(self, effect: TorchEffect, arguments: Arguments, state: State) -> tuple[list[Value | None], list[Value]]:
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
                held = state.elements(value)
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
                for position in range(len(arguments.positional) if rest is arguments.star else 0, len(given)):
                    if given[position] is None:
                        put(position, rest)
        return given, spare


