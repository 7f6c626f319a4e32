'''A write that torch.compile would not see.

## What it does

Reports each parameter that a kernel writes and that torch's own pass over the same kernel, with the same arguments,
takes for untouched. Only with `check --compare torch`, which needs torch.

## Why

Where compiled code launches the kernel directly, torch.compile believes its pass. It takes the tensor to hold what it
held before the launch, and drops, reorders or fuses what depends on it: the numbers are wrong, and nothing says so.

## Example

```diff
 @triton.jit
 def fill_both(ping_ptr, pong_ptr, n):
-    target, other = ping_ptr, pong_ptr
     for i in range(n):
-        tl.store(target + i, 1.0)
-        target, other = other, target
+        if i % 2 == 0:
+            tl.store(ping_ptr + i, 1.0)
+        else:
+            tl.store(pong_ptr + i, 1.0)
```

## How to fix

Launch the kernel in a `torch.library.custom_op` that names the parameter in `mutates_args`: torch.compile believes
that, and TML103 holds it against the kernel. Or rewrite what hides the write: a pointer that a loop carries, an atomic
through a descriptor, a tuple of pointers, a `return` before the store.
'''

from __future__ import annotations

from collections.abc import Iterator

from triton_mutlint.rules.rule import WRITING, KernelSubject, Rule, condition, places
from triton_mutlint.types import Finding, Severity


def check(subject: KernelSubject) -> Iterator[Finding]:
    torch = subject.report.torch
    for name in torch.missed if torch else ():
        parameter = subject.parameter(name)
        when = condition(parameter) if parameter else ""
        yield RULE.finding(
            f"`{subject.report.name}` writes `{name}`{when}, which torch.compile takes for untouched",
            subject.place_of(name), kernel=subject.report, parameter=name,
            related=places(parameter, WRITING) if parameter else (), subject=subject.report.location,
            help=f"launch it in a `torch.library.custom_op` that names the tensor given as `{name}` in `mutates_args`",
        )


RULE = Rule("TML204", "torch-blind-spot", Severity.WARNING, __doc__ or "", check=check,
            applies=lambda run: any(kernel.report.torch for kernel in run.kernels))
