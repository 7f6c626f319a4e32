"""Findings that text tells of together: those of one kind on one declaration, decorator or signature."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from triton_mutlint.types import Finding, Location, Related

_PLACE = "\0"  # stands for the parameter in what several findings say alike


@dataclass(frozen=True)
class Group:
    """Findings that have rule, severity, kernel, op and subject in common, in their order."""

    findings: tuple[Finding, ...]

    @property
    def first(self) -> Finding:
        return self.findings[0]

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
        if len(self.findings) == 1:
            return self.first.related
        common = [r for r in dict.fromkeys(self.first.related) if all(r in f.related for f in self.findings)]
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
    for related in finding.related:
        if finding.message.endswith(f": {related.message}"):
            return finding.message.removesuffix(f": {related.message}")
    return finding.message


def grouped(findings: Iterable[Finding]) -> Sequence[Group]:
    """The findings in groups, in the order of the first of each."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        alone = finding.subject is None or finding.parameter is None
        what = finding if alone else (finding.rule, finding.severity, finding.kernel, finding.op, finding.subject)
        groups.setdefault((finding.suppressed, what), []).append(finding)
    return [Group(tuple(found)) for found in groups.values()]
