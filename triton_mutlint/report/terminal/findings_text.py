"""Findings of the text report, as a compiler prints its diagnostics; those of one kind and subject are one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rich.text import Text

from triton_mutlint.basics import plural
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.report.terminal.style import DIM, NOTE, PLACE, SEVERITY, Lines, flow, noted, prose, quote, stands
from triton_mutlint.report.terminal.summary import FIXABLE
from triton_mutlint.types import Finding, Location, Related

_PLACE = "\0"  # stands for the parameter in what several findings say alike


@dataclass(frozen=True)
class Group:
    """Findings that have rule, severity, kernel, op and subject in common, in their order."""

    findings: tuple[Finding, ...]

    @property
    def messages(self) -> tuple[str, ...]:
        """What they say; those that differ in the parameter alone are one message that names all of them."""
        return self._told(_statement if len(self.findings) > 1 else lambda finding: finding.message)

    @property
    def helps(self) -> tuple[str, ...]:
        """What they advise, each once; advice that is the beginning of other advice is not repeated."""
        told = [text for text in self._told(lambda finding: finding.help) if text]
        return tuple(text for text in told if not any(o != text and o.startswith(text) for o in told))

    @property
    def places(self) -> tuple[Location, ...]:
        """Where they are, one place for each line."""
        return tuple({(f.location.file, f.location.line): f.location for f in reversed(self.findings)}.values())[::-1]

    @property
    def related(self) -> tuple[Related, ...]:
        """What explains them: first what all have in common, then what explains one, with its parameter's name."""
        first, *others = self.findings
        common = [r for r in dict.fromkeys(first.related) if all(r in f.related for f in others)]
        own = [Related(f"`{f.parameter}`: {r.message}" if f.parameter else r.message, r.location)
               for f in self.findings for r in f.related if r not in common]
        return tuple(dict.fromkeys((*common, *own)))

    def _told(self, text_of: Callable[[Finding], str]) -> tuple[str, ...]:
        names: dict[str, list[str]] = {}
        for finding in self.findings:
            quoted = f"`{finding.parameter}`"
            names.setdefault(text_of(finding).replace(quoted, _PLACE), []).append(quoted)
        return tuple(text.replace(_PLACE, ", ".join(dict.fromkeys(given))) for text, given in names.items())


def _statement(finding: Finding) -> str:
    """The message without the reason at its end, where a note gives that, too."""
    reasons = (f": {related.message}" for related in finding.related)
    return next((finding.message.removesuffix(r) for r in reasons if finding.message.endswith(r)), finding.message)


def grouped(findings: Iterable[Finding]) -> Sequence[Group]:
    """The findings in groups, in the order of the first of each."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        alone = finding.subject is None or finding.parameter is None
        what = finding if alone else (finding.rule, finding.severity, finding.kernel, finding.op, finding.subject)
        groups.setdefault((finding.suppressed, what), []).append(finding)
    return [Group(tuple(found)) for found in groups.values()]


def group_lines(group: Group, options: RenderOptions, quoted: set[Location]) -> Lines:
    """The findings of one group; a line that is in `quoted` was shown before and is not quoted again."""
    lines = _headline(group, options)
    for message in group.messages:
        lines += [line for part in message.splitlines() for line in prose(part, options.width)]
    for place in group.places:
        lines += _place(place, options, quoted)
    for related in group.related:
        lines += noted("note", related.message, options.width, 2) + _place(related.location, options, quoted)
    return lines + [line for text in group.helps for line in noted("help", text, options.width, 2)]


def _headline(group: Group, options: RenderOptions) -> Lines:
    first, count = group.findings[0], len(group.findings)
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
