"""Reading `[tool.triton-mutlint.registrars."mylib.utils.register"]`: the project's functions that register ops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from triton_mutlint.config.registrar import UNKNOWN, Registrar
from triton_mutlint.config.settings import nearest

_KEYS = ("function", "mutates", "default", "name")


class RegistrarError(ValueError):
    """What is wrong with the table; `owner` and `key` say where, as far as it has come."""

    def __init__(self, message: str, owner: str, key: str = "") -> None:
        super().__init__(message)
        self.message, self.owner, self.key = message, owner, key


def read_registrars(table: object) -> Mapping[str, Registrar]:
    """The registrars by the dotted name of the function. Raises RegistrarError."""
    if not isinstance(table, dict):
        raise RegistrarError("registrars must be a table of function = {...}", "registrars")
    return {name: _registrar(name, keys) for name, keys in _flattened(table, "")}


def _flattened(table: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """By dotted name; an unquoted `registrars.mylib.register` makes tables in tables."""
    for key, value in table.items():
        name = f"{prefix}{key}"
        if not isinstance(value, dict):
            message = f"{name} must be a table with the keys {', '.join(_KEYS)}"
            raise RegistrarError(message, prefix.rstrip(".") or key, key)
        if value and all(isinstance(inner, dict) for inner in value.values()):
            yield from _flattened(value, f"{name}.")
        else:
            yield name, value


def _registrar(name: str, keys: Mapping[str, Any]) -> Registrar:
    parts = name.split(".")
    if len(parts) < 2 or not all(part.isidentifier() for part in parts):
        raise RegistrarError(f"{name!r} is no function with its module; write mylib.utils.register", name)
    for key in keys:
        if key not in _KEYS:
            raise RegistrarError(f"{name}: unknown key {key!r}{nearest(key, _KEYS)}", name, key)
    texts = {key: _parameter(name, key, keys[key]) for key in ("function", "mutates", "name") if key in keys}
    default = _default(name, keys["default"]) if "default" in keys else ()
    return Registrar(texts.get("function", ""), texts.get("mutates", "mutates_args"), default, texts.get("name", ""))


def _parameter(owner: str, key: str, value: object) -> str:
    if not isinstance(value, str) or not value.isidentifier():
        raise RegistrarError(f"{owner}: {key} must name a parameter, not {value!r}", owner, key)
    return value


def _default(owner: str, value: object) -> tuple[str, ...] | None:
    if value == UNKNOWN:
        return None
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        message = f"{owner}: default must be a list of arguments, or {UNKNOWN!r}, not {value!r}"
        raise RegistrarError(message, owner, "default")
    return tuple(value)
