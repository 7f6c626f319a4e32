'''A suppression comment suppresses nothing.

## What it does

Reports `# triton-mutlint: ignore[...]` comments whose codes match no finding on the lines that they
cover, and those that cannot be read: an unknown code, codes without brackets, a misspelt word. A
code whose rule is switched off is left alone, and so is a file in which some kernel was not
analysed.

## Why

A suppression that outlived its finding hides the next one on that line.

## Example

```diff
 @triton.jit
 def fill(out_ptr):
-    tl.store(out_ptr + tl.arange(0, 128), 0.0)  # triton-mutlint: ignore[TML202] was a table
+    tl.store(out_ptr + tl.arange(0, 128), 0.0)
```

## How to fix

Remove the comment, or the codes that the message names.
'''

from __future__ import annotations

from collections.abc import Collection, Iterator

from triton_mutlint.contracts.baseline import FindingKind
from triton_mutlint.contracts.comments import Suppression
from triton_mutlint.rules.rule import Rule
from triton_mutlint.spec.model import Declared
from triton_mutlint.spec.nodes import show_path
from triton_mutlint.types import Change, Finding, ListKind, Location, Severity

RULE = Rule("TML905", "unused-suppression", Severity.WARNING, __doc__ or "")  # asked when all others were


def idle_comment(comment: Suppression, needed: Collection[str], active: Collection[str]) -> Iterator[Finding]:
    """What is said of a comment of which the codes `needed` suppress something, while the rules `active` are on."""
    idle = [code for code in comment.codes if code not in needed and code in active and code != RULE.code]
    if not (idle if comment.codes else not needed):
        return
    rest = [code for code in comment.codes if code not in idle]
    yield RULE.finding(
        f"this comment suppresses no finding of {', '.join(idle)}" if idle else "this comment suppresses nothing",
        comment.location, help=f"shorten it to `ignore[{','.join(rest)}]`" if rest else "remove the comment",
        changes=[Change(ListKind.IGNORE, code, False, comment.location) for code in idle or [""]],
    )


def idle_allowed(allowed: Declared) -> Finding:
    """What is said of a code in a spec's `allow` that allows nothing."""
    return RULE.finding(f"{show_path(allowed.path)}: `{allowed.path[1]}` has no finding of {allowed.name}",
                        allowed.location, help=f"remove `{allowed.name}` from `allow`")


def idle_entry(kind: FindingKind, count: int, left: int, place: Location) -> Finding:
    """What is said of the baseline's entry that accepts `count` findings where `left` are left."""
    what = ", ".join(f"`{part}`" for part in (kind.kernel or kind.op, kind.parameter) if part)
    of = f" of {what}" if what else ""
    there = f"{left} {'is' if left == 1 else 'are'} left" if left else "none is left"
    return RULE.finding(f"the baseline accepts {count} {kind.rule}{of} in {kind.file}, but {there}", place,
                        help="`--update-baseline` brings it up to date")
