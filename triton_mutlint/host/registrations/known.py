"""The interpreter where it follows lists element by element and runs Python's own functions on what is known."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from triton_mutlint.host.library.library import Interpreter
from triton_mutlint.host.modules.module import External, HostModule
from triton_mutlint.host.registrations.real import BUILTINS, MOST, Element, NotKnownError, Real
from triton_mutlint.host.registrations.things import (
    AT_RUN_TIME,
    Library,
    as_text,
    each_in,
    has_hole,
    hole,
    is_whole,
    opaque,
    shown,
    strings,
    written,
)
from triton_mutlint.host.state.core import Take
from triton_mutlint.host.state.state import State
from triton_mutlint.host.values.groups import Arguments, Cell, defaults, sequence
from triton_mutlint.host.values.values import (
    NO_VALUE,
    PLAIN,
    Attribute,
    CellId,
    ClassValue,
    FunctionValue,
    Value,
    constant,
    join,
    thing,
)
from triton_mutlint.host.values.written import Spot

_SURE = (FunctionValue, ClassValue, Library, HostModule)  # what counts as true


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
        if certain is not None or value.kind:
            return certain
        answers: set[bool | None] = {True if isinstance(one, _SURE) else None for one in value.things}
        for content in self.state.contents(value):
            filled = bool(content.fields) or content.kind == "object"
            whole = content.size is not None or content.kind == "dict"
            answers.add(True if filled else False if whole and content.rest == NO_VALUE else None)
        return answers.pop() if len(answers) == 1 else None


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


_EMPTY = thing(External("inspect.Parameter.empty"))


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

    def _f_inspect_signature(self, arguments: Arguments, node: ast.AST) -> Value:
        """The names and annotations of one function, by which registrars make schemas."""
        things = list(arguments.positional[0].things) if arguments.positional else []
        one = things[0] if len(things) == 1 else None
        if not isinstance(one, FunctionValue) or one.owner is not None:
            return opaque(AT_RUN_TIME)

        def meant(annotation: ast.expr | None) -> Value:
            known = annotation is not None and not (
                isinstance(annotation, ast.Constant) and isinstance(annotation.value, str))
            return self.evaluate_in(annotation, self.state, self.top(one.module)) if annotation is not None and known \
                else _EMPTY if annotation is None else opaque(AT_RUN_TIME)

        a, held = one.node.args, dict[object, Value]()
        given = defaults(a)
        for p in (*a.posonlyargs, *a.args, *a.kwonlyargs):
            fields = {"name": written(p.arg), "annotation": meant(p.annotation),
                      "default": opaque(AT_RUN_TIME) if p.arg in given else _EMPTY}
            held[p.arg] = self.make(node, Cell(fields, kind="object"), f"parameter {p.arg}")
        listed = self.make(node, Cell(held, kind="dict"), "parameters")
        gives = meant(getattr(one.node, "returns", None))
        return self.make(node, Cell({"parameters": listed, "return_annotation": gives}, kind="object"), "signature")

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
