"""Functions that register an op by wrapping torch's own: what their parameters mean."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from triton_mutlint.basics import did_you_mean

UNKNOWN = "unknown"  # as a default: any argument may be mutated, for all that is known


@dataclass(frozen=True)
class Registrar:
    """Which parameters of a registering function hold what, by name.

    Where the function to register is not passed, it is what the result decorates. `default` is what
    holds where `mutates` is left out: names, or None for what is not known. `name` is the op's;
    without it, that of the function. `order` are the parameters as they may be passed by position.
    """

    function: str = ""
    mutates: str = "mutates_args"
    default: tuple[str, ...] | None = ()
    name: str = ""
    order: tuple[str, ...] = ()
    namespace: str = ""

    def settings(self) -> dict[str, object]:
        """What a configuration file would say of it."""
        default: object = UNKNOWN if self.default is None else self.default
        told = {"function": self.function, "mutates": self.mutates, "default": default, "name": self.name}
        return {key: value for key, value in told.items() if value != ""}


_DIRECT = Registrar("op_func", name="op_name", order=("op_name", "op_func", "mutates_args", "fake_impl"))
_DECORATOR = Registrar("fn", name="op_name", order=("fn",))
_WRAPPER = Registrar("fn", default=None, name="name", order=("name", "fn"))

# Registrars of public libraries, by the end of their dotted name: for when their own code is not there to read.
PUBLIC: Mapping[str, Registrar] = MappingProxyType({
    "direct_register_custom_op": _DIRECT,
    "register_custom_op": _DECORATOR,
    "register_custom_op_from_extern": _DECORATOR,
    "_torch_custom_op_wrapper": _WRAPPER,
})  # fmt: skip
# The namespace in which a library's registrars put what is named without one, by its top package.
NAMESPACES: Mapping[str, str] = MappingProxyType({"vllm": "vllm", "sglang": "sglang"})


def public_registrar(name: str) -> Registrar | None:
    """The registrar of a public library that the dotted `name` is known to be."""
    found = PUBLIC.get(name.rpartition(".")[2])
    if found is None or name.startswith("torch."):
        return None
    namespace = NAMESPACES.get(name.partition(".")[0], "")
    return Registrar(found.function, found.mutates, found.default, found.name, found.order, namespace)


# --------------------------------------------------------------------------- those of a configuration file

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
            raise refuse(f"{name}: unknown key {key!r}{did_you_mean(key, _KEYS)}", name, key)
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
