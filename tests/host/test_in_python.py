"""Parts of Python's library that are written out in Python do what the library does."""

from __future__ import annotations

import builtins
import collections
import contextvars
import functools
import itertools
import operator
import types
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from triton_mutlint.host.library import in_python as ours

ITEMS = [3, 0, 2]


@pytest.mark.parametrize(("own", "real", "given"), [
    (ours.builtins_enumerate, enumerate, (ITEMS, 1)),
    (ours.builtins_map, map, (lambda a, b: a - b, ITEMS, [1, 2])),
    (ours.builtins_filter, filter, (None, ITEMS)),
    (ours.builtins_filter, filter, (lambda a: a > 1, ITEMS)),
    (ours.builtins_backwards, reversed, (ITEMS,)),
    (ours.itertools_chain, itertools.chain, (ITEMS, "ab")),
    (ours.itertools_accumulate, itertools.accumulate, (ITEMS,)),
    (ours.itertools_accumulate, itertools.accumulate, ([],)),
    (partial(ours.itertools_accumulate, initial=1), partial(itertools.accumulate, initial=1), (ITEMS, max)),
    (ours.itertools_pairwise, itertools.pairwise, (ITEMS,)),
    (ours.itertools_chain_from_iterable, itertools.chain.from_iterable, ([ITEMS, "ab"],)),
])
def test_iterators(own: Callable[..., Any], real: Callable[..., Any], given: tuple[Any, ...]) -> None:
    assert list(own(*given)) == list(real(*given))


@pytest.mark.parametrize(("own", "real", "given"), [
    (ours.builtins_sum, builtins.sum, (ITEMS,)),
    (ours.builtins_sum, builtins.sum, ([[1], [2]], [0])),
    (ours.builtins_sorted, sorted, (ITEMS,)),
    (partial(ours.builtins_sorted, key=abs), partial(sorted, key=abs), ([2, -1, 1, -2],)),
    (partial(ours.builtins_sorted, key=abs, reverse=True), partial(sorted, key=abs, reverse=True), ([2, -1, 1, -2],)),
    (ours.operator_itemgetter(1), operator.itemgetter(1), (ITEMS,)),
    (ours.operator_itemgetter(1, 2), operator.itemgetter(1, 2), (ITEMS,)),
    (ours.operator_attrgetter("real.imag"), operator.attrgetter("real.imag"), (1,)),
    (ours.operator_attrgetter("real"), operator.attrgetter("real"), (1,)),
    (ours.operator_attrgetter("real", "imag"), operator.attrgetter("real", "imag"), (1,)),
    (ours.functools_reduce, functools.reduce, (lambda a, b: a - b, ITEMS)),
    (ours.functools_reduce, functools.reduce, (lambda a, b: a - b, ITEMS, 9)),
    (ours.functools_reduce, functools.reduce, (lambda a, b: a - b, [], 9)),
    (ours.builtins_dict_fromkeys, dict.fromkeys, (ITEMS, 1)),
    (ours.collections_OrderedDict, collections.OrderedDict, ([("a", 1)],)),
    (lambda items: vars(ours.types_SimpleNamespace(**items)), dict, ({"a": 1},)),
    (lambda *given: ours.types_MethodType(pow, 2)(*given), types.MethodType(pow, 2), (3,)),
])
def test_results(own: Callable[..., Any], real: Callable[..., Any], given: tuple[Any, ...]) -> None:
    assert own(*given) == real(*given)


@pytest.mark.parametrize("make", [contextvars.ContextVar, ours.contextvars_ContextVar])
def test_a_context_variable_is_what_was_set_last(make: Any) -> None:
    var = make("var", default=1)
    token = var.set(2)
    seen = [var.get()]
    var.reset(token)
    seen.append(var.get())
    assert [*seen, var.get(5), make("other").get(5)] == [2, 1, 5, 5]
