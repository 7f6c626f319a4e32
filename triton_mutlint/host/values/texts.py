"""Strings as code wrote them, and where."""

from __future__ import annotations

import ast
from dataclasses import dataclass

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
