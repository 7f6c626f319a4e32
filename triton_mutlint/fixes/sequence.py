"""Editing what stands between brackets, separated by commas: Python's lists and arguments, YAML's flow lists."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from triton_mutlint.fixes.document import line_end, line_start, newline_at, next_line
from triton_mutlint.fixes.edit import CannotFixError, Edit, disjoint

_REST = re.compile(r"[ \t]*(,?)[ \t]*(#.*)?")  # of a line, after an item


@dataclass(frozen=True)
class Items:
    """Items of `text` by their spans, between the offsets `opening` and `closing` of the brackets' insides."""

    text: str
    spans: tuple[tuple[int, int], ...]
    opening: int
    closing: int
    separator: str = ", "

    def inserted(self, index: int, names: Sequence[str]) -> tuple[Edit, ...]:
        """The edits that put `names` before item `index`, or at the end."""
        if not names:
            return ()
        if not self.spans:
            return (Edit(self.opening, self.opening, self._separator.join(names)),)
        if index < len(self.spans):
            return (self._before(index, names),)
        return self._after(names)

    def removed(self, dropped: Collection[int]) -> tuple[Edit, ...]:
        """The edits that take out the items at these indices, each with its comma and its own comment.

        Raises CannotFixError where a comment would be lost that may speak of something else.
        """
        lines = {i: edit for i in dropped if (edit := self._own_lines(i)) is not None}
        inline = [i for i in sorted(dropped) if i not in lines]
        return disjoint([*lines.values(), *self._runs(inline)])

    @property
    def _separator(self) -> str:
        if len(self.spans) > 1 and self.text[self.spans[0][1] : self.spans[1][0]] == ",":
            return ","
        return self.separator

    def _indent(self, index: int) -> str | None:
        """What stands before an item that starts its line; None where something else does."""
        start = self.spans[index][0]
        before = self.text[max(line_start(self.text, start), self.opening) : start]
        at_line = line_start(self.text, start) >= self.opening
        return before if at_line and not before.strip(" \t") else None

    def _before(self, index: int, names: Sequence[str]) -> Edit:
        start, indent = self.spans[index][0], self._indent(index)
        if indent is None or self._rest(index) is None:
            joint = self._separator if self._separator.endswith(" ") or self._separator == "," else ", "
        else:
            joint = f",{newline_at(self.text, start)}{indent}"
        return Edit(start, start, "".join(f"{name}{joint}" for name in names))

    def _after(self, names: Sequence[str]) -> tuple[Edit, ...]:
        end, indent = self.spans[-1][1], self._indent(len(self.spans) - 1)
        rest = self._rest(len(self.spans) - 1)
        if indent is None:
            return (Edit(end, end, "".join(f"{self._separator}{name}" for name in names)),)
        newline = newline_at(self.text, end)
        if rest is None:  # the bracket closes on the item's line
            return (Edit(end, end, "".join(f",{newline}{indent}{name}" for name in names)),)
        place = next_line(self.text, end)
        if rest[1]:
            return (Edit(place, place, "".join(f"{indent}{name},{newline}" for name in names)),)
        lines = f",{newline}".join(f"{indent}{name}" for name in names)
        return Edit(end, end, ","), Edit(place, place, lines + newline)

    def _rest(self, index: int) -> re.Match[str] | None:
        """What follows an item on its line, if that is a comma and a comment at most; group 1 is the comma."""
        end = self.spans[index][1]
        last = line_end(self.text, end)
        return _REST.fullmatch(self.text, end, last) if last < self.closing else None

    def _own_lines(self, index: int) -> Edit | None:
        """The edit that removes the lines of an item that stands alone on them."""
        start, end = self.spans[index]
        rest = self._rest(index)
        if self._indent(index) is None or rest is None or not (rest[1] or index == len(self.spans) - 1):
            return None
        return Edit(line_start(self.text, start), next_line(self.text, end))

    def _runs(self, dropped: Sequence[int]) -> Iterator[Edit]:
        """The edits for neighbours that are dropped together."""
        for first in (i for i in dropped if i - 1 not in dropped):
            last = first
            while last + 1 in dropped:
                last += 1
            yield self._run(first, last)

    def _run(self, first: int, last: int) -> Edit:
        if last + 1 < len(self.spans):
            edit = Edit(self.spans[first][0], self.spans[last + 1][0])
        elif first:
            edit = Edit(self.spans[first - 1][1], self.spans[last][1])
        else:
            comma = re.compile(r"\s*,").match(self.text, self.spans[last][1], self.closing)
            edit = Edit(self.spans[0][0], comma.end() if comma else self.spans[last][1])
        if "#" in self.text[edit.start : edit.end]:
            raise CannotFixError("a comment stands between the names")
        return edit
