"""Strings that know where they were written, and values that are hashed once."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any, TypeVar

from triton_mutlint.host.modules.module import HostModule
from triton_mutlint.types import Location


@dataclass(frozen=True, eq=False)
class Spot:
    """Where something was written; `depth` counts the calls around it, from the code that is read."""

    module: HostModule
    node: ast.AST
    depth: int = 0

    @property
    def location(self) -> Location:
        return Location(self.module.display, getattr(self.node, "lineno", 1), getattr(self.node, "col_offset", 0) + 1)


class Written(str):
    """A string that remembers where it was written; it equals any other of the same letters."""

    spot: Spot | None = None

    @classmethod
    def at(cls, text: str, spot: Spot | None) -> Written:
        made = cls(text)
        made.spot = spot
        return made


_T = TypeVar("_T")


def hashed_once(cls: type[_T]) -> type[_T]:
    """Values hold functions, which hold values: each is hashed once, and told from another by that where it differs."""
    compute, same = cls.__hash__, cls.__eq__

    def hashed(self: Any) -> int:
        own: dict[str, int] = self.__dict__
        known = own.get("_hash")
        if known is None:
            known = own["_hash"] = compute(self)
        return known

    def equal(self: Any, other: object) -> bool:
        if self is other:
            return True
        if other.__class__ is not self.__class__ or hash(self) != hash(other):
            return False
        return same(self, other)

    setattr(cls, "__hash__", hashed)  # noqa: B010
    setattr(cls, "__eq__", equal)  # noqa: B010
    return cls
