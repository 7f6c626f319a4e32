"""Reading `[tool.triton-mutlint.registrars."mylib.utils.register"]`: the project's functions that register ops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from triton_mutlint.config.registrar import UNKNOWN, Registrar
from triton_mutlint.config.settings import nearest

_KEYS = ("function", "mutates", "default", "name")
Refuse = Callable[[str, str, str], Exception]  # the error for a message, about a function, and a key of its table or ""


def read_registrars(table: object, refuse: Refuse) -> Mapping[str, Registrar]:
    """The registrars by the dotted name of the function. Raises what `refuse` gives."""
    if not isinstance(table, dict):
        raise refuse("registrars must be a table of function = {...}", "registrars", "")
    return {name: _registrar(name, keys, refuse) for name, keys in _flattened(table, "", refuse)}


def _flattened(table: Mapping[str, Any], prefix: str, refuse: Refuse) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """By dotted name; an unquoted `registrars.mylib.register` makes tables in tables."""
    for key, value in table.items():
        name = f"{prefix}{key}"
        if not isinstance(value, dict):
            raise refuse(f"{name} must be a table with the keys {', '.join(_KEYS)}", prefix.rstrip(".") or key, key)
        if value and all(isinstance(inner, dict) for inner in value.values()):
            yield from _flattened(value, f"{name}.", refuse)
        else:
            yield name, value


def _registrar(name: str, keys: Mapping[str, Any], refuse: Refuse) -> Registrar:
    parts = name.split(".")
    if len(parts) < 2 or not all(part.isidentifier() for part in parts):
        raise refuse(f"{name!r} is no function with its module; write mylib.utils.register", name, "")
    given: dict[str, Any] = {}
    for key, value in keys.items():
        if key not in _KEYS:
            raise refuse(f"{name}: unknown key {key!r}{nearest(key, _KEYS)}", name, key)
        if key == "default":
            if value != UNKNOWN and not (isinstance(value, list) and all(isinstance(item, str) for item in value)):
                message = f"{name}: default must be a list of arguments, or {UNKNOWN!r}, not {value!r}"
                raise refuse(message, name, key)
            given[key] = None if value == UNKNOWN else tuple(value)
        elif not isinstance(value, str) or not value.isidentifier():
            raise refuse(f"{name}: {key} must name a parameter, not {value!r}", name, key)
        else:
            given[key] = value
    return Registrar(**given)
