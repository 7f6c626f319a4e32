"""What the lists of `@triton.autotune` achieve, given how its hooks replace Triton's own."""

from __future__ import annotations

from dataclasses import dataclass

from triton_mutlint.rules.rerun import Rerun
from triton_mutlint.types import Autotune


@dataclass(frozen=True)
class Protection:
    """What the decorator's lists achieve, given how its hooks replace Triton's own.

    `undecided` are those of the lists that count, and may name more than is known.
    """

    reset: frozenset[str]
    restored: frozenset[str]
    undecided: frozenset[str]

    @classmethod
    def of(cls, autotune: Autotune) -> Protection:
        if autotune.has_pre_hook:  # replaces the hook that zeroes and copies
            return cls(frozenset(), frozenset(), frozenset())
        reset = frozenset(autotune.reset_to_zero)
        if autotune.has_post_hook:  # replaces the hook that puts the copies back
            return cls(reset, frozenset(), autotune.undecided - {"restore_value"})
        # A name in both lists is zeroed first, and the zeros are what is kept and put back.
        return cls(reset, frozenset(autotune.restore_value) - reset, autotune.undecided)

    def perhaps(self, name: str, rerun: Rerun) -> str:
        """The list that may name it after all and would suffice; empty if none can."""
        if "restore_value" in self.undecided and name not in self.reset:
            return "restore_value"
        return "reset_to_zero" if "reset_to_zero" in self.undecided and rerun is not Rerun.IN_PLACE else ""

    def suffices(self, name: str, rerun: Rerun) -> bool:
        return name in self.restored or (name in self.reset and rerun is not Rerun.IN_PLACE)
