"""What a file does with jit functions of others: which its own call, and which its host code launches."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from triton_mutlint.source.launched import Launches, launches
from triton_mutlint.source.namespace import Namespace
from triton_mutlint.source.outline import Outline, outline
from triton_mutlint.source.text import decode_source, read_bytes
from triton_mutlint.types import StageError, parse_source


def called_elsewhere(jits: Iterable[Any], path: Path) -> tuple[tuple[str, int], ...]:
    """Where those of the `jits` stand that are not of the file at `path`: the file and the line of the `def`."""
    found = set()
    for jit in jits:
        namespace, code = getattr(jit, "__globals__", None), getattr(getattr(jit, "fn", None), "__code__", None)
        if isinstance(namespace, Namespace) and code is not None and namespace.module.path != path:
            node = namespace.module.function_at(code.co_firstlineno)
            found.add((str(namespace.module.path), code.co_firstlineno if node is None else node.lineno))
    return tuple(sorted(found))


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
