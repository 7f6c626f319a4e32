"""Strings, dicts and builtins where loops are followed element by element."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from triton_mutlint.host.registrations.one_by_one import MAX_UNROLLED, OneByOne
from triton_mutlint.host.registrations.text_methods import formatted, text_method
from triton_mutlint.host.registrations.things import (
    AT_RUN_TIME,
    LONG,
    InferredSchema,
    as_text,
    joined,
    opaque,
    string,
    strings,
    text_value,
    written,
)
from triton_mutlint.host.state.core import Activation
from triton_mutlint.host.state.state import State
from triton_mutlint.host.values.arguments import Arguments
from triton_mutlint.host.values.cells import KEYS, Cell, sequence
from triton_mutlint.host.values.texts import Text
from triton_mutlint.host.values.values import (
    NO_VALUE,
    PLAIN,
    Attribute,
    Sort,
    Value,
    constant,
    join,
    thing,
    told,
)

LONGEST_RANGE = 256


class OneByOneLibrary(OneByOne):
    """Computes strings, and what builtins make of known lists."""

    # ------------------------------------------------------------------ strings

    def _joinedstr(self, node: ast.JoinedStr, state: State, here: Activation) -> Value:
        parts: list[Text] = []
        values: list[Value] = []
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                values.append(self.evaluate(part.value, state, here))
                plain = part.conversion == -1 and part.format_spec is None
                shown = ast.unparse(part.value)
                parts.append(as_text(values[-1], shown) if plain else Text(f"{{{shown}}}", False))
            elif isinstance(part, ast.Constant):
                parts.append(Text(str(part.value)))
        return text_value(_placeless(joined(parts)), self.spot(node, here))

    def binary(self, node: ast.BinOp, left: Value, right: Value, state: State, here: Activation) -> Value:
        if isinstance(node.op, ast.Add):
            schemas = [one for one in right.things if isinstance(one, InferredSchema)]
            if any(isinstance(one, InferredSchema) for one in left.things):
                return left  # what follows an inferred schema cannot change its arguments
            if schemas:
                before = as_text(left, ast.unparse(node.left))
                made = [thing(replace(s, prefix=joined([before, s.prefix]))) for s in schemas]
                return join(*made)
            if _is_text(left) or _is_text(right):
                ours = strings(left) or [as_text(left, ast.unparse(node.left))]
                theirs = strings(right) or [as_text(right, ast.unparse(node.right))]
                spot = self.spot(node, here)
                return join(*(text_value(_placeless(joined(pair)), spot)
                              for pair in ((a, b) for a in ours for b in theirs)))
        if isinstance(node.op, ast.Mod) and _is_text(left):
            values = [right] if not right.cells else self.each(right, state) or []
            return formatted(as_text(left, "…"), values)
        return super().binary(node, left, right, state, here)

    def _joined_containers(self, node: ast.BinOp, left: Value, right: Value, state: State, here: Activation) -> Value:
        ours, theirs = self.each(left, state), self.each(right, state)
        kinds = {content.kind for content in (*state.contents(left), *state.contents(right))}
        if isinstance(node.op, ast.Mult) or ours is None or theirs is None or "dict" in kinds:
            return super()._joined_containers(node, left, right, state, here)
        if len(ours) + len(theirs) > LONG:
            return opaque(AT_RUN_TIME)
        whole = self.is_whole(left, state) and self.is_whole(right, state)
        return self.listed([*ours, *theirs], node, state, here, whole, kinds.pop())

    def _indexed(self, tensor: Value, node: ast.expr, index: Value, state: State) -> Value:
        if not _is_text(tensor):
            return super()._indexed(tensor, node, index, state)
        text, at = string(tensor), index.constant[1] if index.constant is not None else None
        if text is not None and isinstance(node, ast.Slice):
            bounds = [self.literal_bound(part) for part in (node.lower, node.upper, node.step)]
            if all(known for known, _ in bounds):
                return text_value(Text(text[slice(*(value for _, value in bounds))]), as_text(tensor, "").spot)
        elif text is not None and isinstance(at, int) and -len(text) <= at < len(text):
            return text_value(Text(text[at]))
        return text_value(Text("{…}", False))

    def method(self, attribute: Attribute, arguments: Arguments, node: ast.AST, state: State,
               here: Activation) -> Value:
        owner = attribute.owner
        if not _is_text(owner):
            return super().method(attribute, arguments, node, state, here)
        listed = [self.each(value, state) for value in arguments.positional[:1]]
        made = text_method(as_text(owner, "…"), attribute.name, arguments, listed[0] if listed else None)
        if made is None:
            return self.not_known(owner, arguments, node, state, here)
        return made if isinstance(made, Value) else self.listed(made, node, state, here)

    # ------------------------------------------------------------------ dicts

    def _viewed(self, owner: Value, name: str, contents: list[Cell], arguments: Arguments, node: ast.AST, state: State,
                here: Activation) -> Value:
        whole = all(content.kind == "dict" and content.rest == NO_VALUE for content in contents)
        if name not in ("items", "values", "keys") or not whole:
            return super()._viewed(owner, name, contents, arguments, node, state, here)
        pairs = [(written(k, None), v) for content in contents for k, v in content.fields.items() if k != KEYS]
        if name == "items":
            rows = [self.make(node, sequence(pair), state, here, f"row {i}") for i, pair in enumerate(pairs)]
            return self.listed(rows, node, state, here)
        return self.listed([pair[name == "values"] for pair in pairs], node, state, here)

    def _taken(self, owner: Value, name: str, arguments: Arguments, state: State) -> Value:
        contents, key = state.contents(owner), arguments.positional[0].constant if arguments.positional else None
        if name == "get" and key is not None and len(contents) == 1 and contents[0].rest == NO_VALUE:
            held = contents[0].get(key[1])
            return held if held is not None else (*arguments.positional[1:], constant(None))[0]
        if name == "setdefault" and key is None:
            state.grow(owner, join(*arguments.positional[1:]))
            return join(*arguments.positional[1:])
        return super()._taken(owner, name, arguments, state)

    def put_element(self, owner: Value, at: ast.expr | None, index: Value, value: Value, node: ast.AST, state: State,
                    here: Activation) -> None:
        if index.constant is None and at is not None and not isinstance(at, ast.Slice):
            state.grow(owner, value)  # not to all elements: there may be thousands
        else:
            super().put_element(owner, at, index, value, node, state, here)

    # ------------------------------------------------------------------ builtins

    def _builtin(self, name: str, arguments: Arguments, node: ast.AST, state: State, here: Activation) -> Value:
        if hasattr(self, f"_b_{name.replace('.', '_')}"):
            return super()._builtin(name, arguments, node, state, here)
        return self.not_known(NO_VALUE, arguments, node, state, here)

    def standard(self, name: str, arguments: Arguments, node: ast.AST, state: State, here: Activation) -> Value:
        if hasattr(self, f"_f_{name.replace('.', '_')}"):
            return super().standard(name, arguments, node, state, here)
        return self.not_known(NO_VALUE, arguments, node, state, here)

    def lazily(self, made: Value, name: str, arguments: Arguments, state: State) -> None:
        """Iterators are followed at once."""

    def _same_items(self, arguments: Arguments, node: ast.AST, state: State, here: Activation) -> Value:
        if not arguments.positional:
            return self.listed([], node, state, here)
        first = arguments.positional[0]
        items = self.each(first, state)
        if items is None or all(c.kind in ("list", "tuple") and c.owner is None for c in state.contents(first)):
            return first
        return self.listed(items, node, state, here, self.is_whole(first, state))

    _b_list = _b_tuple = _b_set = _b_frozenset = _b_sorted = _b_iter = _same_items

    def _from_lists(self, arguments: Arguments, node: ast.AST, state: State, here: Activation,
                    make: Callable[..., list[Value]]) -> Value:
        """What a builtin gives for lists, if they are known."""
        lists = [self.each(value, state) for value in arguments.positional]
        known = [held for held in lists if held is not None and len(held) <= MAX_UNROLLED]
        if len(known) != len(lists) or arguments.star is not None or not lists:
            return self.not_known(NO_VALUE, arguments, node, state, here)
        return self.listed(make(*known), node, state, here,
                           all(self.is_whole(value, state) for value in arguments.positional))

    def _b_zip(self, arguments: Arguments, node: ast.AST, state: State, here: Activation) -> Value:
        return self._from_lists(arguments, node, state, here, lambda *known: [
            self.make(node, sequence(row), state, here, f"row {i}") for i, row in enumerate(zip(*known, strict=False))])

    def _b_enumerate(self, arguments: Arguments, node: ast.AST, state: State, here: Activation) -> Value:
        return self._from_lists(arguments, node, state, here, lambda held, *_: [
            self.make(node, sequence((constant(i), one)), state, here, f"row {i}") for i, one in enumerate(held)])

    def _b_reversed(self, arguments: Arguments, node: ast.AST, state: State, here: Activation) -> Value:
        return self._from_lists(arguments, node, state, here, lambda held, *_: held[::-1])

    def _b_map(self, arguments: Arguments, node: ast.AST, state: State, here: Activation) -> Value:
        function, *sources = arguments.positional or (NO_VALUE,)

        def call(*known: list[Value]) -> list[Value]:
            made = []
            for i, row in enumerate(zip(*known, strict=False)):
                self.rounds = (*self.rounds, i)
                made.append(self.call(function, Arguments(row), node, state, here))
                self.rounds = self.rounds[:-1]
            return made

        return self._from_lists(replace(arguments, positional=tuple(sources)), node, state, here, call)

    def _b_filter(self, arguments: Arguments, node: ast.AST, state: State, here: Activation) -> Value:
        items = self.each(arguments.positional[-1], state) if arguments.positional else None
        if items is None:
            return self.not_known(NO_VALUE, arguments, node, state, here)
        return self.listed(items, node, state, here, False)

    def _b_len(self, arguments: Arguments, node: ast.AST, state: State, here: Activation) -> Value:
        first = arguments.positional[0] if arguments.positional else NO_VALUE
        items = self.each(first, state)
        return constant(len(items)) if items is not None and self.is_whole(first, state) else PLAIN

    def _b_range(self, arguments: Arguments, node: ast.AST, state: State, here: Activation) -> Value:
        bounds = [v.constant[1] for v in arguments.positional if v.constant is not None]
        whole = [bound for bound in bounds if isinstance(bound, int)]
        if not whole or len(whole) != len(arguments.positional) or len(whole) > 3 or whole[2:] == [0]:
            return opaque(AT_RUN_TIME)
        numbers = range(*whole)
        if len(numbers) > LONGEST_RANGE:
            return opaque(AT_RUN_TIME)
        return self.listed([constant(number) for number in numbers], node, state, here)

    def _b_str(self, arguments: Arguments, node: ast.AST, state: State, here: Activation) -> Value:
        first = arguments.positional[0] if arguments.positional else constant("")
        return text_value(as_text(first, "…"))

    def _f_itertools_chain(self, arguments: Arguments, node: ast.AST, state: State, here: Activation) -> Value:
        return self._from_lists(arguments, node, state, here, lambda *known: [one for held in known for one in held])


def _is_text(value: Value) -> bool:
    return string(value) is not None or (bool(told(value)) and value.kind == Sort.PLAIN)


def _placeless(text: Text) -> Text:
    return replace(text, text=str(text.text))
