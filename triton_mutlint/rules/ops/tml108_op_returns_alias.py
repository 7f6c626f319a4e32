'''A torch op returns one of its arguments, or a view of one.

## What it does

Follows what the code of each op returns. It reports an argument that a result is, or is a view of, unless the
op's schema says so (`Tensor(a!) x -> Tensor(a!)`) or its tags do: an op with `tags=torch.Tag.inplace` returns
its first argument, one with `torch.Tag.out` its mutable keyword-only arguments. Such an op is reported where it
never returns what its tag asks for. A result that is an argument only in some cases is a warning: unless it
was copied on the way (`contiguous`, `reshape`, `to`), or where other paths put a new tensor in its place.
What only a later call can return, by way of what an earlier one kept (a recorded launch), is not reported.

## Why

The results of an op are new tensors, as far as its schema says nothing else, and torch relies on that: memory
that nobody uses any more is given away, and what is written to one tensor does not show in another. Some
versions of torch end such a call with an error, others compute wrong numbers under `torch.compile`.

## Example

```diff
 import torch


 @torch.library.custom_op("lib::double_", mutates_args=("x",))
-def double_(x: torch.Tensor) -> torch.Tensor:
+def double_(x: torch.Tensor) -> None:
     x.mul_(2)
-    return x
```

## How to fix

Return nothing: the caller has the tensor. Return a copy (`x.clone()`) where the op must give a result. With a
torch that has it, `tags=torch.Tag.inplace` or `torch.Tag.out` declares an op that returns what it writes. '''

from __future__ import annotations

from collections.abc import Iterator

from triton_mutlint.rules.rule import Rule
from triton_mutlint.types import Finding, OpArgument, OpReport, Severity


def check(op: OpReport) -> Iterator[Finding]:
    declaration = op.declaration
    if declaration.may_return is None:
        return
    for argument in op.arguments:
        if (argument.returned or argument.maybe_returned) and argument.name not in declaration.may_return:
            yield _returned(op, argument)
    given = {argument.name for argument in op.arguments if argument.returned or argument.maybe_returned}
    for name in declaration.must_return if op.complete else ():
        if name not in given:
            yield RULE.finding(
                f"`{op.name}` does not return `{name}`, as its tag says", op.location, op=op, parameter=name,
                help=f"return `{name}` itself, or take the tag away")


def _returned(op: OpReport, argument: OpArgument) -> Finding:
    returns = "returns" if argument.returned else "may return, in some cases,"
    return RULE.finding(
        f"`{op.name}` {returns} its argument `{argument.name}`, or a view of it: results must be new tensors",
        op.location, op=op, parameter=argument.name, severity=None if argument.returned else Severity.WARNING,
        help="return nothing, or a copy (`clone`)")


RULE = Rule("TML108", "op-returns-alias", Severity.ERROR, __doc__ or "", check_op=check)
