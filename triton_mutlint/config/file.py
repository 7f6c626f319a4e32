"""Reading `[tool.triton-mutlint]` of pyproject.toml, or triton-mutlint.toml.

The nearest such file upward from the working directory is used, alone: files do not add up.
A key that is not known is refused by name.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from triton_mutlint.basics import FAIL_LEVELS, Severity, UsageError, did_you_mean
from triton_mutlint.config.registrar import Registrar, read_registrars
from triton_mutlint.config.request import Config, read_selector
from triton_mutlint.process.inputs import read

KnownRules = Callable[[], Mapping[str, str]]  # the name of each rule by its code

OWN_FILE = "triton-mutlint.toml"
PYPROJECT = "pyproject.toml"
TABLE = "triton-mutlint"
_MENTION = re.compile(rb"triton[-_]?mutlint", re.IGNORECASE)


def find(start: Path) -> Path | None:
    """The nearest configuration file at or above the folder `start`, or None."""
    for folder in (start, *start.parents):
        own = folder / OWN_FILE
        if own.is_file():
            return own
        shared = folder / PYPROJECT
        if shared.is_file() and _has_table(shared):
            return shared
    return None


def _has_table(path: Path) -> bool:
    try:
        data = read(path, named=True)
    except OSError:
        return False  # not ours to complain about: it may belong to another project
    if not _MENTION.search(data):
        return False
    return any(_means_ours(key) for key in _tool_tables(_parse(path)))


def _means_ours(key: str) -> bool:
    """Whether a table of this name is meant for this tool, however it is spelt."""
    return _MENTION.fullmatch(key.encode()) is not None


def _table(parsed: Mapping[str, Any], text: str, shown: str) -> Any:
    """The tool's table of pyproject.toml. Raises UsageError for one under another spelling, which would go unread."""
    tables = _tool_tables(parsed)
    for key in tables:
        if key != TABLE and _means_ours(key):
            at = re.search(rf"\btool\s*[.\]]?.*?{re.escape(key)}", text, re.DOTALL)
            line = text.count("\n", 0, at.end()) + 1 if at else 1
            raise UsageError(f"{shown}:{line}: the table must be called [tool.{TABLE}], not [tool.{key}]")
    return tables.get(TABLE, {})


def load(start: Path, path: Path | None = None, known_rules: KnownRules = dict) -> Config:
    """The configuration in `path`, else in the nearest file upward from `start`, else the defaults.

    `known_rules` gives the rules, of which selectors must cover at least one (none: any code
    will do); it is asked only if the file has selectors.
    Raises UsageError with file and line for whatever is wrong in the file.
    """
    found = path or find(start)
    if found is None:
        return Config()
    parsed, text = _parse(found), _text(found)
    shown = found.relative_to(start).as_posix() if found.is_relative_to(start) else str(found)
    table = _table(parsed, text, shown) if found.name == PYPROJECT else parsed
    if table is parsed and TABLE in _tool_tables(parsed):
        raise UsageError(f"{shown}: leave out the heading [tool.{TABLE}], which only {PYPROJECT} needs")
    if not isinstance(table, dict):
        raise UsageError(f"{shown}: tool.{TABLE} must be a table, not {_kind(table)}")
    return _Reader(table, text, shown, found, known_rules).config()


def _text(path: Path) -> str:
    try:
        return read(path, named=True).decode("utf-8").replace("\r\n", "\n")
    except OSError as error:
        raise UsageError(f"{path}: cannot read the configuration: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: the configuration is not UTF-8") from error


def _parse(path: Path) -> dict[str, Any]:
    # Python 3.10 has the same parser under its older name; it takes long to load, and most projects need none.
    toml = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        parsed: dict[str, Any] = toml.loads(_text(path))
    except toml.TOMLDecodeError as error:
        raise UsageError(f"{path}: not valid TOML: {error}") from error
    except RecursionError:
        raise UsageError(f"{path}: it is nested too deeply") from None
    return parsed


def _tool_tables(parsed: Mapping[str, Any]) -> Mapping[str, Any]:
    tool = parsed.get("tool", {})
    return tool if isinstance(tool, dict) else {}


# --------------------------------------------------------------------------- reading the table


class _Reader:
    """Reads one table, key by key; every complaint carries file and line."""

    def __init__(self, table: Mapping[str, Any], text: str, shown: str, path: Path, known: KnownRules) -> None:
        self.table, self.text, self.shown, self.path, self.known = table, text, shown, path, known

    def config(self) -> Config:
        readers: dict[Callable[[str, Any], object], tuple[str, ...]] = {
            self._selectors: ("select", "ignore", "extend-select"),
            self._strings: ("exclude", "stub-modules"),
            self._flag: ("force-exclude", "opaque-asm", "require-spec", "strict", "helpers"),
            self._path: ("spec", "cache-dir", "snapshot", "baseline"),
            self._count: ("max-variants", "jobs"),
            self._targets: ("targets",),
            self._level: ("fail-on",),
            self._severities: ("severity",),
            self._file_ignores: ("per-file-ignores",),
            self._registrars: ("registrars",),
        }
        known = {key: read for read, keys in readers.items() for key in keys}
        given: dict[str, Any] = {}
        for key, value in self.table.items():
            if key not in known:
                raise self._error(key, f"unknown key {key!r}{did_you_mean(key, known)}")
            given[key] = known[key](key, value)
        origins = {key: f"{self.shown}:{self._line(key)}" for key in given}
        return Config(**{key.replace("-", "_"): value for key, value in given.items()},
                      root=self.path.parent, source=self.path, origins=origins)

    def _error(self, key: str, message: str) -> UsageError:
        return UsageError(f"{self.shown}:{self._line(key)}: {message}")

    def _line(self, key: str) -> int:
        """The line that sets `key`, else that of the table, else 1 (TOML parsers keep no lines)."""
        quoted = rf"[\"']?{re.escape(key)}[\"']?"
        start, end = self._table_span()
        body = self.text[start:end]
        assigned = rf"^[ \t]*{quoted}[ \t]*[=.]"
        headed = rf"^[ \t]*\[(?:.*\.)?{quoted}(?:\.[^\]]*)?\]"
        inline = rf"\b{quoted}\s*="
        for pattern in (assigned, headed, inline):
            match = re.search(pattern, body, re.MULTILINE)
            if match:
                offset = start + match.end() - 1
                return self.text.count("\n", 0, offset) + 1
        return self.text.count("\n", 0, start) + 1

    def _table_span(self) -> tuple[int, int]:
        if self.path.name != PYPROJECT:
            return 0, len(self.text)
        header = re.search(rf"^[ \t]*\[tool\.[\"']?{TABLE}[\"']?[\].]", self.text, re.MULTILINE)
        if header is None:
            return 0, len(self.text)
        after = re.compile(rf"^[ \t]*\[(?!tool\.[\"']?{TABLE})", re.MULTILINE).search(self.text, header.end())
        return header.start(), after.start() if after else len(self.text)

    # ---- values

    def _string(self, key: str, value: Any) -> str:
        if not isinstance(value, str) or not value:
            raise self._error(key, f"{key} must be a string, not {_kind(value)}")
        if "\0" in value:
            raise self._error(key, f"{key} must not hold a null character")
        return value

    def _path(self, key: str, value: Any) -> Path:
        return self.path.parent / self._string(key, value)

    def _strings(self, key: str, value: Any) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self._error(key, f"{key} must be a list of strings, not {_kind(value)}")
        return tuple(value)

    def _targets(self, key: str, value: Any) -> tuple[str, ...]:
        from triton_mutlint.types import parse_target  # here: --help does without

        for name in self._strings(key, value):
            try:
                parse_target(name)
            except UsageError as error:
                raise self._error(key, f"{key}: {error}") from error
        return tuple(value)

    def _flag(self, key: str, value: Any) -> bool:
        if not isinstance(value, bool):
            raise self._error(key, f"{key} must be true or false, not {_kind(value)}")
        return value

    def _count(self, key: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise self._error(key, f"{key} must be a whole number of at least 1, not {_kind(value)}")
        return value

    def _level(self, key: str, value: Any) -> str:
        if value not in FAIL_LEVELS:
            choices = ", ".join(FAIL_LEVELS)
            raise self._error(key, f"{key} must be one of {choices}, not {_kind(value)}")
        return str(value)

    def _selectors(self, key: str, value: Any) -> tuple[str, ...]:
        return tuple(self._selector(key, text) for text in self._strings(key, value))

    def _selector(self, key: str, text: str, whole: bool = False) -> str:
        try:
            return read_selector(text, self.known(), whole)
        except ValueError as error:
            raise self._error(key, f"{key}: {error}") from error

    def _file_ignores(self, key: str, value: Any) -> Mapping[str, tuple[str, ...]]:
        if not isinstance(value, dict):
            raise self._error(key, f"{key} must be a table of pattern = [codes], not {_kind(value)}")
        return {pattern: self._selectors(key, codes) for pattern, codes in value.items()}

    def _severities(self, key: str, value: Any) -> Mapping[str, Severity]:
        if not isinstance(value, dict):
            raise self._error(key, f"{key} must be a table of code = level, not {_kind(value)}")
        levels = [s.value for s in Severity]
        read = {}
        for rule, level in value.items():
            code = self._selector(key, rule, whole=True)
            if level not in levels:
                choices = ", ".join(levels)
                raise self._error(key, f"{key}: {rule} must be one of {choices}, not {_kind(level)}")
            read[code] = Severity(level)
        return read

    def _registrars(self, key: str, value: Any) -> Mapping[str, Registrar]:
        def refuse(message: str, owner: str, inner: str) -> UsageError:
            return self._error(inner if inner and self.text.count(inner) == 1 else owner, f"{key}: {message}")

        return read_registrars(value, refuse)


def _kind(value: object) -> str:
    """How a wrong value is named in a message: itself if it is plain, else what it is."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (str, int, float)):
        return repr(value)
    return {"list": "a list", "dict": "a table"}.get(type(value).__name__, type(value).__name__)
