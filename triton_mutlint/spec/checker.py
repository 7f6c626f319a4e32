"""Checks of a spec's nodes: collects problems instead of stopping at the first."""

from __future__ import annotations

from collections.abc import Callable

from triton_mutlint.spec.errors import SpecProblem, did_you_mean
from triton_mutlint.spec.model import Declared
from triton_mutlint.spec.nodes import Entry, Node

_SHAPES = {
    "args": "a mapping of parameters, or a whole signature in one text",
    "a launch": "a mapping of args, values, shapes, grid",
    **dict.fromkeys(("args of a launch", "shapes", "values"), "a mapping of parameters"),
}


class Checker:
    """The problems of one file, and what is the same in several of its parts."""

    def __init__(self) -> None:
        self.problems: list[SpecProblem] = []

    def report(self, place: Node | Entry, message: str) -> None:
        path = place.path if isinstance(place, Node) else place.node.path
        self.problems.append(SpecProblem(place.location, path, message))

    def mapping(self, node: Node, what: str) -> tuple[Entry, ...]:
        """The entries of a mapping; a key with nothing below it has none."""
        if node.kind != "mapping" and not node.is_nothing:
            noun = "" if node.path else f"{what} "
            self.report(node, f"{noun}must be {_SHAPES.get(what, 'a mapping')}, not {node.shown}")
        return node.entries

    def known(self, node: Node, what: str, keys: tuple[str, ...]) -> dict[str, Entry]:
        """The entries of a mapping whose keys are fixed; the others are refused by name."""
        found: dict[str, Entry] = {}
        for entry in self.mapping(node, what):
            if entry.key in keys:
                found[entry.key] = entry
            else:
                hint = did_you_mean(entry.key, keys) or f"; known keys: {', '.join(keys)}"
                self.report(entry, f"unknown key{hint}")
        return found

    def names(self, node: Node, check: Callable[[Node], str | None]) -> tuple[Declared, ...]:
        """A list of texts, each once; `check` says what is wrong with one, if anything."""
        if node.kind != "list":
            example = f"; write [{node.scalar}]" if isinstance(node.scalar, str) else ""
            self.report(node, f"must be a list, not {node.shown}{example}")
            return ()
        found: dict[str, Declared] = {}
        for item in node.items:
            problem = check(item)
            if isinstance(item.scalar, str) and item.scalar in found:
                problem = f"{item.scalar!r} is listed twice"
            if problem:
                self.report(item, problem)
            elif isinstance(item.scalar, str):
                found[item.scalar] = Declared(item.scalar, item.location, item.path)
        return tuple(found.values())
