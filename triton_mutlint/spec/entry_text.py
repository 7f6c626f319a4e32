"""The text of spec entries: what `init` writes for a kernel, as YAML in blocks or on one line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from triton_mutlint.spec.as_yaml import key_text, scalar_text

STEP = 2  # columns of one level
_WIDEST = 160  # of a comment; what is longer is cut

HEADER = """\
# Kernel signatures and the parameters that each kernel writes, begun by `triton-mutlint init`.
# Edit it freely: a later run adds what is missing and changes nothing that stands here.
# A value in a comment is a guess, made anew from the source by each check. Give the value, or a list of all
# values that occur, to have those analysed and no others.
version: 1
"""


@dataclass(frozen=True)
class WrittenArgument:
    """One parameter's line: its name, the YAML of its value, and what the comment beside it says."""

    name: str
    text: str
    comment: str = ""


@dataclass(frozen=True)
class WrittenEntry:
    """One kernel's entry; `mutates` is None where the source itself declares what is written.

    `guesses` are parameters that stay comments among the arguments.
    `beside` is the comment on the key's line, `comments` those below it. A `disabled` entry is all
    comment: the kernel could not be analysed, and a person has to complete it.
    """

    key: str
    beside: str = ""
    comments: tuple[str, ...] = ()
    arguments: tuple[WrittenArgument, ...] = ()
    mutates: tuple[str, ...] | None = None
    disabled: bool = False
    guesses: tuple[WrittenArgument, ...] = ()


def comment_text(text: str) -> str:
    """`text` as it can stand in a comment: one line, printable, not too long."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= _WIDEST else f"{line[: _WIDEST - 1]}…"


def block_entry(entry: WrittenEntry, column: int) -> list[str]:
    """The lines of an entry whose key stands at `column` (0-based)."""
    margin = " " * column
    beside = f"  # {comment_text(entry.beside)}" if entry.beside else ""
    comments = [f"{' ' * STEP}# {comment_text(comment)}" for comment in entry.comments]
    body = block_arguments(entry.arguments, STEP) if entry.arguments else []
    remarks = [] if body or not entry.guesses else [f"{' ' * STEP}# args:"]
    remarks += [f"{' ' * 2 * STEP}# {line}" for line in argument_lines(entry.guesses, 0)]
    if entry.mutates is not None:
        remarks.append(f"{' ' * STEP}mutates: {_flow_list(entry.mutates)}")
    key = key_text(entry.key)
    # An entry with no key of its own is still an entry.
    end = ":" if body or entry.mutates is not None or entry.disabled else ": {}"
    lines = [f"{key}{end}{beside}", *comments, *body, *remarks]
    return [f"{margin}{'# ' if entry.disabled else ''}{line}" for line in lines]


def block_arguments(arguments: Sequence[WrittenArgument], column: int) -> list[str]:
    """The lines of `args:` at `column`, with its parameters below."""
    return [f"{' ' * column}args:", *argument_lines(arguments, column + STEP)]


def argument_lines(arguments: Sequence[WrittenArgument], column: int) -> list[str]:
    """One line per parameter, each at `column`."""
    margin = " " * column
    return [
        f"{margin}{key_text(a.name)}: {a.text}" + (f"  # {comment_text(a.comment)}" if a.comment else "")
        for a in arguments
    ]


def flow_entry(entry: WrittenEntry) -> str:
    """The entry as `key: {...}`, for a spec that has its kernels in braces; without comments."""
    parts = [f"args: {{{flow_arguments(entry.arguments)}}}"] if entry.arguments else []
    if entry.mutates is not None:
        parts.append(f"mutates: {_flow_list(entry.mutates)}")
    return f"{key_text(entry.key, flow=True)}: {{{', '.join(parts)}}}"


def flow_arguments(arguments: Sequence[WrittenArgument]) -> str:
    """The parameters as they stand inside the braces of `args`."""
    return ", ".join(f"{key_text(a.name, flow=True)}: {a.text}" for a in arguments)


def _flow_list(names: Sequence[str]) -> str:
    return f"[{', '.join(map(scalar_text, names))}]"
