"""From the locations that Triton printed to the places that reports show.

Triton up to 3.7 locates a call at its last argument, later ones at its start, and inlined ops carry
no function names; both are settled here from the Python source.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from triton_mutlint.process.inputs import read
from triton_mutlint.types import Frame, Location, SourceFile

Entry = tuple[str, int, int]

# The method or function whose call makes an op, where its name tells.
CALLED: Mapping[str, tuple[str, ...]] = {
    "tt.store": ("store",), "tt.load": ("load",), "tt.atomic_rmw": ("atomic_",), "tt.atomic_cas": ("atomic_",),
    "tt.atomic_load": ("atomic_",), "tt.atomic_store": ("atomic_",), "tt.atomic_poll": ("atomic_",),
    "tt.descriptor_store": ("store",), "tt.descriptor_load": ("load",), "tt.descriptor_gather": ("gather",),
    "tt.descriptor_scatter": ("scatter",), "tt.descriptor_reduce": ("atomic_",),
    "tt.elementwise_inline_asm": ("inline_asm_elementwise",),
}


_BODIES = ("body", "handlers", "orelse", "finalbody", "cases")


@dataclass(frozen=True)
class _Span:
    """A function or call: its lines and columns (1-based lines, 0-based columns) and its name."""

    start: tuple[int, int]
    end: tuple[int, int]
    name: str

    def holds(self, place: tuple[int, int]) -> bool:
        return self.start <= place <= self.end


@dataclass(frozen=True)
class SourcePlaces:
    """Places as the files of a run show them; `sources` are those by absolute path."""

    cwd: Path
    sources: Mapping[str, SourceFile] = field(default_factory=dict)
    column_base: int = 1  # 0 of a Triton that locates a call at its last argument
    _names: dict[tuple[str, int], str] = field(default_factory=dict, init=False, repr=False)  # by file and line

    def location(self, entry: Entry | None, op: str) -> Location:
        """Where an op stands; line 1 of nothing when Triton printed no place."""
        if entry is None:
            return Location("<unknown>", 1, 1)
        file, line, column = self._start_of_call(entry, CALLED.get(op, ()))
        return Location(self.display(file), line, column)

    def trace(self, entries: tuple[Entry, ...], op: str) -> tuple[Frame, ...]:
        """Frames from the kernel inwards; each call site is found by the name of the function it calls."""
        names = [self._function(entry) for entry in entries]
        frames = []
        for i, entry in enumerate(entries):
            called = CALLED.get(op, ()) if i == len(entries) - 1 else (names[i + 1].split(".")[-1],)
            _, line, _ = self._start_of_call(entry, called)
            frames.append(Frame(names[i], self.display(entry[0]), line))
        return tuple(frames)

    def display(self, file: str) -> str:
        """The name to show for a file: as linted, else relative to the working directory or import root."""
        source = self.sources.get(file)
        return _display(file, str(self.cwd)) if source is None else source.display

    def _start_of_call(self, entry: Entry, called: tuple[str, ...]) -> Entry:
        file, line, column = entry
        if not self.column_base and called:
            place = (line, column - self.column_base)
            on_line = _calls(self._tree(file)).get(line, ())
            matching = [c for c in on_line if c.holds(place) and c.name.startswith(called)]
            if matching:  # the innermost starts last
                start = max(matching, key=lambda c: c.start).start
                return file, start[0], start[1] + 1
        return file, max(line, 1), max(column - self.column_base + 1, 1)

    def _function(self, entry: Entry) -> str:
        """The name of the innermost function around a line."""
        file, line, _ = entry
        name = self._names.get((file, line))
        if name is None:
            found = [f for f in _functions(self._tree(file)) if f.start[0] <= line <= f.end[0]]
            name = max(found, key=lambda f: f.start).name if found else "<module>"
            self._names[file, line] = name
        return name

    def _tree(self, file: str) -> ast.Module:
        source = self.sources.get(file)
        return _parsed(file) if source is None else source.tree


@lru_cache(maxsize=256)
def _parsed(file: str) -> ast.Module:
    try:
        return ast.parse(read(file))
    except (OSError, SyntaxError, ValueError):
        return ast.Module([], [])  # not Python source (a .ttir from elsewhere): no names, columns as printed


def forget() -> None:
    """Forget the files that were read, for a process that outlives them."""
    _parsed.cache_clear()


@lru_cache(maxsize=256)
def _calls(tree: ast.Module) -> Mapping[int, list[_Span]]:
    """The calls that stand on each line, in part or whole."""
    found: dict[int, list[_Span]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            func = node.func
            name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
            span = _span(node, name)
            for line in range(span.start[0], span.end[0] + 1):
                found.setdefault(line, []).append(span)
    return found


@lru_cache(maxsize=256)
def _functions(tree: ast.Module) -> tuple[_Span, ...]:
    return tuple(_functions_in(tree, ""))


def _functions_in(node: ast.AST, prefix: str) -> Iterator[_Span]:
    # The statements, handlers and cases right inside the node: no function stands in an expression.
    for child in (child for name in _BODIES for child in getattr(node, name, ())):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield _span(child, prefix + child.name)
            yield from _functions_in(child, "")
        elif isinstance(child, ast.ClassDef):
            yield from _functions_in(child, f"{child.name}.")
        else:
            yield from _functions_in(child, prefix)


def _span(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Call, name: str) -> _Span:
    end = (node.end_lineno or node.lineno, node.end_col_offset or 0)
    return _Span((node.lineno, node.col_offset), end, name)


@lru_cache(maxsize=4096)
def _display(file: str, cwd: str) -> str:
    path = Path(file)
    if not path.is_absolute():
        return file
    if path.is_relative_to(cwd):
        return path.relative_to(cwd).as_posix()
    for root in sorted((p for p in sys.path if p), key=len, reverse=True):
        if path.is_relative_to(root) and "packages" in root:
            return path.relative_to(root).as_posix()
    return min(Path(os.path.relpath(file, cwd)).as_posix(), path.as_posix(), key=len)
