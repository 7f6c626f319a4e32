"""Python's own functions, run on what code that registers ops gives them, so far as that is known.

Strings may have holes, for parts that are not known: Python's methods carry these along as letters. The elements of
lists and dicts are known or opaque; where a function looks into an opaque one, its result is not known.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable
from typing import Any

from triton_mutlint.host.registrations.things import LONG, each_in, hole, is_whole
from triton_mutlint.host.state.state import State
from triton_mutlint.host.values.groups import Arguments
from triton_mutlint.host.values.values import Value

MOST = 2_048  # elements of a list that is followed one by one
_WIDE = re.compile(r"\d{4}")  # in a format: a width that makes a short string a long one


class NotKnownError(Exception):
    """What a function gives is not known."""


class Element:
    """A value of which Python's functions see only that it is there."""

    def __init__(self, value: Value) -> None:
        self.value = value

    def __format__(self, spec: str) -> str:
        return hole("…")

    __str__ = __repr__ = lambda self: hole("…")

    def _unseen(self, *_: object) -> Any:
        raise NotKnownError

    __eq__ = __ne__ = __bool__ = __hash__ = __len__ = __iter__ = _unseen


def unique(items: Iterable[object] = ()) -> list[object]:
    """A set in the order in which it was filled."""
    listed = list(items)
    return listed if any(isinstance(item, Element) for item in listed) else list(dict.fromkeys(listed))


BUILTINS: dict[str, Callable[..., object]] = {
    "zip": zip, "enumerate": enumerate, "reversed": reversed, "range": range, "len": len, "list": list, "tuple": tuple,
    "set": unique, "frozenset": unique, "sorted": sorted, "iter": iter, "dict": dict, "str": str, "int": int,
    "itertools.chain": itertools.chain, "itertools.product": itertools.product,
}  # fmt: skip


class Real:
    """One call of a function with real values; `whole` says that these are all elements of its lists."""

    def __init__(self, state: State) -> None:
        self.state, self.whole = state, True

    def of(self, value: Value, depth: int = 1) -> Any:
        """A constant itself, a list or dict of known elements, or an opaque element."""
        if value.constant is not None:
            return value.constant[1]
        contents = self.state.contents(value)
        if not depth or not contents or value.kind or value.things:
            return Element(value)
        listed = [each_in(content) for content in contents]
        self.whole = self.whole and len(contents) == 1 and is_whole(contents[0])
        if len(contents) == 1 and contents[0].kind == "dict" and listed[0] is not None:
            return {key: self.of(item, depth - 1) for key, item in contents[0].fields.items()}
        found = [self.of(item, depth - 1) for items in listed if items is not None for item in items]
        if None in listed or len(found) > MOST:
            raise NotKnownError
        return tuple(found) if all(content.kind == "tuple" for content in contents) else found

    def call(self, function: Callable[..., object], arguments: Arguments, *before: Value) -> Any:
        """What the function gives; raises NotKnownError."""
        if arguments.star is not None or arguments.double_star is not None:
            raise NotKnownError
        given = [self.of(value) for value in (*before, *arguments.positional)]
        named = {name: self.of(value, 0) for name, value in arguments.named.items()}
        texts = [value for value in given if isinstance(value, str)]
        if sum(map(len, texts)) > LONG or (function in (str.format, str.__mod__) and _WIDE.search(texts[0])):
            raise NotKnownError
        try:
            made = function(*given, **named)
            if isinstance(made, (str, bytes, Element)) or not isinstance(made, Iterable):
                return made
            made = made if isinstance(made, (dict, tuple)) else list(itertools.islice(made, MOST + 1))
        except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError):
            raise NotKnownError from None
        if len(made) > MOST:
            raise NotKnownError
        return made
