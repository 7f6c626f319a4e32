'''The fake function of a torch op gives other results than the op.

## What it does

Compares the function that `register_fake` (or a `Meta` kernel) gives an op with the op's implementations: the number of
results, and the dtypes of those that both make on the spot (`torch.empty(..., dtype=torch.float16)`). It reports only
what both plainly say. The rule is off by default.

## Why

`torch.compile` and `torch.export` run the fake function in place of the op, to learn what it returns. They plan memory
and generate code for that: what the op then returns is read as something else.

## Example

```diff
 import torch


 @torch.library.custom_op("lib::halved", mutates_args=())
 def halved(x: torch.Tensor) -> torch.Tensor:
     out = torch.empty(x.shape, dtype=torch.float16)
     out.copy_(x)
     return out


 @halved.register_fake
 def _(x):
-    return torch.empty(x.shape, dtype=torch.float32)
+    return torch.empty(x.shape, dtype=torch.float16)
```

## How to fix

Let the fake function return as many tensors as the op, of the same dtypes and shapes.
'''

from __future__ import annotations

from collections.abc import Iterator

from triton_mutlint.rules.rule import Rule
from triton_mutlint.types import Finding, OpReport, Related, Severity


def check(op: OpReport) -> Iterator[Finding]:
    for problem in op.fake_problems:
        yield RULE.finding(f"`{op.name}`: {problem.message}", problem.location, op=op, help=problem.help,
                           related=[Related("the op", op.location)])


RULE = Rule("TML109", "fake-mismatch", Severity.OFF, __doc__ or "", check_op=check)
