"""Findings of the text report, as a compiler prints its diagnostics."""

from __future__ import annotations

from rich.text import Text

from triton_mutlint.basics import plural
from triton_mutlint.report.accesses import stands
from triton_mutlint.report.groups import Group
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.report.snippet import quote
from triton_mutlint.report.style import DIM, NOTE, PLACE, SEVERITY, Lines, flow, words
from triton_mutlint.report.summary import FIXABLE
from triton_mutlint.types import Location


def group_lines(group: Group, options: RenderOptions, quoted: set[Location]) -> Lines:
    """The findings of one group; a line that is in `quoted` was shown before and is not quoted again."""
    lines = _headline(group, options)
    for message in group.messages:
        lines += [line for part in message.splitlines() for line in flow(words(part), options.width, Text("  "), 2)]
    for place in group.places:
        lines += _place(place, options, quoted)
    for related in group.related:
        lines += flow(words(related.message), options.width, Text.assemble("  ", ("note: ", NOTE)), 8)
        lines += _place(related.location, options, quoted)
    for help_ in group.helps:
        lines += flow(words(help_), options.width, Text.assemble("  ", ("help: ", NOTE)), 8)
    return lines


def _headline(group: Group, options: RenderOptions) -> Lines:
    first, count = group.first, len(group.findings)
    style = DIM if first.suppressed else SEVERITY[first.severity]
    pieces = [Text.assemble((f"{first.severity.value}[{first.rule}]", style), (f" {first.name}", DIM))]
    if any(finding in options.fixes for finding in group.findings):
        pieces.append(Text(FIXABLE, NOTE))
    if count > 1:
        pieces.append(Text(f"({plural(count, 'parameter')})", DIM))
    if first.suppressed:
        pieces.append(Text("(suppressed)", DIM))
    return flow(pieces, options.width)


def _place(location: Location, options: RenderOptions, quoted: set[Location]) -> Lines:
    line = Text.assemble("    ", (stands(location, options), PLACE))
    if location in quoted:
        return [line]
    quoted.add(location)
    return [line, *quote(location, options)]
