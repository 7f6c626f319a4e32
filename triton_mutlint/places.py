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

from triton_mutlint.model import Frame, Location

Entry = tuple[str, int, int]

# The method or function whose call makes an op, where its name tells.
CALLED: Mapping[str, tuple[str, ...]] = {
    "tt.store": ("store",), "tt.load": ("load",), "tt.atomic_rmw": ("atomic_",), "tt.atomic_cas": ("atomic_",),
    "tt.atomic_load": ("atomic_",), "tt.atomic_store": ("atomic_",), "tt.atomic_poll": ("atomic_",),
    "tt.descriptor_store": ("store",), "tt.descriptor_load": ("load",), "tt.descriptor_gather": ("gather",),
    "tt.descriptor_scatter": ("scatter",), "tt.descriptor_reduce": ("atomic_",),
    "tt.elementwise_inline_asm": ("inline_asm_elementwise",),
}


@dataclass(frozen=True)
class _Span:
    """A function or call: its lines and columns (1-based lines, 0-based columns) and its name."""

    start: tuple[int, int]
    end: tuple[int, int]
    name: str

    def holds(self, place: tuple[int, int]) -> bool:
        return self.start <= place <= self.end


@dataclass(frozen=True)
class _Index:
    functions: tuple[_Span, ...] = ()
    calls: tuple[_Span, ...] = ()


@dataclass(frozen=True)
class SourcePlaces:
    """`texts` holds sources that are not (or not as) on disk, by absolute path; `displays` names to show."""

    cwd: Path
    displays: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    column_base: int = 1
    locates_calls: bool = True

    def location(self, entry: Entry | None, op: str) -> Location:
        """Where an op stands; line 1 of nothing when Triton printed no place."""
        if entry is None:
            return Location("<unknown>", 1, 1)
        file, line, column = self._settle(entry, CALLED.get(op, ()))
        return Location(self.display(file), line, column)

    def trace(self, entries: tuple[Entry, ...], op: str) -> tuple[Frame, ...]:
        """Frames from the kernel inwards; each call site is found by the name of the function it calls."""
        names = [self._function(entry) for entry in entries]
        frames = []
        for i, entry in enumerate(entries):
            called = CALLED.get(op, ()) if i == len(entries) - 1 else (names[i + 1].split(".")[-1],)
            _, line, _ = self._settle(entry, called)
            frames.append(Frame(names[i], self.display(entry[0]), line))
        return tuple(frames)

    def display(self, file: str) -> str:
        """The name to show for a file: as linted, else relative to the working directory or import root."""
        return self.displays.get(file) or _display(file, str(self.cwd))

    def _settle(self, entry: Entry, called: tuple[str, ...]) -> Entry:
        file, line, column = entry
        if not self.locates_calls and called:
            place = (line, column - self.column_base)
            matching = [c for c in self._index(file).calls if c.holds(place) and c.name.startswith(called)]
            if matching:  # the innermost starts last
                start = max(matching, key=lambda c: c.start).start
                return file, start[0], start[1] + 1
        return file, max(line, 1), max(column - self.column_base + 1, 1)

    def _function(self, entry: Entry) -> str:
        file, line, _ = entry
        found = [f for f in self._index(file).functions if f.start[0] <= line <= f.end[0]]
        return max(found, key=lambda f: f.start).name if found else "<module>"

    def _index(self, file: str) -> _Index:
        return _indexed(file, self.texts.get(file))


@lru_cache(maxsize=1024)
def _indexed(file: str, text: str | None) -> _Index:
    try:
        tree = ast.parse(text if text is not None else Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return _Index()  # not Python source (a .ttir from elsewhere): no names, columns as printed
    calls = [_span(n, _called_name(n)) for n in ast.walk(tree) if isinstance(n, ast.Call)]
    return _Index(tuple(_functions(tree, "")), tuple(calls))


def _functions(node: ast.AST, prefix: str) -> Iterator[_Span]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield _span(child, prefix + child.name)
            yield from _functions(child, "")
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{child.name}.")
        else:
            yield from _functions(child, prefix)


def _span(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Call, name: str) -> _Span:
    end = (node.end_lineno or node.lineno, node.end_col_offset or 0)
    return _Span((node.lineno, node.col_offset), end, name)


def _called_name(node: ast.Call) -> str:
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


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
    return Path(os.path.relpath(file, cwd)).as_posix()
