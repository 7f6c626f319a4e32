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


def entry_lines(entry: WrittenEntry) -> list[str]:
    """The lines of an entry, the key at the first column."""
    lines = [f"# {comment_text(comment)}" for comment in entry.comments]
    if entry.arguments or entry.guesses:
        lines.append("args:" if entry.arguments else "# args:")
        lines += argument_lines(entry.arguments, STEP)
        lines += [f"{' ' * STEP}# {line}" for line in argument_lines(entry.guesses, 0)]
    if entry.mutates is not None:
        lines.append(f"mutates: [{', '.join(map(scalar_text, entry.mutates))}]")
    key = f"{key_text(entry.key)}:" + (f"  # {comment_text(entry.beside)}" if entry.beside else "")
    lines = [key, *(f"{' ' * STEP}{line}" for line in lines)]
    return [f"# {line}" for line in lines] if entry.disabled else lines


def argument_lines(arguments: Sequence[WrittenArgument], column: int) -> list[str]:
    """One line per parameter, each at `column`."""
    margin = " " * column
    return [
        f"{margin}{key_text(a.name)}: {a.text}" + (f"  # {comment_text(a.comment)}" if a.comment else "")
        for a in arguments
    ]
