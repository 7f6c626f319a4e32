"""Findings of the text report, as a compiler prints its diagnostics."""

from __future__ import annotations

from rich.text import Text

from triton_mutlint.model import Finding, Location
from triton_mutlint.report.accesses import where
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.report.snippet import quote
from triton_mutlint.report.style import DIM, NOTE, PLACE, SEVERITY, Lines, flow, words


def finding_lines(finding: Finding, options: RenderOptions, quoted: set[Location]) -> Lines:
    """One finding; a line that is in `quoted` was shown before and is not quoted again."""
    style = DIM if finding.suppressed else SEVERITY[finding.severity]
    head = Text.assemble((f"{finding.severity.value}[{finding.rule}]", style), (f" {finding.name}", DIM))
    heads = flow([head, Text("(suppressed)", DIM)] if finding.suppressed else [head], options.width)
    parts = finding.message.splitlines()
    message = [line for part in parts for line in flow(words(part), options.width, Text("  "), 2)]
    lines = [*heads, *message, *_place(finding.location, options, quoted)]
    for related in finding.related:
        lines += flow(words(related.message), options.width, Text.assemble("  ", ("note: ", NOTE)), 8)
        lines += _place(related.location, options, quoted)
    if finding.help:
        lines += flow(words(finding.help), options.width, Text.assemble("  ", ("help: ", NOTE)), 8)
    return lines


def _place(location: Location, options: RenderOptions, quoted: set[Location]) -> Lines:
    line = Text.assemble("    ", (where(location), PLACE))
    if location in quoted:
        return [line]
    quoted.add(location)
    return [line, *quote(location, options)]
