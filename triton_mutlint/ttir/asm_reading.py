"""What the reading of an inline asm text yields."""

from __future__ import annotations

from dataclasses import dataclass

_EMPTY: frozenset[int] = frozenset()


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

    `parked`: what goes into shared memory. `has_effect`: it does more than compute its results (stores, also to shared
    memory; fences, barriers, traps).
    """

    understood: bool
    reason: str = ""
    accesses: tuple[AsmAccess, ...] = ()
    results: tuple[AsmValue, ...] = ()
    parked: AsmValue = AsmValue()
    has_effect: bool = False
    advice: str = ""  # what would make it understood

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
