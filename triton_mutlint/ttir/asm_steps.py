"""What one machine instruction does, as far as addresses are concerned, and what the reading of a text yields."""

from __future__ import annotations

import re
from dataclasses import dataclass

OPERAND_MARK = "§"  # `§3` stands for `$3` once the references are resolved
HOLE = "¤"  # stands for a part of the text that is not known
TOKEN = re.compile(r"§\d+|[%A-Za-z_][\w$%]*(?:\.\w+)*")
SHARED = "<shared>"  # all shared and private memory, as one register
_EMPTY: frozenset[int] = frozenset()


class NotUnderstoodError(Exception):
    """The text holds something whose effect is not known; the message says what."""


@dataclass(frozen=True)
class AsmStep:
    """Values move from `sources` to `targets` (register names); addresses are in `reads`, `writes` and `atomics`.

    `stored`: what goes to where `writes` and `atomics` say. `loads`: the targets also get something from memory.
    `narrow`: what it loads is less than an address. `shares`: it changes shared memory.
    """

    text: str
    targets: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    reads: tuple[str, ...] | None = None
    writes: tuple[str, ...] | None = None
    atomics: tuple[str, ...] | None = None
    stored: tuple[str, ...] = ()
    loads: bool = False
    narrow: bool = False
    shares: bool = False


@dataclass(frozen=True)
class AsmValue:
    """Where a value may come from: operands, memory that operands address, or shared memory as the text found it.

    `words`: as `loaded`, but in pieces that are too narrow for an address.
    """

    operands: frozenset[int] = _EMPTY
    loaded: frozenset[int] = _EMPTY
    words: frozenset[int] = _EMPTY
    shared: bool = False


@dataclass(frozen=True)
class AsmAccess:
    """One instruction's access (`kind`: reads, writes or atomics) to where some operands say, taken together."""

    kind: str
    operands: frozenset[int]
    stored: AsmValue


@dataclass(frozen=True)
class AsmReading:
    """How an inline asm text was read; indices count the op's operands from 0.

    `parked`: what goes into shared memory. `shares`: that is changed. `advice`: what would make it understood.
    """

    understood: bool
    reason: str = ""
    accesses: tuple[AsmAccess, ...] = ()
    results: tuple[AsmValue, ...] = ()
    parked: AsmValue = AsmValue()
    shares: bool = False
    advice: str = ""

    @property
    def reads(self) -> frozenset[int]:
        return self._through("reads")

    @property
    def writes(self) -> frozenset[int]:
        return self._through("writes")

    @property
    def atomics(self) -> frozenset[int]:
        return self._through("atomics")

    def _through(self, kind: str) -> frozenset[int]:
        return _EMPTY.union(*(access.operands for access in self.accesses if access.kind == kind))

    @property
    def result_flows(self) -> frozenset[int]:
        """Operands whose value may be (part of) a result, what is in memory aside."""
        return _EMPTY.union(*(value.operands for value in self.results))


def tokens(*texts: str) -> tuple[str, ...]:
    """The register names in these operand texts."""
    return tuple(token for text in texts for token in TOKEN.findall(text))


def strip_comments(text: str) -> str:
    """Without `/* */` and `//` comments; raises NotUnderstoodError for one that does not end."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
    if "/*" in text:
        raise NotUnderstoodError("a comment that does not end")
    return re.sub(r"//[^\n]*", " ", text)
