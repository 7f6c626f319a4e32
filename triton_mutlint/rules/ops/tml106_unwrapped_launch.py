'''A `triton_op` launches a kernel without `wrap_triton`.

## What it does

Reports launches in the code of a `torch.library.triton_op` whose kernel was not passed through
`torch.library.wrap_triton`.

## Why

`triton_op` promises that torch can see into the op: `torch.export` and `torch.compile` trace its code
with tensors that have no memory. A bare `kernel[grid](...)` then fails with "Cannot access data
pointer", or, where tracing is not needed, hides the kernel from the compiler as if the op were opaque.

## Example

```diff
 import torch
 from torch.library import triton_op, wrap_triton


 @triton.jit
 def double_kernel(x_ptr, out_ptr):
     i = tl.program_id(0) * 128 + tl.arange(0, 128)
     tl.store(out_ptr + i, tl.load(x_ptr + i) * 2)


 @triton_op("lib::double", mutates_args=())
 def double(x: torch.Tensor) -> torch.Tensor:
     out = torch.empty_like(x)
-    double_kernel[(x.numel() // 128,)](x, out)
+    wrap_triton(double_kernel)[(x.numel() // 128,)](x, out)
     return out
```

## How to fix

Write `wrap_triton(kernel)[grid](...)`, or register with `torch.library.custom_op`, which is opaque to
the compiler and needs no wrapping.
'''

from __future__ import annotations

from collections.abc import Iterator

from triton_mutlint.rules.rule import Rule
from triton_mutlint.types import Finding, OpReport, Related, Severity


def check(op: OpReport) -> Iterator[Finding]:
    for kernel, location in op.unwrapped:
        yield RULE.finding(
            f"`{op.name}` is a `triton_op` but launches `{kernel}` without `wrap_triton`", location, op=op,
            related=[Related("the op", op.location)], help=f"write `wrap_triton({kernel})[...](...)`",
        )


RULE = Rule("TML106", "unwrapped-launch", Severity.WARNING, __doc__ or "", check_op=check)
