"""Adding entries to a spec's text by insertion alone, so that what stands there keeps its every byte."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import yaml

from triton_mutlint.spec.entry_text import (
    HEADER,
    STEP,
    WrittenArgument,
    WrittenEntry,
    argument_lines,
    block_arguments,
    block_entry,
    flow_arguments,
    flow_entry,
)

_IDLE_LINE = re.compile(r"[ \t]*(#.*)?$")
_ALIAS = re.compile(r"\s*:\s*\*[^\s,\[\]{}]+")


class NoPlaceError(ValueError):
    """Text that has no place where something could be inserted; the message says why."""


@dataclass(frozen=True)
class Insertion:
    """`text` to put before the character at `position`."""

    position: int
    text: str


def merged(text: str, insertions: Iterable[Insertion]) -> str:
    """`text` with everything inserted; of two at one place the first comes first."""
    parts: list[str] = []
    done = 0
    for insertion in sorted(insertions, key=lambda i: i.position):
        parts += [text[done : insertion.position], insertion.text]
        done = insertion.position
    return "".join([*parts, text[done:]])


def new_spec(entries: Sequence[WrittenEntry]) -> str:
    """The text of a spec that has these entries."""
    lines = ["kernels:" if any(not e.disabled for e in entries) else "kernels: {}"]
    for entry in entries:
        lines += block_entry(entry, STEP)
    return HEADER + "".join(f"{line}\n" for line in lines)


class SpecText:
    """A spec's text and where its parts stand; the text must be a spec that can be read."""

    def __init__(self, text: str) -> None:
        self.text = text
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        if not isinstance(root, yaml.MappingNode):
            raise NoPlaceError("a spec is a mapping")
        self.root = root
        self.newline = "\r\n" if "\r\n" in text else "\n"
        self._uses = _count(root)

    def add_entries(self, entries: Sequence[WrittenEntry]) -> Insertion:
        """Puts the entries after the last one; raises NoPlaceError."""
        pair = _pair(self.root, "kernels")
        if pair is None:
            if self.root.flow_style:
                live = [flow_entry(e) for e in entries if not e.disabled]
                return self._in_flow(self.root, f"kernels: {{{', '.join(live)}}}")
            column = self.root.start_mark.column
            lines = [line for e in entries for line in block_entry(e, column + STEP)]
            empty = "" if any(not e.disabled for e in entries) else " {}"
            return self._after(self.root, [f"{' ' * column}kernels:{empty}", *lines])
        kernels = self._own(pair, "kernels")
        if kernels.flow_style:
            return self._in_flow(kernels, ", ".join(flow_entry(e) for e in entries if not e.disabled))
        column = kernels.start_mark.column
        return self._after(kernels, [line for e in entries for line in block_entry(e, column)])

    def can_comment(self) -> bool:
        """Whether new entries stand in a block, where a line can be a comment."""
        pair = _pair(self.root, "kernels")
        holder = self.root if pair is None else pair[1]
        return not _is_flow(holder)

    def add_arguments(self, kernel: str, arguments: Sequence[WrittenArgument]) -> Insertion:
        """Puts parameters after the last one of the entry `kernel`; raises NoPlaceError."""
        kernels = _pair(self.root, "kernels")
        pair = _pair(self._own(kernels, "kernels"), kernel) if kernels else None
        if pair is None:
            raise NoPlaceError("the entry comes from a merge key")
        key, value = pair
        if isinstance(value, yaml.ScalarNode):
            if value.value or self._is_alias(pair) or kernels is None or _is_flow(kernels[1]):
                raise NoPlaceError("the entry is no mapping")
            return self._below(value.end_mark.index, block_arguments(arguments, key.start_mark.column + STEP))
        entry = self._own(pair, kernel)
        args = _pair(entry, "args")
        if args is None:
            if entry.flow_style:
                return self._in_flow(entry, f"args: {{{flow_arguments(arguments)}}}")
            return self._after(entry, block_arguments(arguments, entry.start_mark.column))
        own = self._own(args, "args")
        if own.flow_style:
            return self._in_flow(own, flow_arguments(arguments))
        return self._after(own, argument_lines(arguments, own.start_mark.column))

    def mentions(self, key: str) -> bool:
        """Whether a comment holds an entry of that name."""
        return re.search(rf"(?m)^[ \t]*#[ \t]*{re.escape(key)}[ \t]*:(\s|$)", self.text) is not None

    # -------------------------------------------------------------- places

    def _own(self, pair: tuple[yaml.Node, yaml.Node], name: str) -> yaml.MappingNode:
        """The mapping of a pair, if changing it changes nothing else."""
        value = pair[1]
        if not isinstance(value, yaml.MappingNode):
            raise NoPlaceError(f"{name!r} is written as a text")
        if self._is_alias(pair) or self._uses.get(id(value), 0) > 1:
            raise NoPlaceError(f"{name!r} is shared by an anchor")
        return value

    def _is_alias(self, pair: tuple[yaml.Node, yaml.Node]) -> bool:
        key, value = pair
        return bool(value.start_mark.index < key.end_mark.index)

    def _after(self, node: yaml.MappingNode, lines: Sequence[str]) -> Insertion:
        """After the last line of a block mapping, and the comments that are indented like it."""
        floor = max((leaf.end_mark.index for leaf in _leaves(node, node.start_mark.index)), default=0)
        position = self._line_start(node.end_mark.index)
        while position > floor and position > 0:
            before = self._line_start(position - 1)
            if before < floor or not _IDLE_LINE.match(self.text[before:position].rstrip("\r\n")):
                break
            position = before
        if position < floor:  # the last line has no end, or the mapping's end stands on its own line
            position = self._line_end(floor)
        return self._insertion(self._past_comments(position, node.start_mark.column), lines)

    def _below(self, index: int, lines: Sequence[str]) -> Insertion:
        return self._insertion(self._line_end(index), lines)

    def _insertion(self, position: int, lines: Sequence[str]) -> Insertion:
        text = "".join(f"{line}{self.newline}" for line in lines)
        if position > 0 and self.text[position - 1] not in "\r\n":
            return Insertion(position, self.newline + text[: -len(self.newline)])
        return Insertion(position, text)

    def _past_comments(self, position: int, column: int) -> int:
        found = end = position
        while end < len(self.text):
            start, end = end, self._line_end(end)
            line = self.text[start:end]
            stripped = line.strip()
            if stripped.startswith("#") and len(line) - len(line.lstrip(" ")) >= column:
                found = end
            elif stripped:
                break
        return found

    def _line_start(self, index: int) -> int:
        return self.text.rfind("\n", 0, index) + 1

    def _line_end(self, index: int) -> int:
        """The index after the line break of the line that holds `index`."""
        found = self.text.find("\n", index)
        return len(self.text) if found < 0 else found + 1

    def _in_flow(self, node: yaml.MappingNode, text: str) -> Insertion:
        """Before the closing brace of a flow mapping."""
        close = node.end_mark.index - 1
        if not node.value:
            return Insertion(node.end_mark.index - 1, text)
        pair = node.value[-1]
        end = pair[1].end_mark.index
        if self._is_alias(pair):
            match = _ALIAS.match(self.text, pair[0].end_mark.index)
            if match is None:
                raise NoPlaceError("an alias that cannot be found")
            end = match.end()
        rest = re.sub(r"#.*", "", self.text[end:close])
        if "," not in rest:
            return Insertion(end, f", {text}")
        line = self._line_start(close)
        if line > end and not self.text[line:close].strip():  # the brace has a line of its own
            return Insertion(line, f"{' ' * pair[0].start_mark.column}{text},{self.newline}")
        return Insertion(close, f" {text}")


def _pair(node: yaml.Node, name: str) -> tuple[yaml.Node, yaml.Node] | None:
    if not isinstance(node, yaml.MappingNode):
        return None
    return next((pair for pair in node.value if pair[0].value == name), None)


def _is_flow(node: yaml.Node) -> bool:
    return isinstance(node, yaml.CollectionNode) and bool(node.flow_style)


def _leaves(node: yaml.Node, floor: int) -> Iterator[yaml.Node]:
    """The scalars and flow collections inside a node; what an alias names stands before `floor`."""
    if node.start_mark.index < floor:
        return
    if isinstance(node, yaml.ScalarNode) or _is_flow(node):
        yield node
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _leaves(key, floor)
            yield from _leaves(value, key.end_mark.index)
    else:
        for item in node.value:
            yield from _leaves(item, floor)


def _count(node: yaml.Node) -> dict[int, int]:
    """How often each collection is reached: more than once where an alias names it."""
    found: dict[int, int] = {}

    def visit(inner: yaml.Node) -> None:
        found[id(inner)] = found.get(id(inner), 0) + 1
        if found[id(inner)] > 1 or isinstance(inner, yaml.ScalarNode):
            return
        for item in inner.value:
            for part in item if isinstance(item, tuple) else (item,):
                visit(part)

    visit(node)
    return found
