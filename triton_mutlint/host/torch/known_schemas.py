"""Schemas of ops without Python code: of torch's own, and of those that a project implements in C++."""

from __future__ import annotations

import json
import mmap
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from triton_mutlint.host.modules.module import HostModule
from triton_mutlint.host.torch.schema import Schema, SchemaError, parse_schema
from triton_mutlint.host.torch.table import function
from triton_mutlint.types import Location, Problem

DATA = Path(__file__).with_name("torch_schemas.json")
_SPACE = "aten::"
_SHOWN = 6  # overloads of an op


def torch_schema(name: str) -> Schema | None:
    """The schema of `aten::op` or `aten::op.overload`; None where torch has no such op.

    The overload `default` is the one without a name.
    """
    if not name.startswith(_SPACE):
        return None
    found = _data()["aten"].get(name.removeprefix(_SPACE).removesuffix(".default"))
    return parse_schema(name + found) if found is not None else None


def sought_in_vain(name: str, place: Location) -> tuple[Problem, ...]:
    """What is wrong with an implementation of `aten::op.overload`, if torch has the op, but no such overload of it."""
    base = name.removeprefix(_SPACE).partition(".")[0]
    others = [full for full in _data()["aten"] if full.partition(".")[0] == base]
    if not name.startswith(_SPACE) or not others or torch_schema(name) is not None:
        return ()
    listed = ", ".join(f"`{full}`" for full in others[:_SHOWN]) + (", …" if len(others) > _SHOWN else "")
    message = f"torch {_data()['made from']['torch']} has no `{name}`: what is registered for it is never called"
    return (Problem(message, place, f"the overloads of that op are {listed}"),)


def written_by(name: str, schema: Schema) -> tuple[str, ...]:
    """The arguments that an op of torch writes, by its schema or without having it there, in order."""
    effect = function(f"torch.ops.{name.replace('::', '.')}")
    silent = {effect.parameters[place] for place in effect.writes} if effect is not None else set()
    return tuple(a.name for a in schema.arguments if a.mutated or (a.is_tensor and a.name in silent))


@lru_cache(maxsize=1)
def _data() -> Mapping[str, Mapping[str, str]]:
    data: Mapping[str, Mapping[str, str]] = json.loads(DATA.read_bytes())
    return data


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
