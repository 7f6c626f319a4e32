"""The interpreter where it follows lists element by element and runs Python's own functions on what is known."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from triton_mutlint.host.library.library import Interpreter
from triton_mutlint.host.modules.module import External, HostModule
from triton_mutlint.host.registrations.things import (
    LONG,
    as_text,
    each_in,
    has_hole,
    hole,
    is_unknown,
    is_whole,
    shown,
    strings,
    take,
    written,
)
from triton_mutlint.host.state.core import Take
from triton_mutlint.host.state.state import State
from triton_mutlint.host.values.groups import Arguments, Cell, sequence
from triton_mutlint.host.values.values import (
    NO_VALUE,
    NONE,
    PLAIN,
    Attribute,
    CellId,
    ClassValue,
    Value,
    constant,
    join,
)
from triton_mutlint.host.values.written import Spot

MOST = 2_048  # elements of a list that is followed one by one
_WIDE = re.compile(r"\d{4}")  # in a format: a width that makes a short string a long one
_SAME_ELEMENTS = ("list", "tuple", "sorted", "iter", "set", "frozenset")


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

    def handed(self, given: Iterable[Value], node: ast.AST, beside: Iterable[Value] = (), deep: bool = False) -> None:
        """Special methods that Python may call register nothing."""

    def hold_members(self, made: ClassValue, bound: Mapping[str, Value]) -> None:
        self.world.shared.members[id(made.node)] = bound

    def call(self, callee: Value, arguments: Arguments, node: ast.AST) -> Value:
        methods = [t for t in callee.things if isinstance(t, Attribute) and t.owner.cells]
        if len(methods) == len(callee.things) > len({t.name for t in methods}) == 1:  # of one of many containers
            one = replace(methods[0], owner=join(*(t.owner for t in methods)))
            callee = replace(callee, things=frozenset([one]))
        return super().call(callee, arguments, node)

    # ------------------------------------------------------------------ expressions

    def compared(self, op: ast.cmpop, left: Value, right: Value) -> Value | None:
        """Classes of Python and torch, such as annotations are, are told apart by their names."""
        same = _is_same(left, right) if isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)) else None
        return super().compared(op, left, right) if same is None else constant(same is isinstance(op, (ast.Is, ast.Eq)))

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

    def builtin(self, name: str, arguments: Arguments, node: ast.AST) -> Value:
        given = arguments.positional
        contents = self.state.contents(given[0]) if len(given) == 1 else []
        if name in _SAME_ELEMENTS and contents and all(
                content.kind in ("list", "tuple") and content.owner is None for content in contents):
            return given[0]  # it says where its elements stand
        if name == "len" and len(contents) == 1 and is_whole(contents[0]):
            return constant(len(each_in(contents[0]) or ()))
        if name == "str" and len(given) == 1 and is_text(given[0]):
            return given[0]
        return super().builtin(name, arguments, node)

    def method(self, attribute: Attribute, arguments: Arguments, node: ast.AST) -> Value:
        """`owner.name(...)` of a known dict, or of a string, by Python's own method."""
        contents = self.state.contents(attribute.owner)
        if len(contents) == 1 and contents[0].kind == "dict":
            found = self._of_dict(contents[0], attribute.name, arguments, node)
            return super().method(attribute, arguments, node) if found is None else found
        if not is_text(attribute.owner):
            return super().method(attribute, arguments, node)
        given = self._drained(arguments, node)
        return self.by_python(getattr(str, attribute.name, None), given.before(attribute.owner), node)

    def _of_dict(self, content: Cell, name: str, arguments: Arguments, node: ast.AST) -> Value | None:
        keys = each_in(content)
        if keys is None or content.source != NO_VALUE:
            return None
        if name == "get" and arguments.positional and (key := arguments.positional[0].constant) is not None:
            return content.get(key[1]) or take(arguments, 1, "default") or NONE
        values = [content.fields[key.constant[1]] for key in keys if key.constant is not None]
        if name == "items":
            pairs = zip(keys, values, strict=True)
            values = [self.make(node, sequence(pair), f"row {i}") for i, pair in enumerate(pairs)]
        found = {"keys": keys, "values": values, "items": values}.get(name)
        return self.make(node, sequence(found, "list")) if found is not None else None

    def by_python(self, function: Callable[..., Any] | None, arguments: Arguments, node: ast.AST) -> Value:
        """What a function of Python gives for strings; it carries holes along as letters."""
        given = [self._real(value) for value in arguments.positional]
        named = {name: self._real(value) for name, value in arguments.named.items()}
        texts = [text for one in given for text in (one if isinstance(one, tuple) else (one,)) if isinstance(text, str)]
        large = sum(map(len, texts)) > LONG or any(isinstance(one, int) and one > LONG for one in given) or (
            function in (str.format, str.__mod__) and _WIDE.search(texts[0]) is not None)
        if function is None or large or arguments.star is not None or arguments.double_star is not None:
            return written(hole("…"))
        try:
            made = function(*given, **named)
        except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError):
            return written(hole("…"))
        if isinstance(made, (list, tuple)):
            return self.make(node, sequence(map(written, made), "tuple" if isinstance(made, tuple) else "list"))
        return written(made) if isinstance(made, str) or not any(map(has_hole, texts)) else PLAIN

    def _real(self, value: Value) -> Any:
        """A constant, a tuple of such, or a hole."""
        items = None if value.constant is not None else self.each(value)
        if items is not None:
            return tuple(self._real(item) for item in items)
        return hole("…") if value.constant is None else value.constant[1]

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
            return self.by_python(str.__mod__, Arguments((left, right)), node)
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


def _is_same(left: Value, right: Value) -> bool | None:
    """Whether two names outside stand for one class; `list` may stand for `list[int]`, too.

    Two names of one class are spelt alike, but for their modules.
    """
    one, other = (v.things if not v.kind and not v.cells and len(v.things) == 1 else frozenset() for v in (left, right))
    names = [t.name for t in (*one, *other) if isinstance(t, External)]
    last = {name.rpartition(".")[2] for name in names}
    if len(names) < 2 or not any(name.startswith("builtins.") or name.rpartition(".")[2].istitle() for name in names):
        return None
    plain = not any(hasattr(getattr(builtins, name, None), "__class_getitem__") for name in last)
    return False if len(last) == 2 else True if plain and names[0] == names[1] else None


def is_text(value: Value) -> bool:
    return bool(value.texts) or (value.constant is not None and isinstance(value.constant[1], str))


def _cut(text: str, at: slice) -> str:
    """A part of a text with holes: known where what is cut away has none, so that it may be counted."""
    start, stop = at.start or 0, len(text) if at.stop is None else at.stop
    ends = text[:start] if start >= 0 else text[start:], text[:stop] if 0 <= stop < len(text) else text[stop:]
    return text[at] if at.step in (None, 1) and all(shown(end) == end for end in ends) else hole("…")
