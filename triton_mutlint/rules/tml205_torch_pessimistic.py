'''A parameter that torch.compile takes for written, though nothing writes it.

## What it does

Reports each parameter that torch's own pass over a kernel takes for written, and that no analysed variant writes. The
pass takes all tensors for written where it gives up; the finding then says why. Only with `check --compare torch`, for
which torch must be installed.

## Why

Where compiled code launches the kernel directly, torch.compile may copy such a tensor before the launch, keeps its old
value for the backward pass, and fuses nothing across the launch that reads it: time and memory spent for nothing.

## Example

```diff
 @triton.jit
-def stamp(x_ptr, out_ptr):
+def stamp(x_ptr, out_ptr, now):
     i = tl.program_id(0) * 128 + tl.arange(0, 128)
-    now = tl.inline_asm_elementwise("mov.u32 $0, %clock;", "=r", [], tl.int32, is_pure=False, pack=1)
     tl.store(out_ptr + i, tl.load(x_ptr + i) + now)
```

## How to fix

Launch the kernel in a `torch.library.custom_op` that names in `mutates_args` what is written, or leave out what the
pass cannot follow: inline asm that is not marked pure, the result of a helper that takes several pointers, numbers that
are loaded by descriptors and decide where a store goes.
'''

from __future__ import annotations

from collections.abc import Iterator

from triton_mutlint.rules.rule import KernelSubject, Rule
from triton_mutlint.types import Finding, Severity


def check(subject: KernelSubject) -> Iterator[Finding]:
    torch = subject.report.torch
    for name in torch.pessimistic if torch else ():
        why = f": its pass gave up ({torch.gave_up})" if torch and torch.gave_up else ""
        yield RULE.finding(
            f"torch.compile takes `{name}` of `{subject.report.name}` for written, and nothing writes it{why}",
            subject.place_of(name), kernel=subject.report, parameter=name, subject=subject.report.location,
            help="launch it in a `torch.library.custom_op` that names in `mutates_args` what is written",
        )


RULE = Rule("TML205", "torch-pessimistic", Severity.INFO, __doc__ or "", check=check,
            applies=lambda run: any(kernel.report.torch for kernel in run.kernels))
