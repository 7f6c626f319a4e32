"""Edits of a kernel's `mutates` in a spec, at the places that YAML's own parser gives."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import yaml

from triton_mutlint.fixes.document import Document, line_end, line_start, newline_at, next_line
from triton_mutlint.fixes.edit import CannotFixError, Edit, disjoint
from triton_mutlint.fixes.names import Wanted
from triton_mutlint.fixes.sequence import Items
from triton_mutlint.model import Change, Location
from triton_mutlint.spec.nodes import location_at

_PATTERN = re.compile(r"[*?\[]")
_NOT_TEXT = re.compile(r"(true|false|null|yes|no|on|off|y|n)", re.IGNORECASE)  # to some reader of YAML
_ITEM_LINE = re.compile(r"[ \t]*-[ \t]+")
_ITEM_REST = re.compile(r"[ \t]*(#.*)?")


@dataclass(frozen=True)
class _List:
    """A `mutates` in a spec: its nodes, and the key of the kernel it belongs to."""

    pattern: str
    key: yaml.ScalarNode
    value: yaml.SequenceNode

    @property
    def names(self) -> list[str]:
        return [str(item.value) for item in self.value.value]

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        return tuple((item.start_mark.index, item.end_mark.index) for item in self.value.value)


def edit_spec(document: Document, place: Location, changes: Iterable[Change]) -> tuple[Edit, ...]:
    """The edits of the `mutates` whose key stands at `place`; raises CannotFixError."""
    wanted = Wanted.of(changes)
    found = _find(document, place)
    if _PATTERN.search(found.pattern):
        raise CannotFixError(f"`{found.pattern}` may hold for other kernels, too")
    flow = document.text[found.value.start_mark.index] == "["
    dropped = [i for i, name in enumerate(found.names) if name in wanted.removed]
    if wanted.removed:
        return _items(document.text, found).removed(dropped) if flow else _block_removed(document.text, found, dropped)
    by_place: dict[int, list[str]] = {}
    for name in wanted.missing(found.names):
        by_place.setdefault(wanted.place(name, found.names), []).append(_quoted(name))
    insert = _items(document.text, found).inserted if flow else _Block(document.text, found).inserted
    return disjoint(edit for index, names in by_place.items() for edit in insert(index, names))


def _find(document: Document, place: Location) -> _List:
    try:
        root = yaml.compose(document.text, Loader=yaml.SafeLoader)  # libyaml's marks have no index
    except (yaml.YAMLError, RecursionError) as error:
        raise CannotFixError("the spec cannot be read again") from error
    lists = [(kernel, pair) for kernel, pair in _lists(root) if _at(pair[0], document.text, place)]
    if len(lists) != 1:
        raise CannotFixError("the list is shared by several kernels of the spec")
    (name, kernel), (key, value) = lists[0]
    if not isinstance(key, yaml.ScalarNode) or not isinstance(value, yaml.SequenceNode):
        raise CannotFixError("`mutates` is no list")
    if value.start_mark.index < key.end_mark.index or any(_has_property(document.text, n) for n in (kernel, value)):
        raise CannotFixError("the list is shared through an anchor of the spec")
    return _List(name, key, value)


def _lists(root: yaml.Node | None) -> Iterator[tuple[tuple[str, yaml.Node], tuple[yaml.Node, yaml.Node]]]:
    """((kernel's key, its mapping), (key, value)) of everything that the spec says of kernels."""
    for key, kernels in _pairs(root):
        if key.value == "kernels":
            for name, kernel in _pairs(kernels):
                for pair in _pairs(kernel):
                    yield (str(name.value), kernel), pair


def _pairs(node: yaml.Node | None) -> list[tuple[yaml.Node, yaml.Node]]:
    return node.value if isinstance(node, yaml.MappingNode) else []


def _at(key: yaml.Node, text: str, place: Location) -> bool:
    return location_at(key.start_mark, text, place.file) == place


def _has_property(text: str, node: yaml.Node) -> bool:
    """Whether a node has an anchor or a tag."""
    return text[node.start_mark.index] in "&!"


def _quoted(name: str) -> str:
    return f'"{name}"' if _NOT_TEXT.fullmatch(name) else name


def _items(text: str, found: _List) -> Items:
    return Items(text, found.spans, found.value.start_mark.index + 1, found.value.end_mark.index - 1)


@dataclass(frozen=True)
class _Block:
    """A list of `- name` lines."""

    text: str
    found: _List

    def inserted(self, index: int, names: list[str]) -> tuple[Edit, ...]:
        spans = self.found.spans
        start, end = spans[min(index, len(spans) - 1)]
        lead = _lead(self.text, start)
        newline = newline_at(self.text, end)
        if index < len(spans):
            place = line_start(self.text, start)
            return (Edit(place, place, "".join(f"{lead}{name}{newline}" for name in names)),)
        place = line_end(self.text, end)  # before the line end: the last line may have none
        return (Edit(place, place, "".join(f"{newline}{lead}{name}" for name in names)),)


def _lead(text: str, start: int) -> str:
    """What stands before an item on its line: the indent and the dash."""
    lead = text[line_start(text, start) : start]
    if not _ITEM_LINE.fullmatch(lead):
        raise CannotFixError("the list's items are not on lines of their own")
    return lead


def _block_removed(text: str, found: _List, dropped: list[int]) -> tuple[Edit, ...]:
    edits = []
    for start, end in (found.spans[i] for i in dropped):
        _lead(text, start)
        if not _ITEM_REST.fullmatch(text, end, line_end(text, end)):
            raise CannotFixError("the list's items are not on lines of their own")
        edits.append(Edit(line_start(text, start), next_line(text, end)))
    if len(dropped) == len(found.spans):
        colon = text.index(":", found.key.end_mark.index) + 1
        edits.append(Edit(colon, colon, " []"))
    return disjoint(edits)
