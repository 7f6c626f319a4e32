"""What the host code of a file launches, and what its functions have to do with those of other files."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triton_mutlint.basics import MARK
from triton_mutlint.source.function_text import returns_value, takes_blocks
from triton_mutlint.source.outline import Outline, outline
from triton_mutlint.source.python_text import decode_source, read_bytes
from triton_mutlint.source.slicing.spaces import node_of
from triton_mutlint.source.walking import children, first_line
from triton_mutlint.types import StageError, parse_source

_LAUNCHERS = frozenset({"run", "warmup"})
_DECLARES = re.compile(rf"#\s*{MARK}\s*mutates\b")


@dataclass(frozen=True)
class Launches:
    """Names launched outright, and names handed to a host function that may launch them."""

    direct: frozenset[str]
    passed: frozenset[str]

    def is_kernel(self, names: Set[str], node: ast.FunctionDef, called: Set[str]) -> bool:
        """Whether a jit function with these names is a kernel, as far as its file tells; `called` are the functions
        that others call.
        """
        if names & self.direct:
            return True
        if returns_value(node) or takes_blocks(node):
            return False
        return bool(names & self.passed) or not called & {node.name, *names}


def is_declared(text: str, node: ast.FunctionDef) -> bool:
    """Whether a comment above a function, or in its head, says what it writes: nobody says so of a helper."""
    if MARK not in text:
        return False
    lines, begin = text.splitlines(), first_line(node)
    while begin > 1 and lines[begin - 2].lstrip().startswith("#"):
        begin -= 1
    return any(map(_DECLARES.search, lines[begin - 1 : node.body[0].lineno - 1]))


def launches(file: Outline) -> Launches:
    """What the host code of a file launches."""
    direct: set[str] = set()
    passed: set[str] = set()
    flows: dict[str, set[str]] = {}
    for call in file.calls:
        direct.update(launched(call))
        if not isinstance(call.func, ast.Subscript):  # a launch's own arguments are not launched
            passed.update(a.id for a in (*call.args, *(k.value for k in call.keywords)) if isinstance(a, ast.Name))
    own = {f.node.name for f in file.functions if not f.parents}
    for node, _ in file.assignments:
        for target in node.targets:
            if isinstance(target, ast.Name):
                flows.setdefault(target.id, set()).update(_carried(node.value, own))
    while more := {name for source in direct for name in flows.get(source, ())} - direct:
        direct |= more
    return Launches(frozenset(direct), frozenset(passed))


def launched(call: ast.Call) -> dict[str, None]:
    """What a launch may launch, by name: `k[grid](…)`, `m.k.run(…)`, `wrap(k)[grid](…)`, `TABLE[i][grid](…)`."""
    function = call.func
    if isinstance(function, ast.Subscript) or (isinstance(function, ast.Attribute) and function.attr in _LAUNCHERS):
        return dict.fromkeys(_named(function.value))
    return {}


def _named(node: ast.AST) -> Iterator[str]:
    """The names in an expression: of attributes, their own alone."""
    if isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.Name):
        yield node.id
    else:
        yield from (name for child in children(node) for name in _named(child))


def _carried(node: ast.expr, own: set[str]) -> Iterator[str]:
    """Plain names whose value an assigned expression may pass on; what the file's `own` functions get is passed."""
    if isinstance(node, ast.Name):
        yield node.id
    elif not isinstance(node, ast.Attribute) and not (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in own):
        for child in children(node):
            if isinstance(child, ast.expr):
                yield from _carried(child, own)


def called_elsewhere(jits: Iterable[Any], path: Path) -> tuple[tuple[str, int], ...]:
    """Where those of the `jits` stand that are not of the file at `path`: the file and the line of the `def`."""
    found = ((str(jit.__globals__.module.path), node.lineno) for jit in jits if (node := node_of(jit)) is not None)
    return tuple(sorted({at for at in found if at[0] != str(path)}))


def launched_from(file: Outline, launches: Launches) -> frozenset[str]:
    """Names, as they are where they are defined, of the functions that the file's host code may launch.

    What is handed to a function counts where its name is imported, or is that of a jit function of the file.
    """
    own = {found.node.name for found in file.jits}
    passed = {name for name in launches.passed if name in file.imports or name in own}
    return frozenset(file.imports.get(name, name).rpartition(".")[2] for name in launches.direct | passed)


def launched_in(paths: Iterable[Path], names: frozenset[str]) -> frozenset[str]:
    """Which of `names` the host code of the files at `paths` may launch; a file that mentions none is not parsed."""
    mentioned = re.compile(b"|".join(rb"\b" + re.escape(name.encode()) + rb"\b" for name in sorted(names)))
    found: set[str] = set()
    for path in paths:
        with contextlib.suppress(StageError):  # a file without kernels may hold whatever it likes
            data = read_bytes(path, str(path))
            if mentioned.search(data):
                file = outline(parse_source(decode_source(data, str(path)), str(path), str(path)))
                found |= names & launched_from(file, launches(file))
    return frozenset(found)
