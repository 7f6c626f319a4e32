"""Frozen types as JSON text, and back: nothing that is read can run code, and what does not fit its type is refused.

A text holds a pool of objects, each `[class name, field, …]` after those that it refers to by their number in the pool;
so what was one object is one again. Fields are read by their annotations. Functions and modules cannot be packed: a
field that holds one must be None.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import types
import typing
from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

_PLAIN = frozenset({str, int, float, bool, type(None)})
_Objects = list[Any]
_Reader = Callable[[Any, _Objects], Any]


def pack(value: object) -> str:
    """A value of frozen dataclasses, tuples, frozensets, mappings, paths, members of enums and plain values.

    Raises TypeError for any other.
    """
    packer = _Packer()
    root = packer.plain(value)
    return json.dumps([packer.pool, root], separators=(",", ":"))


def unpack(text: str | bytes, kind: Any) -> Any:
    """The value of type `kind` that `text` holds. Raises ValueError if it holds anything else."""
    try:
        pool, root = json.loads(text)
        classes = _classes(kind)
        objects: _Objects = []
        for name, *fields in pool:
            cls, readers = classes[name]
            objects.append(cls(*[read(field, objects) for read, field in zip(readers, fields, strict=True)]))
        return _reader(kind)(root, objects)
    except (TypeError, KeyError, IndexError, RecursionError) as error:
        raise ValueError(f"not what was packed: {error}") from error


class _Packer:
    def __init__(self) -> None:
        self.pool: list[Any] = []
        self._numbers: dict[int, int] = {}

    def plain(self, value: Any) -> Any:
        cls: Any = type(value)
        if cls in _PLAIN:
            return value
        if isinstance(value, (tuple, frozenset, list)):
            return [self.plain(item) for item in value]
        if isinstance(value, Enum):
            return value.name
        if (names := _names(cls)) is not None:
            if id(value) not in self._numbers:
                fields = [self.plain(getattr(value, name)) for name in names]
                self._numbers[id(value)] = len(self.pool)
                self.pool.append([cls.__name__, *fields])
            return self._numbers[id(value)]
        if isinstance(value, Path):
            return str(value)
        if isinstance(value, Mapping):
            return [[self.plain(key), self.plain(item)] for key, item in value.items()]
        raise TypeError(f"a {cls.__name__} cannot be packed")


@functools.cache
def _names(cls: Any) -> tuple[str, ...] | None:
    """The fields of a dataclass; None for any other type."""
    return tuple(field.name for field in dataclasses.fields(cls)) if dataclasses.is_dataclass(cls) else None


@functools.cache
def _classes(kind: Any) -> dict[str, tuple[type, tuple[_Reader, ...]]]:
    """The dataclasses that a value of type `kind` may be made of, by name, each with a reader for each field."""
    found: dict[str, tuple[type, tuple[_Reader, ...]]] = {}
    waiting = [kind]
    while waiting:
        here = waiting.pop()
        waiting.extend(typing.get_args(here))
        names = _names(here) if isinstance(here, type) else None
        if names is not None and here.__name__ not in found:
            hints = typing.get_type_hints(here)
            found[here.__name__] = here, tuple(_reader(hints[name]) for name in names)
            waiting.extend(hints[name] for name in names)
    return found


@functools.cache
def _reader(kind: Any) -> _Reader:
    """What reads a value of this type: it is given the packed value and the objects before it."""
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return _either(tuple(_reader(arg) for arg in args if arg is not type(None)), type(None) in args)
    if origin is tuple and args[-1] is Ellipsis:
        return _many(tuple, _reader(args[0]))
    if origin is tuple:
        return _each(tuple(map(_reader, args)))
    if origin is frozenset:
        return _many(frozenset, _reader(args[0]))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _pairs(_reader(args[0]), _reader(args[1]))
    if isinstance(kind, type):
        return _single(kind)
    return _single(type(None))  # Any, functions: of one process alone


def _single(kind: type) -> _Reader:
    if _names(kind) is not None:
        return lambda value, objects: _checked(objects[_checked(value, int)], kind)
    if issubclass(kind, Enum):
        return lambda value, objects: kind[value]
    if issubclass(kind, Path):
        return lambda value, objects: Path(_checked(value, str))
    plain = kind if kind in _PLAIN else type(None)
    return lambda value, objects: value if type(value) is plain else _checked(value, plain)


def _checked(value: Any, kind: type) -> Any:
    if type(value) is not kind and not (kind is float and type(value) is int):
        raise TypeError(f"it is no {kind.__name__}")
    return value


def _many(make: Callable[[Any], Any], read: _Reader) -> _Reader:
    return lambda value, objects: make([read(item, objects) for item in _checked(value, list)])


def _each(readers: tuple[_Reader, ...]) -> _Reader:
    return lambda value, objects: tuple(
        read(item, objects) for read, item in zip(readers, _checked(value, list), strict=True))


def _pairs(key: _Reader, item: _Reader) -> _Reader:
    return lambda value, objects: {key(k, objects): item(v, objects) for k, v in _checked(value, list)}


def _either(readers: tuple[_Reader, ...], may_be_none: bool) -> _Reader:
    def read(value: Any, objects: _Objects) -> Any:
        if value is None and may_be_none:
            return None
        for reader in readers:
            try:
                return reader(value, objects)
            except (TypeError, KeyError):
                continue
        raise TypeError(f"{value!r} is none of the types that it may be")

    return read
