"""Reads a spec file: its YAML is checked as a whole, and then made a `Spec`."""

from __future__ import annotations

from pathlib import Path

from triton_mutlint.process.inputs import read
from triton_mutlint.spec.errors import SpecError, SpecProblem
from triton_mutlint.spec.model import ArgSpec, Declared, GlobalSpec, KernelSpec, Spec
from triton_mutlint.spec.nodes import Entry, Node, parse_yaml
from triton_mutlint.spec.schema import SPEC
from triton_mutlint.types import Location


def load_spec(path: Path, display: str | None = None) -> Spec:
    """The spec in the file `path`, called `display` in messages.

    Raises `SpecError`, which lists every problem with its line and key path.
    """
    file = display or str(path)
    try:
        data = read(path, named=True)
    except OSError as error:
        raise SpecError([SpecProblem(Location(file, 1), (), f"cannot read: {error.strerror}")]) from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"not UTF-8 (byte {data[error.start]:#04x})"
        raise SpecError([SpecProblem(Location(file, line), (), message)]) from None
    return parse_spec(text, file)


def parse_spec(text: str, file: str) -> Spec:
    """The spec written as `text`; raises `SpecError` with every problem found."""
    root = parse_yaml(text, file)
    problems = [SpecProblem(place.location, place.path, message) for place, message in SPEC(root)]
    if problems:
        raise SpecError(problems)
    parts = _parts(root)
    defaults = _parts(parts.get("defaults"))
    return Spec(
        file,
        tuple(map(_kernel, _entries(parts.get("kernels")))),
        _arguments(defaults.get("types")),
        _arguments(defaults.get("constexpr")),
        tuple(GlobalSpec(e.key, e.node.plain(), e.location) for e in _entries(parts.get("globals"))),
        {e.key: e.node.plain() for e in _entries(parts.get("ops"))},
    )


def _entries(node: Node | None) -> tuple[Entry, ...]:
    return node.entries if node is not None else ()


def _parts(node: Node | None) -> dict[str, Node]:
    return {entry.key: entry.node for entry in _entries(node)}


def _kernel(entry: Entry) -> KernelSpec:
    parts = _parts(entry.node)
    args, mutates, verify = parts.get("args"), parts.get("mutates"), parts.get("verify")
    return KernelSpec(
        pattern=entry.key,
        location=entry.location,
        path=entry.node.path,
        args=_arguments(args),
        compact=args if args is not None and isinstance(args.scalar, str) else None,
        mutates=_names(mutates) if mutates is not None else None,
        mutates_location=next((e.location for e in entry.node.entries if e.key == "mutates"), None),
        allow=_names(parts.get("allow")),
        targets=_names(parts.get("target")),
        verify={e.key: e.node.plain() for e in verify.entries} if verify is not None else None,
    )


def _arguments(node: Node | None) -> tuple[ArgSpec, ...]:
    """Each name (or pattern) with its value or its list of values."""
    return tuple(ArgSpec(e.key, e.node.items if e.node.kind == "list" else (e.node,), e.location, e.node.path)
                 for e in _entries(node))


def _names(node: Node | None) -> tuple[Declared, ...]:
    """A text, or a list of texts."""
    texts = () if node is None else node.items if node.kind == "list" else (node,)
    return tuple(Declared(str(text.scalar), text.location, text.path) for text in texts)
