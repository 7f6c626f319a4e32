"""The interpreter where it follows lists element by element and runs Python's own functions on what is known."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from triton_mutlint.host.library.library import Interpreter
from triton_mutlint.host.modules.module import HostModule
from triton_mutlint.host.registrations.real import BUILTINS, MOST, Element, NotKnownError, Real
from triton_mutlint.host.registrations.things import (
    as_text,
    each_in,
    has_hole,
    hole,
    is_unknown,
    is_whole,
    shown,
    strings,
    written,
)
from triton_mutlint.host.state.core import Take
from triton_mutlint.host.state.state import State
from triton_mutlint.host.values.groups import Arguments, Cell, sequence
from triton_mutlint.host.values.values import (
    NO_VALUE,
    PLAIN,
    Attribute,
    CellId,
    ClassValue,
    Value,
    join,
)
from triton_mutlint.host.values.written import Spot


class OneByOne(Interpreter):
    """Follows known lists to their end; of branches that are decided, one is followed only where calls lead to them."""

    stack: list[ast.AST]  # the calls that are being followed
    most, nested = MOST, 12

    def cell(self, node: ast.AST, what: str = "") -> CellId:
        place = super().cell(node, what)
        return (*place[:5], len(self.stack), *place[5:])

    def spot(self, node: ast.AST) -> Spot:
        return Spot(self.here.module, node, len(self.stack))

    # ------------------------------------------------------------------ lists

    def each(self, value: Value) -> list[Value] | None:
        """What a loop over `value` may be given, one after the other; None where there may be more."""
        if value.kind or value.things or not value.cells:
            return None
        found: list[Value] = []
        for content in self.state.contents(value):
            held = each_in(content)
            if held is None:
                return None
            found.extend(held)
        return found

    def is_whole(self, value: Value) -> bool:
        """Whether it is one list of known length, or one dict."""
        contents = self.state.contents(value)
        return len(contents) == 1 and is_whole(contents[0])

    def listed(self, values: Sequence[Value], node: ast.AST, whole: bool = True,
               kind: str = "list") -> Value:
        content = sequence(values, kind)
        return self.make(node, content if whole else replace(content, size=None))

    # ------------------------------------------------------------------ statements

    def _loop_over_one(self, value: Value, node: ast.AST, take: Take) -> bool:
        """Elements that may not be there are followed one by one, too."""
        items = None if self.is_whole(value) or self.runs_code(value) else self.each(value)
        if items is None or len(items) > MOST:
            return super()._loop_over_one(value, node, take)

        def taken(item: Value) -> bool:
            return self.repeated(lambda: take(item))

        return self._one_by_one(items, taken)

    def repeated(self, work: Callable[[], bool]) -> bool:
        """What may be done any number of times is followed once."""
        skipped = self.state.copy()
        if work():
            self.state.join(skipped)
        else:
            self.state = skipped
        return True

    def _s_if(self, node: ast.If) -> State | None:
        certain = self.condition(node.test)
        if certain is not None and (self.stack or self.rounds):  # a constant may be edited
            return self.block(node.body if certain else node.orelse, self.state)
        return self.both(node)

    def rebound(self, of: HostModule | ClassValue, name: str) -> Value:
        """A registration happens while files are imported: nothing is given anew yet."""
        return Value()

    def decorated(self, decorator: ast.expr, value: Value) -> Value:
        maker = self.evaluate(decorator)
        applied = self.call(maker, Arguments((value,)), decorator)
        return value if is_unknown(applied) or not (applied.things or applied.cells) else applied

    def hold_members(self, made: ClassValue, bound: Mapping[str, Value]) -> None:
        self.world.shared.members[id(made.node)] = bound

    def call(self, callee: Value, arguments: Arguments, node: ast.AST) -> Value:
        methods = [t for t in callee.things if isinstance(t, Attribute) and t.owner.cells]
        if len(methods) == len(callee.things) > len({t.name for t in methods}) == 1:  # of one of many containers
            one = replace(methods[0], owner=join(*(t.owner for t in methods)))
            callee = replace(callee, things=frozenset([one]))
        return super().call(callee, arguments, node)

    # ------------------------------------------------------------------ expressions

    def _constant(self, node: ast.Constant) -> Value:
        return written(node.value, self.spot(node))

    def _set(self, node: ast.Set) -> Value:
        return self._tuple(ast.copy_location(ast.List(node.elts, ast.Load()), node))

    def tested(self, value: Value, node: ast.AST) -> bool | None:
        certain = super().tested(value, node)
        if certain is not None or value.kind or value.things:
            return certain
        answers = {bool(content.size) if content.size is not None else None for content in self.state.contents(value)}
        return answers.pop() if len(answers) == 1 else None

class RealCalls(OneByOne):
    """Calls Python's builtins, and the methods of strings and dicts."""

    # ------------------------------------------------------------------ real values

    def really(self, function: Callable[..., object], arguments: Arguments, node: ast.AST,
               *before: Value) -> Value | None:
        """What a function of Python gives; None where it is not known."""
        real = Real(self.state)
        try:
            made = real.call(function, arguments, *before)
        except NotKnownError:
            return None
        if isinstance(made, (list, tuple, dict)):
            return self._contained(made, real.whole, node)
        return self._item(made, node, "") if real.whole else PLAIN

    def _contained(self, made: list[Any] | tuple[Any, ...] | dict[Any, Any], whole: bool, node: ast.AST) -> Value:
        if isinstance(made, dict):
            fields = {key: self._item(item, node, f"row {key}") for key, item in made.items()}
            return self.make(node, Cell(fields, kind="dict"))
        items = [self._item(item, node, f"row {i}") for i, item in enumerate(made)]
        return self.listed(items, node, whole, "tuple" if isinstance(made, tuple) else "list")

    def _item(self, item: Any, node: ast.AST, what: str) -> Value:
        if isinstance(item, Element):
            return item.value
        if isinstance(item, tuple):
            row = sequence([self._item(one, node, f"{what}.{i}") for i, one in enumerate(item)])
            return self.make(node, row, what)
        return written(item)

    def builtin(self, name: str, arguments: Arguments, node: ast.AST) -> Value:
        if name in ("list", "tuple", "sorted", "iter") and len(arguments.positional) == 1 and all(
                content.kind in ("list", "tuple") and content.owner is None
                for content in self.state.contents(arguments.positional[0])) and arguments.positional[0].cells:
            return arguments.positional[0]  # it says where its elements stand
        if name in BUILTINS:
            arguments = self._drained(arguments, node)
            made = self.really(BUILTINS[name], arguments, node)
            if made is not None:
                return made
        return super().builtin(name, arguments, node)

    def method(self, attribute: Attribute, arguments: Arguments, node: ast.AST) -> Value:
        """`owner.name(...)` of a string or a dict, with Python's own method if that changes nothing."""
        owner, name = attribute.owner, attribute.name
        if is_text(owner):
            function = getattr(str, name, None)
            given = self._drained(arguments, node)
            made = self.really(function, given, node, owner) if function is not None else None
            return written(hole("…")) if made is None else made
        contents = self.state.contents(owner)
        if name in ("items", "keys", "values", "get") and len(contents) == 1 and contents[0].kind == "dict":
            made = self.really(getattr(dict, name), arguments, node, owner)
            if made is not None:
                return made
        return super().method(attribute, arguments, node)

    def _taken(self, owner: Value, name: str, arguments: Arguments) -> Value:
        key, *others = (*arguments.positional, NO_VALUE)
        if name == "setdefault" and (key.constant is None or has_hole(key.constant[1])):
            self.state.grow(owner, join(*others))
            return join(*others)  # not any of all: there may be thousands
        return super()._taken(owner, name, arguments)

    def put_element(self, owner: Value, at: ast.expr | None, index: Value, value: Value, node: ast.AST) -> None:
        if at is not None and not isinstance(at, ast.Slice) and index.constant is None:
            self.state.grow(owner, value)  # not to all elements: there may be thousands
        else:
            super().put_element(owner, at, index, value, node)

    # ------------------------------------------------------------------ strings and operators

    def _joinedstr(self, node: ast.JoinedStr) -> Value:
        parts: list[str] = []
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                value = self.evaluate(part.value)
                plain = part.conversion == -1 and part.format_spec is None
                parts.append(as_text(value if plain else None, ast.unparse(part.value)))
            elif isinstance(part, ast.Constant):
                parts.append(str(part.value))
        return written("".join(parts), self.spot(node))

    def binary(self, node: ast.BinOp, left: Value, right: Value) -> Value:
        if isinstance(node.op, ast.Add) and (is_text(left) or is_text(right)):
            ours = strings(left) or (as_text(left, ast.unparse(node.left)),)
            theirs = strings(right) or (as_text(right, ast.unparse(node.right)),)
            return join(*(written(one + other, self.spot(node)) for one in ours for other in theirs))
        if isinstance(node.op, ast.Mod) and is_text(left):
            made = self.really(_percent, Arguments((left, right)), node)
            return written(hole("…")) if made is None else made
        return super().binary(node, left, right)

    def _indexed(self, tensor: Value, node: ast.expr, index: Value) -> Value:
        if not is_text(tensor):
            return super()._indexed(tensor, node, index)
        at = index.constant[1] if index.constant is not None else None
        if isinstance(node, ast.Slice):
            bounds = [self.literal_bound(part) for part in (node.lower, node.upper, node.step)]
            at = slice(*(value for _, value in bounds)) if all(known for known, _ in bounds) else None
        text = as_text(tensor, "…")
        if has_hole(text):
            return written(_cut(text, at) if isinstance(at, slice) else hole("…"))
        try:
            return written(text[at])  # type: ignore[index]
        except (TypeError, IndexError):
            return written(hole("…"))


def is_text(value: Value) -> bool:
    return bool(value.texts) or (value.constant is not None and isinstance(value.constant[1], str))


def _percent(text: str, values: Any) -> str:
    return text % (tuple(values) if isinstance(values, list) else values)


def _cut(text: str, at: slice) -> str:
    """A part of a text with holes: known where what is cut away has none, so that it may be counted."""
    start, stop = at.start or 0, len(text) if at.stop is None else at.stop
    ends = text[:start] if start >= 0 else text[start:], text[:stop] if 0 <= stop < len(text) else text[stop:]
    return text[at] if at.step in (None, 1) and all(shown(end) == end for end in ends) else hole("…")
