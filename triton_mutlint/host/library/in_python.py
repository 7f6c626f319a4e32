"""Parts of Python's library, written in Python: the interpreter follows them as it follows the project's own code.

A name has `_` where the library's has a dot. Nothing imports this file but its tests, which hold it against Python.
"""

from __future__ import annotations

import functools
from typing import Any

# ruff: noqa: N801 - names and types are the library's


def builtins_enumerate(iterable: Any, start: int = 0) -> Any:
    for item in iterable:
        yield start, item
        start += 1


def builtins_map(function: Any, *iterables: Any) -> Any:
    for row in zip(*iterables, strict=False):
        yield function(*row)


def builtins_filter(function: Any, iterable: Any) -> Any:
    for item in iterable:
        if item if function is None else function(item):
            yield item


def builtins_backwards(sequence: Any) -> Any:
    """`reversed` of what has no method for it."""
    yield from list(sequence)[::-1]


def builtins_elements(iterable: Any) -> Any:
    """`iter` of what is no iterator itself."""
    yield from iterable


def builtins_sorted(iterable: Any, *, key: Any = None, reverse: bool = False) -> Any:
    found: list[Any] = []
    for item in iterable:
        rank = item if key is None else key(item)
        asked = [(pair, pair[0] < rank if reverse else rank < pair[0]) for pair in found]
        found = [*(pair for pair, later in asked if not later), (rank, item), *(pair for pair, later in asked if later)]
    return [item for _, item in found]


def builtins_print(*values: Any, file: Any = None, **rest: Any) -> None:
    texts = [str(value) for value in values]
    if file is not None:
        file.write(texts)


def builtins_sum(iterable: Any, start: Any = 0) -> Any:
    for item in iterable:
        start = start + item
    return start


def functools_reduce(function: Any, iterable: Any, *initial: Any) -> Any:
    rest = iter(iterable)
    for total in initial:
        for item in rest:
            total = function(total, item)
        return total
    total = next(rest)
    for item in rest:
        total = function(total, item)
    return total


def itertools_chain(*iterables: Any) -> Any:
    for iterable in iterables:
        yield from iterable


def itertools_chain_from_iterable(iterables: Any) -> Any:
    for iterable in iterables:
        yield from iterable


def itertools_accumulate(iterable: Any, func: Any = None, *, initial: Any = None) -> Any:
    rest = iter(iterable)
    for total in rest if initial is None else [initial]:
        yield total
        for item in rest:
            total = total + item if func is None else func(total, item)
            yield total


def itertools_pairwise(iterable: Any) -> Any:
    items = list(iterable)
    yield from zip(items, items[1:], strict=False)  # noqa: RUF007 - that is what this is


def builtins_dict_fromkeys(iterable: Any, value: Any = None) -> Any:
    return {key: value for key in iterable}  # noqa: C420 - that is what this is


def operator_itemgetter(*keys: Any) -> Any:
    return lambda owner: owner[keys[0]] if len(keys) == 1 else tuple(owner[key] for key in keys)


def operator_attrgetter(*names: Any) -> Any:
    def read(owner: Any, name: str) -> Any:
        for part in name.split("."):
            owner = getattr(owner, part)
        return owner

    return lambda owner: read(owner, names[0]) if len(names) == 1 else tuple(read(owner, name) for name in names)


def collections_deque(iterable: Any = (), maxlen: Any = None) -> Any:
    return list(iterable)


def collections_OrderedDict(*given: Any, **named: Any) -> Any:  # noqa: N802 - its name
    return dict(*given, **named)


def collections_defaultdict(factory: Any = None, *given: Any, **named: Any) -> Any:
    """Any key may have been given a value."""
    made = dict(*given, **named)
    if factory is not None:
        made[repr(factory)] = factory()
    return made


def types_MethodType(function: Any, owner: Any) -> Any:  # noqa: N802 - its name
    return functools.partial(function, owner)


class types_SimpleNamespace:
    def __init__(self, *given: Any, **named: Any) -> None:
        for name, value in dict(*given, **named).items():
            setattr(self, name, value)


class threading_local:
    pass


def torch_nn_ModuleList(modules: Any = ()) -> Any:  # noqa: N802 - its name
    return list(modules)


class torch_nn_Module:
    def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
        setattr(self, name, tensor)

    def register_parameter(self, name: str, param: Any) -> None:
        setattr(self, name, param)

    def add_module(self, name: str, module: Any) -> None:
        setattr(self, name, module)

    register_module = add_module


class torch_nn_Sequential:
    def __init__(self, *modules: Any) -> None:
        self.modules = modules

    def __call__(self, given: Any) -> Any:
        for module in self.modules:
            given = module(given)
        return given


def typing_cast(kind: Any, value: Any) -> Any:
    return value


class contextvars_ContextVar:
    def __init__(self, name: str, **default: Any) -> None:
        self.name, self.default = name, default
        self.held: list[Any] = []

    def get(self, *default: Any) -> Any:
        if self.held:
            return self.held[0]
        return default[0] if default else self.default["default"]

    def set(self, value: Any) -> Any:
        token = _Token(self, self.held)
        self.held = [value]
        return token

    def reset(self, token: Any) -> None:
        self.held = token.before


class _Token:
    def __init__(self, var: Any, before: Any) -> None:
        self.var, self.before = var, before


class contextlib_nullcontext:
    def __init__(self, enter_result: Any = None) -> None:
        self.enter_result = enter_result

    def __enter__(self) -> Any:
        return self.enter_result

    def __exit__(self, *raised: Any) -> None:
        return None


class contextlib_AbstractContextManager:
    def __enter__(self) -> Any:
        return self

    def __exit__(self, *raised: Any) -> None:
        return None
