"""What the baseline or a spec allows in vain: findings of TML905, as for a comment that suppresses nothing."""

from __future__ import annotations

from triton_mutlint.contracts.allowed import Allowed
from triton_mutlint.contracts.baseline import Kind
from triton_mutlint.rules.tml905_unused_suppression import RULE
from triton_mutlint.types import Finding, Location


def idle_allowed(allowed: Allowed) -> Finding:
    """What is said of a code in a spec's `allow` that allows nothing."""
    return RULE.finding(f"{allowed.key_path}: `{allowed.pattern}` has no finding of {allowed.code}", allowed.location,
                        help=f"remove `{allowed.code}` from `allow`")


def idle_entry(kind: Kind, count: int, left: int, place: Location) -> Finding:
    """What is said of an entry that accepts `count` findings where `left` are left."""
    what = ", ".join(f"`{part}`" for part in (kind.kernel or kind.op, kind.parameter) if part)
    of = f" of {what}" if what else ""
    there = f"{left} {'is' if left == 1 else 'are'} left" if left else "none is left"
    return RULE.finding(f"the baseline accepts {count} {kind.rule}{of} in {kind.file}, but {there}", place,
                        help="`--update-baseline` brings it up to date")
