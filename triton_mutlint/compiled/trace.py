"""Traces of tritonparse: a JSON object a line, plain or compressed with gzip.

An event `compilation` has the IR, the Python source and the compile-time values of a kernel; an event `launch` names
the compilation by its hash and has the type and value of each argument.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from triton_mutlint.compiled.cache_files import read_files
from triton_mutlint.compiled.model import STAGES, CompiledKernel, options_of, target_of
from triton_mutlint.source.discover import display_path
from triton_mutlint.types import Failure, Location, Stage

SUFFIXES = (".ndjson", ".ndjson.gz", ".jsonl", ".jsonl.gz")
_GZIP = b"\x1f\x8b"
_VALUES = (bool, int, float, str)


def is_trace(path: Path) -> bool:
    """Whether a file is a trace, by its name."""
    return path.name.endswith(SUFFIXES)


def kernels_in(path: Path, cwd: Path) -> Iterator[tuple[str, CompiledKernel | Failure | str]]:
    """What a trace, a cache or a file of IR holds, each with a name: kernels, why one cannot be read, and notes."""
    yield from ((path.name, found) for found in _read_trace(path, cwd)) if is_trace(path) else read_files(path, cwd)


def _read_trace(path: Path, cwd: Path) -> Iterator[CompiledKernel | Failure | str]:
    """The kernels that a trace tells of, a failure for each line that cannot be read, such as a cut one, and a note."""
    display = display_path(path, cwd)
    launched: dict[str, dict[str, str]] = {}
    names: dict[str, str] = {}  # of what was launched, and not compiled, by hash
    for _, event in _events(path, display):
        if isinstance(event, dict) and event.get("event_type") == "launch":
            _note_launch(event, launched, names)
    for number, event in _events(path, display):
        if isinstance(event, Failure):
            yield event
        elif event.get("event_type") == "compilation" and isinstance(event.get("payload"), dict):
            yield _kernel(event["payload"], f"{display}:{number}", launched)
            names.pop(_hash(event["payload"].get("metadata")), None)
    if names:
        yield (f"{display}: launched, and not compiled in this trace: {', '.join(sorted(set(names.values())))}; with "
               "TRITON_ALWAYS_COMPILE=1, Triton compiles what it has in its cache, too")


def _events(path: Path, display: str) -> Iterator[tuple[int, dict[str, Any] | Failure]]:
    """The objects of a trace with their lines; what follows after a line that is cut by compression is lost."""
    number = 0
    try:
        with path.open("rb") as plain:
            is_packed = plain.read(2) == _GZIP
            plain.seek(0)
            for number, line in enumerate(gzip.GzipFile(fileobj=plain) if is_packed else plain, 1):
                if line.strip():
                    yield number, _event(line, display, number)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        yield number + 1, _unreadable(display, number + 1, f"the compressed file is cut or broken ({error})")
    except OSError as error:
        yield 1, _unreadable(display, 1, str(error.strerror or error))


def _event(line: bytes, display: str, number: int) -> dict[str, Any] | Failure:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        return _unreadable(display, number, f"the line is no JSON ({error})")
    return found if isinstance(found, dict) else _unreadable(display, number, "the line holds no JSON object")


def _unreadable(display: str, line: int, why: str) -> Failure:
    hint = "the other lines are read; if the program that writes the trace is still running, wait until it has ended"
    return Failure(Stage.LOAD, f"cannot read an event of the trace: {why}", Location(display, line), hint)


def _hash(metadata: object) -> str:
    return str(metadata.get("hash")) if isinstance(metadata, dict) else ""


def _note_launch(event: Mapping[str, Any], launched: dict[str, dict[str, str]], names: dict[str, str]) -> None:
    """Keeps the numbers and texts that all launches of one compilation have in common; "" where they differ."""
    metadata, arguments = event.get("compilation_metadata"), event.get("extracted_args")
    if not isinstance(metadata, dict) or not isinstance(arguments, dict):
        return
    values = launched.setdefault(_hash(metadata), {})
    names[_hash(metadata)] = str(event.get("name") or metadata.get("name"))
    for name, argument in arguments.items():
        value = argument.get("value") if isinstance(argument, dict) else None
        if isinstance(value, _VALUES) and values.setdefault(str(name), repr(value)) != repr(value):
            values[str(name)] = ""


def _kernel(payload: Mapping[str, Any], label: str, launched: Mapping[str, Mapping[str, str]]) -> CompiledKernel:
    contents = payload.get("file_content")
    files = contents.items() if isinstance(contents, dict) else ()
    texts = {stage: text for stage in STAGES for name, text in files
             if str(name).endswith(f".{stage}") and isinstance(text, str)}
    noted = payload.get("metadata")
    metadata = noted if isinstance(noted, dict) else {}
    values = {name: value for name, value in launched.get(_hash(metadata), {}).items() if value}
    constants = payload.get("src_constants", metadata.get("src_constants"))
    compiled = constants if isinstance(constants, dict) else {}
    source = payload.get("python_source")
    code = source.get("code") if isinstance(source, dict) else None
    return CompiledKernel(label, label.rpartition("/")[2], texts, target_of(metadata), options_of(metadata),
                          {**values, **{str(key): repr(value) for key, value in compiled.items()}},
                          code if isinstance(code, str) else "")
