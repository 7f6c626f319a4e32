"""YAML text to values that remember where they stand.

PyYAML's composer gives the nodes with their marks; scalars are read by YAML 1.2's core schema, so
that `1e-5` is a number and a parameter may be called `on`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import yaml

from triton_mutlint.basics import byte_column
from triton_mutlint.types import Location, UsageError

Key = str | int  # a mapping's key or a list's index
KeyPath = tuple[Key, ...]

_PLAIN_KEY = re.compile(r"[\w*?-]+")
_SHOWN = 20  # problems listed before the rest is only counted


def show_path(path: KeyPath) -> str:
    """A key path as people write it: `kernels.add_kernel.args.x_ptr`, `kernels["a.py::k"].mutates[0]`."""
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key}]"
        elif _PLAIN_KEY.fullmatch(key):
            text += f".{key}" if text else key
        else:
            text += f'["{key}"]'
    return text


@dataclass(frozen=True)
class SpecProblem:
    """One thing wrong in a spec file; `path` is the key path, empty for the file as a whole."""

    location: Location
    path: KeyPath
    message: str

    def __str__(self) -> str:
        where = f"{self.location.file}:{self.location.line}:{self.location.column}"
        keys = show_path(self.path)
        return f"{where}: {keys}: {self.message}" if keys else f"{where}: {self.message}"


class SpecError(UsageError):
    """A spec that cannot be used; `problems` in file order, at least one."""

    def __init__(self, problems: Iterable[SpecProblem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda problem: problem.location))
        shown = [str(problem) for problem in self.problems[:_SHOWN]]
        rest = len(self.problems) - len(shown)
        super().__init__("\n".join(shown + ([f"... and {rest} more problems"] if rest else [])))


MAX_NODES = 100_000  # after aliases are expanded: bounds what a few nested aliases can ask for
MAX_DEPTH = 64
MAX_FLOW = 5_000  # brackets, and
MAX_FAST = 4_000_000  # characters, for libyaml's recursive composer

Scalar = str | int | float | bool | None


@dataclass(frozen=True)
class Entry:
    """One `key: value` of a mapping; `location` is the key's."""

    key: str
    location: Location
    node: Node

    @property
    def path(self) -> KeyPath:
        return self.node.path


@dataclass(frozen=True)
class Node:
    """A value of the file: exactly one of `scalar`, `items`, `entries` is meaningful, by `kind`."""

    kind: str  # "scalar" | "list" | "mapping"
    location: Location
    path: KeyPath
    scalar: Scalar = None
    items: tuple[Node, ...] = ()
    entries: tuple[Entry, ...] = ()

    def plain(self) -> Any:
        """The value as plain Python: scalars, lists and dicts."""
        if self.kind == "list":
            return [item.plain() for item in self.items]
        if self.kind == "mapping":
            return {entry.key: entry.node.plain() for entry in self.entries}
        return self.scalar

    @property
    def parts(self) -> dict[str, Node]:
        """The values of a mapping by their keys."""
        return {entry.key: entry.node for entry in self.entries}

    @property
    def is_nothing(self) -> bool:
        return self.kind == "scalar" and self.scalar is None

    @property
    def shown(self) -> str:
        """What the value is, for a message."""
        if self.kind != "scalar":
            return f"a {self.kind}"
        return "nothing" if self.scalar is None else repr(self.scalar)


NOTHING = Node("scalar", Location("", 1), ())


class _Loader(yaml.SafeLoader):
    """SafeLoader with the implicit types of YAML 1.2's core schema."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012  # PyYAML's own shape


# The same on libyaml, where PyYAML was built with it.
_FastLoader: Any = hasattr(yaml, "CSafeLoader") and type(
    "_FastLoader", (yaml.CSafeLoader,), {"yaml_implicit_resolvers": _Loader.yaml_implicit_resolvers})
_OLD_BOOL = re.compile(r"yes|no|on|off", re.IGNORECASE)  # booleans of YAML 1.1 only
_TAG = "tag:yaml.org,2002:"
_COLLECTIONS = (f"{_TAG}seq", f"{_TAG}map")
# What a scalar looks like to be of a tag, the characters it can begin with, and its value.
_SCALARS: dict[str, tuple[str, str, Callable[[str], Scalar]]] = {
    "bool": (r"true|True|TRUE|false|False|FALSE", "tTfF", lambda text: text.lower() == "true"),
    "int": (r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789",
            lambda text: int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))),
    "float": (r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
              "-+.0123456789", lambda text: float(re.sub(r"\.(?=[in])", "", text.lower()))),
    "null": (r"~|null|Null|NULL|", "~nN", lambda text: None),
}
for _kind, (_pattern, _first, _) in _SCALARS.items():
    _begins = [*_first, ""] if _kind == "null" else list(_first)
    _Loader.add_implicit_resolver(f"{_TAG}{_kind}", re.compile(f"(?:{_pattern})$"), _begins)


def parse_yaml(text: str, file: str) -> Node:
    """The root node of the one document in `text`; `file` names it in locations.

    Of a text with nothing in it, that is a null. Raises `SpecError` for text that is not YAML, a second
    document, a duplicate key, a tag other than YAML's own scalars, or a document that is too deep or too large.
    """
    try:
        root = compose(text)
    except yaml.MarkedYAMLError as error:
        raise SpecError([_syntax_problem(error, text, file)]) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        message = f"not YAML: the character {error.character:#04x} is not allowed"
        raise SpecError([SpecProblem(Location(file, line), (), message)]) from None
    except RecursionError:  # PyYAML descends by recursion
        raise SpecError([SpecProblem(Location(file, 1), (), "nested too deeply")]) from None
    if root is None:
        return Node("scalar", Location(file, 1), ())
    reader = _Reader(text, file)
    node = reader.read(root, (), 0)
    if reader.problems:
        raise SpecError(reader.problems)
    return node


def compose(text: str) -> yaml.Node | None:
    """The root node: by libyaml (ten times faster) where that can be, else by PyYAML's own parser.

    Only the latter words its errors for people, and only it is safe from deep nesting.
    """
    if _FastLoader and text.count("[") + text.count("{") < MAX_FLOW and len(text) < MAX_FAST:
        try:
            return yaml.compose(text, Loader=_FastLoader)
        except (yaml.YAMLError, UnicodeError):
            pass
    return yaml.compose(text, Loader=_Loader)


def _syntax_problem(error: yaml.MarkedYAMLError, text: str, file: str) -> SpecProblem:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line, mark.column) if mark else (0, 0)
    lines = text.splitlines()
    before = lines[line][: column + 1] if line < len(lines) else ""
    if "\t" in before and "\\t" in str(error.problem):
        message = "a tab cannot indent YAML; use spaces"
    elif error.context == "expected a single document in the stream":
        message = "more than one document ('---'); a spec is one"
    elif "alias" in f"{error.context} {error.problem}":
        message = 'a leading * is a YAML alias; write pointer types and patterns in quotes, "*fp32"'
    else:
        message = f"not YAML: {', '.join(part for part in (error.context, error.problem) if part)}"
    return SpecProblem(location_at(mark, text, file) if mark else Location(file, 1), (), message)


def location_at(mark: yaml.Mark, text: str, file: str) -> Location:
    """A place of PyYAML's in `text`; it counts characters."""
    line = text[mark.index - mark.column : mark.index]
    return Location(file, mark.line + 1, byte_column(line, mark.column))


class _Reader:
    """Turns PyYAML's nodes into ours, collecting problems; one use per document."""

    def __init__(self, text: str, file: str) -> None:
        self.text, self.file = text, file
        self.problems: list[SpecProblem] = []
        self.seen = 0
        self._known: set[int] = set()  # nodes: an alias is the node that it stands for
        self.has_aliases = False

    def location(self, node: yaml.Node) -> Location:
        return location_at(node.start_mark, self.text, self.file)

    def report(self, node: yaml.Node, path: KeyPath, message: str) -> None:
        self.problems.append(SpecProblem(self.location(node), path, message))

    def read(self, node: yaml.Node, path: KeyPath, depth: int) -> Node:
        self.seen += 1
        self.has_aliases |= id(node) in self._known
        self._known.add(id(node))
        if self.seen > MAX_NODES or depth > MAX_DEPTH:
            what = "nested too deeply" if depth > MAX_DEPTH else f"more than {MAX_NODES:,} values"
            message = f"{what}{' once aliases are expanded' if self.has_aliases else ''}"
            raise SpecError([SpecProblem(self.location(node), (), message)])
        location = self.location(node)
        if not isinstance(node, yaml.ScalarNode) and node.tag not in _COLLECTIONS:
            self.report(node, path, f"unknown tag {node.tag!r}")
        if isinstance(node, yaml.SequenceNode):
            items = tuple(self.read(item, (*path, i), depth + 1) for i, item in enumerate(node.value))
            return Node("list", location, path, items=items)
        if isinstance(node, yaml.MappingNode):
            return Node("mapping", location, path, entries=self.entries(node, path, depth))
        return Node("scalar", location, path, scalar=self.scalar(node, path))

    def entries(self, node: yaml.MappingNode, path: KeyPath, depth: int) -> tuple[Entry, ...]:
        own: dict[str, Entry] = {}
        merged: list[Node] = []
        for key_node, value_node in node.value:
            if key_node.value == "<<" and isinstance(key_node, yaml.ScalarNode) and not key_node.style:
                merged += self.merge_sources(value_node, path, depth)
                continue
            if not isinstance(key_node, yaml.ScalarNode):
                self.report(key_node, path, "a key must be plain text")
                continue
            key, location = str(key_node.value), self.location(key_node)
            entry = Entry(key, location, self.read(value_node, (*path, key), depth + 1))
            if key in own:
                first = own[key].location.line
                self.report(key_node, (*path, key), f"duplicate key; first given on line {first}")
            else:
                own[key] = entry
        for source in merged:
            for entry in source.entries:
                own.setdefault(entry.key, entry)
        return tuple(own.values())

    def merge_sources(self, node: yaml.Node, path: KeyPath, depth: int) -> list[Node]:
        """The mappings that `<<: *name` or `<<: [*a, *b]` brings in, first wins."""
        nodes = node.value if isinstance(node, yaml.SequenceNode) else [node]
        sources = [self.read(source, path, depth + 1) for source in nodes]
        if any(source.kind != "mapping" for source in sources):
            self.report(node, (*path, "<<"), "only mappings can be merged")
        return sources

    def scalar(self, node: yaml.Node, path: KeyPath) -> Scalar:
        text, tag = str(node.value), node.tag
        plain = isinstance(node, yaml.ScalarNode) and not node.style
        if plain and tag == f"{_TAG}str" and _OLD_BOOL.fullmatch(text):
            wanted = "true" if text.lower() in ("yes", "on") else "false"
            self.report(node, path, f"{text!r} is ambiguous; write {wanted}, or quote it for the text")
        try:
            return _scalar_value(text, tag)
        except ValueError:
            self.report(node, path, f"cannot read {text!r} as {tag.removeprefix(_TAG)}")
            return None


def _scalar_value(text: str, tag: str) -> Scalar:
    """The value of one scalar; raises ValueError for other tags and for text its tag does not fit."""
    kind = tag.removeprefix(_TAG)
    if kind == "str":
        return text
    if kind in _SCALARS and (kind == "null" or re.fullmatch(_SCALARS[kind][0], text)):
        return _SCALARS[kind][2](text)
    raise ValueError(tag)
