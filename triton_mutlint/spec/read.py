"""Which spec holds for a file, and reading it: its YAML is checked as a whole, and then made a `Spec`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from triton_mutlint.basics import nearest_rule
from triton_mutlint.process.inputs import note_name, read
from triton_mutlint.spec.model import ArgSpec, Declared, GlobalSpec, KernelSpec, Spec
from triton_mutlint.spec.nodes import NOTHING, Entry, Node, SpecError, SpecProblem, parse_yaml
from triton_mutlint.spec.schema import SPEC
from triton_mutlint.types import Location

NAMES = ("triton-mutlint.yaml", "triton-mutlint.yml")
_ROOT_MARKS = (".git", "pyproject.toml")


def find_spec(file: Path) -> Path | None:
    """The spec that holds for `file`: beside it, or upward to the project root inclusive.

    The root is the first directory with `.git` or `pyproject.toml`; without one the search goes to the top. Of the two
    names `.yaml` comes first.
    """
    start = file.absolute()
    for folder in start.parents if not start.is_dir() else (start, *start.parents):
        for name in (*NAMES, *_ROOT_MARKS):
            note_name(folder, name)
        for name in NAMES:
            if _exists(folder / name, file_only=True):
                return folder / name
        if any(_exists(folder / mark) for mark in _ROOT_MARKS):
            return None
    return None


def project_root(file: Path) -> Path | None:
    """The nearest folder above `file` with `.git` or `pyproject.toml`."""
    marked = (f for f in file.absolute().parents if any(_exists(f / mark) for mark in _ROOT_MARKS))
    return next(marked, None)


def _exists(path: Path, *, file_only: bool = False) -> bool:
    try:
        return path.is_file() if file_only else path.exists()
    except OSError:  # a directory that may not be searched
        return False


def load_spec(path: Path, display: str | None = None) -> Spec:
    """The spec in the file `path`, called `display` in messages.

    Raises `SpecError`, which lists every problem with its line and key path.
    """
    file = display or str(path)
    return parse_spec(spec_text(path, file), file)


def spec_text(path: Path, file: str) -> str:
    """The text of a spec file as it is, with the mark that may begin it. Raises `SpecError`."""
    try:
        data = read(path, named=True)
        return data.decode("utf-8")
    except OSError as error:
        raise SpecError([SpecProblem(Location(file, 1), (), f"cannot read: {error.strerror}")]) from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"not UTF-8 (byte {data[error.start]:#04x})"
        raise SpecError([SpecProblem(Location(file, line), (), message)]) from None


def parse_spec(text: str, file: str) -> Spec:
    """The spec written as `text`; raises `SpecError` with every problem found."""
    root = parse_yaml(text.removeprefix("\ufeff"), file)
    problems = [SpecProblem(place.location, place.path, message) for place, message in SPEC(root)]
    if problems:
        raise SpecError(problems)
    parts = root.parts
    defaults = parts.get("defaults", NOTHING).parts
    return Spec(
        file,
        tuple(map(_kernel, parts.get("kernels", NOTHING).entries)),
        _arguments(defaults.get("types", NOTHING)),
        _arguments(defaults.get("constexpr", NOTHING)),
        tuple(GlobalSpec(e.key, e.node.plain(), e.location) for e in parts.get("globals", NOTHING).entries),
        {e.key: e.node.plain() for e in parts.get("ops", NOTHING).entries},
    )


def check_allowed(spec: Spec, rules: Mapping[str, str]) -> None:
    """Raises SpecError, with the nearest rule, for codes in `allow` that are no `rules`, which give their names."""
    problems = []
    for unknown in (d for entry in spec.kernels for d in entry.allow if d.name not in rules):
        meant = nearest_rule(unknown.name, rules)
        message = f"there is no rule {unknown.name}" + (f"; did you mean {meant!r}?" if meant else "")
        problems.append(SpecProblem(unknown.location, unknown.path, message))
    if problems:
        raise SpecError(problems)


def _kernel(entry: Entry) -> KernelSpec:
    parts = entry.node.parts
    args, mutates, verify = parts.get("args", NOTHING), parts.get("mutates"), parts.get("verify")
    return KernelSpec(
        pattern=entry.key,
        location=entry.location,
        path=entry.node.path,
        args=_arguments(args),
        compact=args if isinstance(args.scalar, str) else None,
        mutates=_names(mutates) if mutates is not None else None,
        mutates_location=next((e.location for e in entry.node.entries if e.key == "mutates"), None),
        allow=_names(parts.get("allow", NOTHING)),
        targets=_names(parts.get("target", NOTHING)),
        verify={e.key: e.node.plain() for e in verify.entries} if verify is not None else None,
    )


def _arguments(node: Node) -> tuple[ArgSpec, ...]:
    """Each name (or pattern) with its value or its list of values."""
    return tuple(ArgSpec(e.key, e.node.items if e.node.kind == "list" else (e.node,), e.location, e.node.path)
                 for e in node.entries)


def _names(node: Node) -> tuple[Declared, ...]:
    """A text, or a list of texts."""
    texts = node.items if node.kind == "list" or node.is_nothing else (node,)
    return tuple(Declared(str(text.scalar), text.location, text.path) for text in texts)
