'''A torch op writes an argument that its `mutates_args` or schema leaves out.

## What it does

Follows the tensor arguments of each torch op through its Python code, views and helpers included,
to in-place torch functions and to Triton kernels, and compares what those write with what the op
declares. For an implementation of one of torch's own ops (`Library("aten", "IMPL")`) that is torch's
schema. It is an error where the written value is the argument's own storage, and a warning where
it is only unless something on the way copied it (`contiguous`, `reshape`, `to`).

A call of jax-triton's `triton_call` is held to its `input_output_aliases`: XLA takes an input that is aliased with
no output to be unchanged.

As a note it reports an `autograd.Function` that writes an input without `ctx.mark_dirty`.

## Why

`torch.compile` believes the declaration. An op that declares nothing is a pure function: it may be
dropped when its result is not used, moved, merged with an equal one, and the buffer that it writes may
be reused or read too early. Nothing fails; the numbers are wrong.

## Example

```diff
 import torch


-@torch.library.custom_op("lib::scale_into", mutates_args=())
+@torch.library.custom_op("lib::scale_into", mutates_args=("out",))
 def scale_into(x: torch.Tensor, out: torch.Tensor) -> None:
     torch.mul(x, 2, out=out)
```

## How to fix

Add the name to `mutates_args` (`--fix` does), or mark it in the schema (`Tensor(a!) out`). Where the
write is not wanted, let the kernel write to a new tensor (`torch.empty_like`). Where a `contiguous()`
or `reshape` may have copied, the result may be lost as well: check that the input is contiguous, or
copy back.
'''

from __future__ import annotations

from collections.abc import Iterator

from triton_mutlint.rules.rule import Rule, declares, related, unfixed
from triton_mutlint.types import Change, Finding, ListKind, OpArgument, OpMutation, OpReport, Severity

_WRITES = (OpMutation.WRITTEN, OpMutation.MAYBE)


def check(op: OpReport) -> Iterator[Finding]:
    declaration = op.declaration
    if declaration.names is not None and not declaration.any_may:
        for argument in op.arguments:
            if argument.name not in declaration.names and argument.mutation in _WRITES:
                yield _undeclared(op, argument)
    for name, location in op.unmarked:
        yield RULE.finding(
            f"an `autograd.Function` that `{op.name}` applies writes its input `{name}` without `ctx.mark_dirty`",
            location, op=op, parameter=name, severity=Severity.INFO,
            help="call `ctx.mark_dirty` in `forward` with each input that is written",
        )


def _undeclared(op: OpReport, argument: OpArgument) -> Finding:
    name, certain = argument.name, argument.mutation is OpMutation.WRITTEN
    first = argument.effects[0].text if argument.effects else ""
    left_out = f"{declares(op)} leaves out" if op.declaration.stated else "nothing declares"
    remedy, doubt = f"declare `{name}`", ""
    if not certain:
        remedy += ", or write to a new tensor: a caller whose tensor was copied would not see the write"
        doubt = ", unless it was copied on the way"
    if op.declaration.of_torch:
        remedy = "write to a new tensor: the schema is that of torch's own op, and callers rely on it"
    change = Change(ListKind.MUTATES_ARGS, name, True, op.declaration.place, tuple(a.name for a in op.arguments))
    return RULE.finding(
        f"`{op.name}` writes `{name}`, which {left_out}{doubt}: {first}", op.location, op=op, parameter=name,
        related=related(op, argument), severity=None if certain else Severity.WARNING, help=remedy,
        changes=[change] if certain and not unfixed(op) else (),
        unfixed=unfixed(op) if certain else "whether the caller's own tensor is written is not certain",
        subject=op.location,
    )


RULE = Rule("TML103", "op-undeclared-mutation", Severity.ERROR, __doc__ or "", check_op=check)
