'''A `triton_op` launches a kernel without `wrap_triton`.

## What it does

Reports launches in the code of a `torch.library.triton_op` whose kernel was not passed through
`torch.library.wrap_triton`.

## Why

`triton_op` promises that torch can see into the op: `torch.export` and `torch.compile` trace its code
with tensors that have no memory. A bare `kernel[grid](...)` then fails with "Cannot access data
pointer", or, where tracing is not needed, hides the kernel from the compiler as if the op were opaque.

## Bad

```python
import torch
from torch.library import triton_op, wrap_triton


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x * tl.sigmoid(x), mask=i < n)


@triton_op("lib::silu", mutates_args=())
def silu(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    silu_kernel[(triton.cdiv(x.numel(), 128),)](x, out, x.numel(), BLOCK=128)
    return out
```

## Good

```python
import torch
from torch.library import triton_op, wrap_triton


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x * tl.sigmoid(x), mask=i < n)


@triton_op("lib::silu", mutates_args=())
def silu(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    wrap_triton(silu_kernel)[(triton.cdiv(x.numel(), 128),)](x, out, x.numel(), BLOCK=128)
    return out
```

## How to fix

Write `wrap_triton(kernel)[grid](...)`, or register with `torch.library.custom_op`, which is opaque to
the compiler and needs no wrapping.
'''

from __future__ import annotations

from collections.abc import Iterator

from triton_mutlint.rules.rule import Rule
from triton_mutlint.rules.subject import RunSubject
from triton_mutlint.types import Finding, Related, Severity


def check_run(run: RunSubject) -> Iterator[Finding]:
    for op in run.ops:
        for kernel, location in op.unwrapped:
            yield RULE.finding(
                f"`{op.name}` is a `triton_op` but launches `{kernel}` without `wrap_triton`", location, op=op,
                related=[Related("the op", op.location)], help=f"write `wrap_triton({kernel})[...](...)`",
            )


RULE = Rule("TML106", "unwrapped-launch", Severity.WARNING, __doc__ or "", check_run=check_run)
