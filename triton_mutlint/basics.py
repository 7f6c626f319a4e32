"""What settings and messages need of the types, apart so that a run answered from the cache loads no more."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import Any

_CODE = re.compile(r"TML\d{3}")
NEVER = "never"
MARK = "triton-mutlint:"  # begins what a comment says to this tool
DEVICE_NODES = ("/dev/nvidiactl", "/dev/nvidia0", "/dev/kfd", "/dev/dxg")  # without any of them there is no GPU
FAIL_LEVELS = ("error", "warning", "info", NEVER)  # what `--fail-on` knows


class Severity(str, Enum):
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    OFF = "off"


class MutlintError(Exception):
    """Base of the errors that the command line turns into a message and an exit code."""


class UsageError(MutlintError):
    """A wrong option, path or configuration (exit code 2)."""


def byte_column(text: str, at: int) -> int:
    """The 1-based column in bytes of UTF-8, as `Location` counts, of character `at` (0-based) of a line."""
    return len(text[:at].encode("utf-8", "surrogatepass")) + 1


def character_at(text: str, column: int) -> int:
    """The other way: the 0-based index of the character at a column in bytes of UTF-8."""
    return len(text.encode("utf-8", "surrogatepass")[: column - 1].decode("utf-8", "ignore"))


def unified(old: str, new: str, before: str, after: str) -> str:
    """The difference between two texts, named `before` and `after`, as a unified diff that `patch -p0` takes."""
    from difflib import unified_diff

    # A lone carriage return stays inside its line, as for `diff`.
    a, b = (re.findall(r"[^\n]*\n|[^\n]+", text) for text in (old, new))
    lines = unified_diff(a, b, before, after)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def plural(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def flat(text: str) -> str:
    """`text` on one line, and `visible`."""
    return visible(" ".join(text.split()))


def inert(text: str) -> str:
    """`text` as nothing that reads a job's log takes for a command to it (`::error`, `##[error]`), line by line."""
    if "::" not in text and "##[" not in text:
        return text
    return re.sub(r"^(\s*):(?=:)", r"\1: ", text.replace("##[", "## ["), flags=re.MULTILINE)


def visible(text: str) -> str:
    """`text` with what a terminal would obey, or show in another order, written as an escape; lines stay lines."""
    return text if text.isprintable() else "".join(
        char if char.isprintable() or char == "\n" else escaped(char) for char in text)


def escaped(char: str) -> str:
    """A character as Python's source would write it: `\\n`, `\\x9b`, `\\u202e`."""
    return char.encode("unicode_escape", "surrogatepass").decode()


def one_line(text: str, limit: int = 240) -> str:
    """`text`, `flat`; of one that is too long the first sentence, or as much as fits."""
    line = flat(text)
    if len(line) <= limit:
        return line
    end = line.find(". ", 0, limit) + 1
    return f"{line[:end]} ..." if end else f"{line[: limit - 3]}..."


def error_text(error: BaseException) -> str:
    """The kind of an exception and what it says: one of linted code may raise another where it is asked."""
    try:
        return f"{type(error).__name__}: {error}"
    except BaseException:
        return f"{type(error).__name__}, which does not say why"


def nearest(name: str, candidates: Iterable[str], alike: float = 0.6) -> str | None:
    """The candidate most like `name`, or None when none is so much `alike`; ties go to the first by name."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, sorted(set(candidates)), 1, alike)), None)


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """`; did you mean 'x'?` for the candidate nearest to `name`, else nothing."""
    found = nearest(name, candidates, 0.5)
    return f"; did you mean {found!r}?" if found else ""


def nearest_rule(text: str, rules: Mapping[str, str]) -> str | None:
    """The code or name of a rule that `text` may be meant for; `rules` gives the name of each by its code.

    A number of a rule is no misspelling of another one.
    """
    if _CODE.fullmatch(text.upper()):
        return text.upper() if text.upper() in rules else None
    return nearest(text.upper(), rules, 0.8) or nearest(text.lower(), rules.values())


class EmptyMapping(Mapping[str, Any]):
    """An empty mapping that can be a dataclass default: immutable and hashable."""

    def __getitem__(self, key: str) -> Any:
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "{}"


EMPTY: Mapping[str, Any] = EmptyMapping()
