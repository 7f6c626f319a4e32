"""An autotune decorator as written: its arguments by name, with the places of all their parts.

Imports libcst; whoever imports this says what to do where that is not installed.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import libcst as cst
from libcst import matchers
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from triton_mutlint.fixes.document import Document
from triton_mutlint.fixes.edit import CannotFixError
from triton_mutlint.fixes.sequence import Items

# The parameters of `triton.autotune` in order (`triton/runtime/autotuner.py`, Triton 3.6 to 3.9).
_POSITIONS = ("configs", "key", "prune_configs_by", "reset_to_zero", "restore_value", "pre_hook", "post_hook")
_NO_ITEMS = Items("", (), 0, 0)
_LISTS = frozenset({"reset_to_zero", "restore_value"})


@dataclass(frozen=True)
class Argument:
    """One argument: its parameter, `keyword` if given by one, and the spans of all of it and of its value.

    `names` and `items` are those of a list that is written out; None counts as an empty one.
    """

    name: str
    keyword: str | None
    span: tuple[int, int]
    value: tuple[int, int]
    names: tuple[str, ...] = ()
    items: Items = _NO_ITEMS
    is_list: bool = False
    is_tuple: bool = False


@dataclass(frozen=True)
class SourceCall:
    """The call in a decorator; its arguments stand between `opening` and `closing` of `text`."""

    text: str
    arguments: tuple[Argument, ...]
    opening: int
    closing: int
    quote: str = '"'

    def argument(self, name: str) -> Argument | None:
        return next((a for a in self.arguments if a.name == name), None)

    def quoted(self, name: str) -> str:
        """A string literal as the call writes them."""
        return f"{self.quote}{name}{self.quote}"


def read_call(document: Document, span: tuple[int, int]) -> SourceCall:
    """The call that stands at `span` of the document; raises CannotFixError.

    Only the call is parsed: libcst takes seconds for a large file.
    """
    part = Document(document.display, None, document.text[span[0] : span[1]])
    try:
        module = cst.parse_module(part.text)
        places = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    except (cst.ParserSyntaxError, RecursionError) as error:
        raise CannotFixError("libcst cannot parse the decorator") from error
    call = matchers.findall(module, matchers.Call())[0]
    assert isinstance(call, cst.Call), "the span is that of a call"
    return _Reader(document.text, span[0], part, module, places).call(call)


class _Reader:
    """Finds places in a call that was parsed by itself; `base` is where it starts in the whole `text`."""

    def __init__(self, text: str, base: int, part: Document, module: cst.Module,
                 places: Mapping[cst.CSTNode, CodeRange]) -> None:
        self._text, self._base, self._part = text, base, part
        self._module, self._places = module, places

    def call(self, call: cst.Call) -> SourceCall:
        if any(argument.star for argument in call.args):
            raise CannotFixError("arguments are given by `*` or `**`")
        _, end = self._span(call)
        arguments = tuple(self._argument(a, i) for i, a in enumerate(call.args))
        function = self._text.index("(", self._span(call.func)[1])
        return SourceCall(self._text, arguments, function + 1, end - 1, self._quote(call))

    def _argument(self, argument: cst.Arg, index: int) -> Argument:
        keyword = argument.keyword.value if argument.keyword else None
        name = keyword or (_POSITIONS[index] if index < len(_POSITIONS) else "")
        span = self._span(argument)
        value = (span[1] - len(self._module.code_for_node(argument.value)), span[1])
        if name not in _LISTS:
            return Argument(name, keyword, span, value)
        node = argument.value
        if matchers.matches(node, matchers.Name("None")):
            return Argument(name, keyword, span, value)
        if not isinstance(node, (cst.List, cst.Tuple, cst.Set)):
            raise CannotFixError(f"`{name}` is not a list written out in the decorator")
        items = self._items(node, value)
        names = tuple(_name(element, name) for element in node.elements)
        is_tuple = isinstance(node, cst.Tuple)
        return Argument(name, keyword, span, value, names, items, not is_tuple, is_tuple)

    def _items(self, node: cst.List | cst.Tuple | cst.Set, value: tuple[int, int]) -> Items:
        spans = tuple(self._span(element) for element in node.elements)
        own = int(isinstance(node, cst.Tuple))  # a tuple's parentheses are its brackets
        if len(node.lpar) != own:
            raise CannotFixError("the list stands in parentheses of its own")
        return Items(self._text, spans, value[0] + 1, value[1] - 1)

    def _span(self, node: cst.CSTNode) -> tuple[int, int]:
        place = self._places[node]
        start, end = place.start, place.end
        first = self._part.offset(start.line, start.column + 1)
        return self._base + first, self._base + self._part.offset(end.line, end.column + 1)

    def _quote(self, call: cst.Call) -> str:
        strings: Sequence[cst.CSTNode] = matchers.findall(call, matchers.SimpleString())
        quotes = [s.quote for s in strings if isinstance(s, cst.SimpleString)]
        return "'" if quotes and all(quote == "'" for quote in quotes) else '"'


def _name(element: cst.BaseElement, argument: str) -> str:
    if isinstance(element, cst.Element) and isinstance(element.value, cst.SimpleString):
        value = ast.literal_eval(element.value.value)
        if isinstance(value, str):
            return value
    raise CannotFixError(f"`{argument}` holds more than names")
