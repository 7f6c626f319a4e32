"""What one kernel's verdict depends on in its own file, and where its places are when the file is edited.

Other kernels do not matter unless a jit function mentions them: their lines are left out, so that an edit
of one kernel leaves the verdicts on the others as they were, further down or up.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar

from triton_mutlint.inputs import digest_of
from triton_mutlint.judging import LintedFile
from triton_mutlint.model import Frame, KernelReport, LoadedKernel, LoadResult, Location, SourceFile, Status
from triton_mutlint.signature.spec import KernelSpec
from triton_mutlint.source.text import split_lines
from triton_mutlint.source.walking import first_line, walk

_OWN = 1 << 32  # begins the places within the kernel itself
_MAY_NAME_A_LINE = re.compile(r"\blines? \d|\.pyi?:\d|:\d+:\d|<stdin>:\d")
T = TypeVar("T")


@dataclass(frozen=True)
class KeptReport:
    """A report, where the lines that it names were, and how the file was laid out if its text names lines too."""

    report: KernelReport
    places: Mapping[int, int]  # line -> place
    layout: tuple[tuple[int, int], ...] | None = None


class Layout:
    """The lines of one file, and which kernel each belongs to."""

    def __init__(self, source: SourceFile, result: LoadResult) -> None:
        self._lines = split_lines(source.text)
        self._display = source.display
        self._spans = {k: _span(k.node) for k in _apart(result)}
        self._layout = tuple(sorted(self._spans.values()))
        self._places = dict(self._common())
        self._line_of = {place: line for line, place in self._places.items()}
        shared = "".join(self._lines[line - 1] for line in self._line_of.values())
        self._shared = digest_of(shared.encode("utf-8", "surrogatepass"))
        self._order = {span: i for i, span in enumerate(self._layout)}

    def key(self, kernel: LoadedKernel, given: Sequence[object]) -> str:
        """What says that the kernel's verdict is the same: its own text, what it shares, and what is `given`."""
        span = self._spans.get(kernel)
        own = "" if span is None else "".join(self._lines[span[0] - 1 : span[1]])
        at = kernel.location.line if span is None else self._order[span]
        return digest_of(repr((kernel.qualname, kernel.name, at, own, self._shared, len(self._order), *given)).encode(
            "utf-8", "surrogatepass"))

    def kept(self, kernel: LoadedKernel, report: KernelReport) -> KeptReport | None:
        """What to keep of a report; None for one that says nothing, or names another kernel's lines."""
        if report.status is not Status.ANALYZED:
            return None
        lines, texts = set(), False
        for value in _values(report):
            if isinstance(value, str):
                texts = texts or f"{self._display}:" in value or _MAY_NAME_A_LINE.search(value) is not None
            elif value.file == self._display:
                lines.add(value.line)
        places = {line: self._place(kernel, line) for line in sorted(lines)}
        if None in places.values():
            return None
        return KeptReport(report, {line: p for line, p in places.items() if p is not None},
                          self._layout if texts else None)

    def restored(self, kernel: LoadedKernel, kept: KeptReport) -> KernelReport | None:
        """The report with its lines where they are now; None if that cannot be told."""
        if kept.layout is not None and kept.layout != self._layout:
            return None
        now = {line: self._line(kernel, place) for line, place in kept.places.items()}
        if all(line == new for line, new in now.items()):
            return kept.report
        return _moved(kept.report, self._display, now)

    def _common(self) -> Iterator[tuple[int, int]]:
        """The lines that belong to no kernel, each with its place among them."""
        hidden = {line for first, last in self._layout for line in range(first, last + 1)}
        shared = (line for line in range(1, len(self._lines) + 1) if line not in hidden)
        yield from ((line, place) for place, line in enumerate(shared))

    def _place(self, kernel: LoadedKernel, line: int) -> int | None:
        span = self._spans.get(kernel)
        if span is not None and span[0] <= line <= span[1]:
            return _OWN + line - span[0]
        return self._places.get(line)

    def _line(self, kernel: LoadedKernel, place: int) -> int:
        return self._spans[kernel][0] + place - _OWN if place >= _OWN else self._line_of[place]


class KernelCache:
    """The kernels of one loaded file, and what is `known` of kernels by key; `asked` is the same for all."""

    def __init__(self, file: LintedFile, asked: Sequence[object], known: Mapping[str, KeptReport]) -> None:
        self._layout = Layout(file.source, file.result)
        spec = file.spec
        self._given = (*asked, *(() if spec is None else (
            spec.default_types, spec.default_constexprs, spec.global_specs)))
        self._known = known

    def key(self, kernel: LoadedKernel, entry: KernelSpec | None) -> str:
        return self._layout.key(kernel, (*self._given, entry))

    def find(self, kernel: LoadedKernel, key: str) -> KernelReport | None:
        """The report that is known under a key, with its places as they are now."""
        kept = self._known.get(key)
        return None if kept is None else self._layout.restored(kernel, kept)

    def kept(self, kernel: LoadedKernel, report: KernelReport) -> KeptReport | None:
        return self._layout.kept(kernel, report)


def _apart(result: LoadResult) -> Iterator[LoadedKernel]:
    """The kernels that no other jit function mentions."""
    functions = (*result.kernels, *result.helpers)
    mentioned: dict[str, set[int]] = {}
    for number, function in enumerate(functions):
        for node in walk(function.node):
            name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
            if name:
                mentioned.setdefault(name, set()).add(number)
    spans = [_span(function.node) for function in functions]
    for number, kernel in enumerate(result.kernels):
        others = mentioned.get(kernel.name, set()) | mentioned.get(kernel.node.name, set())
        start, end = spans[number]
        is_alone = sum(first <= end and last >= start for first, last in spans) == 1
        if is_alone and others <= {number}:
            yield kernel


def _span(node: ast.FunctionDef) -> tuple[int, int]:
    """The first and last line of a function with its decorators."""
    return first_line(node), node.end_lineno or node.lineno


def _values(value: object) -> Iterator[Any]:
    """Every place and text in a report, however deep."""
    if isinstance(value, (Location, Frame, str)):
        yield value
    elif isinstance(value, Mapping):
        for item in value.items():
            yield from _values(item)
    elif isinstance(value, (tuple, list, frozenset)):
        for item in value:
            yield from _values(item)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _values(getattr(value, field.name))


def _moved(value: T, file: str, lines: Mapping[int, int]) -> T:
    """`value` with the places in `file` on other lines."""
    moved: Any = value
    if isinstance(value, (Location, Frame)):
        moved = replace(value, line=lines.get(value.line, value.line)) if value.file == file else value
    elif isinstance(value, tuple):
        moved = tuple(_moved(item, file, lines) for item in value)
    elif isinstance(value, Mapping) and value:
        moved = {_moved(k, file, lines): _moved(v, file, lines) for k, v in value.items()}
    elif is_dataclass(value) and not isinstance(value, type):
        changed = {f.name: _moved(getattr(value, f.name), file, lines) for f in fields(value)}
        moved = replace(value, **changed)
    result: T = moved
    return result
