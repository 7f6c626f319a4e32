'''A torch op declares that it writes an argument which nothing writes.

## What it does

Reports a name in `mutates_args`, or a `Tensor(a!)` in a schema, that no path through the op's code
writes. It is reported only where the whole code was understood: every function that a tensor reaches,
and every kernel that it launches. As a note it reports `mutates_args="unknown"` of an op whose code was
understood, with what it should say.

## Why

`torch.compile` orders and functionalises the op as if it wrote: it clones the argument, keeps it alive,
and refuses what cannot be written, such as an input that needs a gradient. Over-declared arguments
have crashed functionalisation.

## Example

```diff
 import torch


-@torch.library.custom_op("lib::scaled", mutates_args=("x",))
+@torch.library.custom_op("lib::scaled", mutates_args=())
 def scaled(x: torch.Tensor) -> torch.Tensor:
     return x * 2
```

## How to fix

Remove the name from the declaration. `--fix` does for `mutates_args`.
'''

from __future__ import annotations

from collections.abc import Iterator

from triton_mutlint.rules.rule import Rule, declares, unfixed
from triton_mutlint.types import Change, Finding, ListKind, Location, OpMutation, OpReport, Severity


def check(op: OpReport) -> Iterator[Finding]:
    if op.complete and op.declaration.any_may and not op.declaration.problems:
        yield _everything(op)
    elif op.complete and op.declaration.names is not None and not op.declaration.problems:
        untouched = {a.name for a in op.arguments if a.mutation is OpMutation.UNWRITTEN}
        for name in dict.fromkeys(op.declaration.names):
            if name in untouched:
                yield _stale(op, name, op.declaration.place)


def _everything(op: OpReport) -> Finding:
    """That an op need not say that it may write anything."""
    written = (*op.mutated, *op.maybe)
    listed = ", ".join(f'"{name}"' for name in written)
    return RULE.finding(
        f"`mutates_args` of `{op.name}` is \"unknown\", but its code is understood: it writes "
        f"{', '.join(f'`{name}`' for name in written) or 'nothing'}",
        op.declaration.place, op=op, severity=Severity.INFO,
        help=f"write `mutates_args=({listed}{',' if len(written) == 1 else ''})`", subject=op.declaration.place,
        unfixed="a list that says less is a person's decision")


def _stale(op: OpReport, name: str, place: Location) -> Finding:
    why = unfixed(op)
    remedy = f"remove `{name}` from the declaration"
    return RULE.finding(
        f"{declares(op)} says that `{op.name}` writes `{name}`, but nothing in its code does", place, op=op,
        parameter=name, subject=place, unfixed=why,
        help=f"write `{name}`, as callers of torch's own op expect" if op.declaration.of_torch else remedy,
        changes=() if why else [Change(ListKind.MUTATES_ARGS, name, False, place, tuple(a.name for a in op.arguments))],
    )


RULE = Rule("TML104", "op-stale-mutation", Severity.WARNING, __doc__ or "", check_op=check)
