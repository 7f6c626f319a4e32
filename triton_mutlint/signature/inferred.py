"""What inference says of one parameter."""

from __future__ import annotations

from dataclasses import dataclass

from triton_mutlint.types import ArgType


@dataclass(frozen=True)
class Inferred:
    """The guesses for one parameter that no spec gives, and the evidence for them.

    Every one of `alternatives` becomes a variant (`False` and `True`; a pointer and `None`); the
    first is the main guess. `reason` is one phrase for a person: "loaded from at line 12". `is_partial` says
    that the source takes a value that is not among them (None, say), because the writes are the same with it today.
    """

    alternatives: tuple[ArgType, ...]
    reason: str
    is_partial: bool = False

    @property
    def main(self) -> ArgType:
        return self.alternatives[0]
