"""Functions that register an op by wrapping torch's own: what their parameters mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

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
