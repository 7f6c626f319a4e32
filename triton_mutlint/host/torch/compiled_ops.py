"""Schemas of ops that a project implements in C++: the strings in its sources, or in what was built from them.

What such an op declares as written is written, if it returns nothing. It may write more: vllm's
`_qutlass_C::fusedQuantizeNvAbsMax` declares nothing, and writes its `OUT`. Nothing is loaded: the files that name the
op's namespace are searched for text that is a schema of its name.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from triton_mutlint.host.modules.module import HostModule
from triton_mutlint.host.torch.schema import Schema, SchemaError, parse_schema

_SOURCES = (".cpp", ".cc", ".cxx", ".cu", ".hip", ".h", ".hpp")
_BUILT = (".so", ".pyd")
_FILES = 4_000  # of one project that are looked at
_LARGEST = 256 << 20  # of a built file, in bytes
_REST = re.compile(  # of a schema, after the name
    rb"(?:\.\w+)?\((?:[^\0\"\n]|\n\s)*?\)\s*->\s*(?:\([^\0\"()]*\)|[\w.\[\]?]+(?:\([^\0\"()]*\))?[\w\[\]?]*)")
_JOINED = re.compile(rb"\"\s*\"")  # adjacent string literals are one


@dataclass
class CompiledOps:
    """The schemas in the C++ files of each project, read when first asked for."""

    _texts: dict[Path, list[bytes | mmap.mmap]] = field(default_factory=dict)
    _known: dict[tuple[Path, str, str], tuple[Schema, ...]] = field(default_factory=dict)

    def schemas(self, module: HostModule, namespace: str, name: str, overload: str) -> tuple[Schema, ...]:
        """The schemas of an op that code of `module` calls; of all its overloads where `overload` is empty."""
        folder = _project(module.path)
        key = (folder, namespace, name)
        if key not in self._known:
            if folder not in self._texts:
                self._texts[folder] = list(_texts(folder))
            texts = [text for text in self._texts[folder] if _names(text, namespace)]
            self._known[key] = tuple(dict.fromkeys(s for text in texts for s in _schemas(text, name)))
        wanted = "" if overload == "default" else overload
        return tuple(s for s in self._known[key] if not overload or s.overload == wanted)


def _names(text: bytes | mmap.mmap, namespace: str) -> bool:
    """Whether a file may hold ops of a namespace: a build has it as a string, a source may have it by a macro."""
    if isinstance(text, bytes):
        return re.search(rb"\b%s\b|TORCH_EXTENSION_NAME" % re.escape(namespace.encode()), text) is not None
    return text.find(b"\0%s\0" % namespace.encode()) >= 0


def _project(path: Path) -> Path:
    """The folder of the outermost package that a file is in."""
    folder = path.parent
    while (folder.parent / "__init__.py").exists():
        folder = folder.parent
    return folder


def _texts(folder: Path) -> Iterator[bytes | mmap.mmap]:
    for count, path in enumerate(sorted(_files(folder))):
        if count > _FILES:
            return
        try:
            if path.suffix in _SOURCES:
                data = path.read_bytes()
                if b".def(" in data or b"TORCH_LIBRARY" in data:
                    yield _JOINED.sub(b"", data)
            elif 0 < path.stat().st_size <= _LARGEST:
                with path.open("rb") as file:
                    yield mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError:
            continue


def _files(folder: Path) -> Iterator[Path]:
    yield from (p for p in folder.rglob("*") if p.suffix in _BUILT and p.is_file())
    for root in (folder / "csrc", folder.parent / "csrc"):
        yield from (p for p in root.rglob("*") if p.suffix in _SOURCES and p.is_file())


def _schemas(text: bytes | mmap.mmap, name: str) -> Iterator[Schema]:
    """The schemas in a file that begin with an op's name."""
    wanted = name.encode()
    at = text.find(wanted)
    while at >= 0:
        if not re.match(rb"[\w.]", text[at - 1 : at]):
            found = _REST.match(text, at + len(wanted), at + 8192)
            if found is not None:
                try:
                    schema = parse_schema((wanted + found[0]).decode("ascii"))
                except (SchemaError, UnicodeDecodeError):
                    schema = None
                if schema is not None and any(a.type for a in schema.arguments):
                    yield schema
        at = text.find(wanted, at + len(wanted))
