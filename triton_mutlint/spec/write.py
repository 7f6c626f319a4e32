"""Changing a spec's text: one entry is read by ruamel.yaml, changed, and written again. All other lines stay.

ruamel.yaml keeps comments, quotes and the order of keys. Only this module imports it, and only what writes a spec
imports this module.
"""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence

import yaml
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import YAMLError
from ruamel.yaml.resolver import VersionedResolver

from triton_mutlint.spec.as_yaml import STEP, WrittenArgument, argument_lines, scalar_text
from triton_mutlint.spec.nodes import compose

_LINE_END = re.compile(r"\r\n|\r|\n")
_COMMENT = re.compile(r"(?m)(?:^|(?<=\s))#.*")
_NESTED_LIST = re.compile(r"(?m)^( *)[^ #\n][^\n]*:[^\n]*\n(?: *#[^\n]*\n)*( *)(- +)")


class NoPlaceError(ValueError):
    """The spec is not written in a way that can be changed; the message says why."""


class SpecText:
    """The text of a spec that can be read, and the changes to make in a section: at most one of each entry."""

    def __init__(self, text: str, section: str = "kernels") -> None:
        self._section = section
        self._mark = "\ufeff" if text.startswith("\ufeff") else ""
        self._newline: str = _LINE_END.findall(f"{text}\n")[0]
        self._text = _unfolded(_LINE_END.sub("\n", text.removeprefix("\ufeff")))
        self._lines = self._text.split("\n")
        self._root = compose(f"{self._text}\n")
        self._kernels = _pairs(self._root).get(section)
        self._entries = _pairs(self._kernels[1]) if self._kernels else {}
        self._changes: list[tuple[int, int, Iterable[str]]] = []

    @property
    def text(self) -> str:
        """The text with the changes made."""
        lines = list(self._lines)
        for start, end, new in sorted(self._changes, key=lambda c: c[:2])[::-1]:
            lines[start:end] = new
        return self._mark + self._newline.join(lines)

    # -------------------------------------------------------------- changes

    def add(self, entries: Iterable[Sequence[str]]) -> None:
        """Puts entries, given by their lines, after the last one."""
        lines = [line for entry in entries for line in entry]
        if self._kernels is None:
            column = self._root.start_mark.column if self._root else 0
            place = self._after(self._root, column) if self._root else len(self._lines) - (not self._lines[-1])
            lines = [f"{self._section}:", *_indented(lines, STEP)]
        elif self._entries:
            column = self._kernels[1].start_mark.column
            place = self._after(self._kernels[1], column)
        else:  # `kernels: {}`
            key = self._kernels[0]
            row, column = key.start_mark.line, key.start_mark.column + STEP
            place = self._after(self._kernels[1], column)
            begin, rest = self._lines[row][: key.end_mark.column], self._lines[row][key.end_mark.column :]
            self._changes.append((row, row + 1, [begin + re.sub(r"^(\s*:)\s*(\{\s*\}|null|~)", r"\1", rest)]))
        self._changes.append((place, place, _indented(lines, column)))

    def add_arguments(self, key: str, arguments: Sequence[WrittenArgument]) -> None:
        """Puts parameters after the last one of an entry; raises NoPlaceError."""
        args = self._own(key, "args")
        if isinstance(args, yaml.MappingNode) and not args.flow_style:
            column = args.start_mark.column
            place = self._after(args, column)
            self._changes.append((place, place, argument_lines(arguments, column)))
            return
        if isinstance(args, yaml.ScalarNode) and args.value:
            raise NoPlaceError("its arguments are written as a text")

        def change(entry: CommentedMap) -> None:
            new = _loaded(argument_lines(arguments, 2 * STEP))
            if entry.get("args"):
                entry["args"].update(dict(new))
            else:
                entry.pop("args", None)
                entry.insert(0, "args", _fitting(entry, new))

        self._change(key, change)

    def change_names(self, key: str, name: str, change: Callable[[list[str]], list[str]]) -> None:
        """Adds names to a list of an entry, or takes some out; raises NoPlaceError."""
        if not isinstance(self._own(key, name), yaml.SequenceNode):
            raise NoPlaceError(f"`{name}` is no list")

        def changed(entry: CommentedMap) -> None:
            names: CommentedSeq = entry[name]
            wanted = change(list(names))
            for gone in [given for given in names if given not in wanted]:
                names.remove(gone)
            for index, text in enumerate(wanted):
                if index >= len(names) or names[index] != text:
                    names.insert(index, _loaded([scalar_text(text)]))
            if not names:
                names.fa.set_flow_style()

        self._change(key, changed)

    def renew(self, key: str, lines: Sequence[str]) -> None:
        """Gives an entry the `args` and the `verify.launches` of the one in `lines`; raises NoPlaceError."""
        new = _loaded(lines)[key]

        def change(entry: CommentedMap) -> None:
            entry.pop("args", None)
            if "args" in new:
                entry.insert(0, "args", _fitting(entry, new["args"]))
            entry["verify"]["launches"] = new["verify"]["launches"]

        self._own(key, "verify")
        self._change(key, change)

    # -------------------------------------------------------------- one entry

    def _own(self, key: str, name: str) -> yaml.Node | None:
        """What an entry has under `name`, if changing it changes nothing else; raises NoPlaceError."""
        if key not in self._entries:
            raise NoPlaceError("the entry comes from a merge key")
        pair = self._entries[key]
        inner = _pairs(pair[1]).get(name)
        for named, value in (pair, inner or pair):
            is_alias = value.start_mark.index < named.end_mark.index
            if is_alias or self._text.startswith("&", value.start_mark.index):
                raise NoPlaceError(f"{named.value!r} is shared by an anchor")
        return inner[1] if inner else None

    def _change(self, key: str, change: Callable[[CommentedMap], None]) -> None:
        mark, entry = self._entries[key][0].start_mark, self._entries[key][1]
        start, column, end = mark.line, mark.column, self._after(entry, mark.column + 1)
        if any(first < end and start < last for first, last, _ in self._changes):
            raise NoPlaceError("its entry is that of another kernel, too")
        old = textwrap.dedent("".join(f"{line.rstrip()}\n" for line in self._lines[start:end]))
        ruamel = _ruamel(old)
        try:
            read = ruamel.load(old)
        except YAMLError as error:
            raise NoPlaceError("the entry names an anchor, or shares its lines with another") from error
        if _COMMENT.findall(old) != _COMMENT.findall(_dumped(ruamel, read)):
            raise NoPlaceError("a comment stands inside brackets, and would be lost")
        read[key] = read[key] or CommentedMap()
        change(read[key])
        lines = _spaced(old, _dumped(ruamel, read)).split("\n")[:-1]
        if not _reads_back(lines, read):
            raise NoPlaceError("its entry is laid out in a way that ruamel.yaml cannot write")
        self._changes.append((start, end, _indented(lines, column)))

    def _after(self, node: yaml.Node, column: int) -> int:
        """The line after a value, and after the comments below it that are indented to `column`."""
        block = isinstance(node, yaml.CollectionNode) and not node.flow_style
        end: int = node.end_mark.line + (not block)
        while end > 0 and self._lines[end - 1].strip()[:1] in ("", "#"):
            end -= 1
        for number, line in enumerate(self._lines[end:], end):
            text = line.lstrip(" ")
            if text.startswith("#") and len(line) - len(text) >= column:
                end = number + 1
            elif text.strip():
                break
        return end


def _pairs(node: yaml.Node | None) -> dict[str, tuple[yaml.Node, yaml.Node]]:
    return {key.value: (key, value) for key, value in node.value} if isinstance(node, yaml.MappingNode) else {}


def _spaced(old: str, new: str) -> str:
    """`new` with two spaces before the comments that have as many in `old`, where a longer line left one."""
    apart = frozenset(re.findall(r"  (#.*)", old))
    return re.sub(r"(?<=\S) (#.*)", lambda found: f"  {found[1]}" if found[1] in apart else found[0], new)


def _indented(lines: Iterable[str], column: int) -> list[str]:
    return [f"{' ' * column}{line}" if line else "" for line in lines]


class _Texts(VersionedResolver):
    """Takes each plain scalar for a text, which is then written as it was."""

    versioned_resolver: dict[str, object] = {}  # noqa: RUF012  # the shape of the property that it stands for


def _ruamel(sample: str) -> YAML:
    """A reader and writer that indents as `sample` does."""
    ruamel = YAML()
    ruamel.Resolver = _Texts
    ruamel.preserve_quotes = True
    ruamel.width = 1_000_000
    nested, listed = re.search(r"(?m)^( +)[^ #\n]", sample), _NESTED_LIST.search(sample)
    step = len(nested[1]) if nested else STEP
    offset = len(listed[2]) - len(listed[1]) if listed else step
    ruamel.indent(mapping=step, sequence=offset + (len(listed[3]) if listed else 2), offset=offset)
    return ruamel


def _loaded(lines: Iterable[str]) -> CommentedMap:
    found: CommentedMap = _ruamel("").load("\n".join(lines))
    return found


def _reads_back(lines: Iterable[str], data: CommentedMap) -> bool:
    try:
        return bool(_loaded(lines) == data)
    except YAMLError:
        return False


def _dumped(ruamel: YAML, data: CommentedMap) -> str:
    out = io.StringIO()
    ruamel.dump(data, out)
    return out.getvalue()


def _fitting(entry: CommentedMap, new: CommentedMap) -> CommentedMap:
    """`new` as it can stand in `entry`: without comments where that is in braces."""
    if not entry.fa.flow_style():
        return new
    plain = CommentedMap(dict(new))
    plain.fa.set_flow_style()
    return plain


def _unfolded(text: str) -> str:
    """`text` with its entries below each other, where they stand in braces."""
    root = compose(text)
    holders = (root, _pairs(root).get("kernels", (None, None))[1])
    if not any(isinstance(node, yaml.MappingNode) and node.flow_style and node.value for node in holders):
        return text
    spec = _loaded([text])
    for mapping in (spec, spec.get("kernels")):
        if isinstance(mapping, CommentedMap):
            mapping.fa.set_block_style()
    return _dumped(_ruamel(""), spec)
