"""What one machine instruction does, as far as addresses are concerned."""

from __future__ import annotations

import re
from dataclasses import dataclass

OPERAND_MARK = "§"  # `§3` stands for `$3` once the references are resolved
TOKEN = re.compile(r"§\d+|[%A-Za-z_][\w$%]*(?:\.\w+)*")
SHARED = "<shared>"  # all shared and private memory, as one register


class NotUnderstoodError(Exception):
    """The text holds something whose effect is not known; the message says what."""


@dataclass(frozen=True)
class AsmStep:
    """Values move from `sources` to `targets` (register names); addresses are in `reads`, `writes` and `atomics`.

    `stored`: what goes to where `writes` and `atomics` say. `loads`: the targets also get something from memory.
    `effect`: more than its targets changes. `narrow`: what it loads is less than an address.
    """

    text: str
    targets: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    atomics: tuple[str, ...] = ()
    stored: tuple[str, ...] = ()
    loads: bool = False
    effect: bool = False
    narrow: bool = False
    has_reads: bool = False
    has_writes: bool = False
    has_atomics: bool = False


def tokens(*texts: str) -> tuple[str, ...]:
    """The register names in these operand texts."""
    return tuple(token for text in texts for token in TOKEN.findall(text))


def strip_comments(text: str) -> str:
    """Without `/* */` and `//` comments; raises NotUnderstoodError for one that does not end."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
    if "/*" in text:
        raise NotUnderstoodError("a comment that does not end")
    return re.sub(r"//[^\n]*", " ", text)


def split_operands(text: str) -> list[str]:
    """Operands at the commas outside `{}`, `[]` and `()`."""
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        if char in "{[(":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]
