'''A file or kernel could not be loaded.

## What it does

Reports files that cannot be read or parsed, and kernels whose definition needs something that
could not be provided: a value from a module that is not installed, a device, an input. Nothing is
known about such a kernel.

A file that cannot be read or parsed is an error, and so is a kernel that was named (`path.py::kernel`) and that its
file does not define. Any other kernel is a warning, because what stands in for a missing module may be at fault, unless
the spec gives its arguments or it is declared what it writes. `--strict` (or `strict = true`) makes all of them errors.

## Why

A kernel that was not analysed must not pass as clean.

## Example

```diff
+OFFSET = tl.constexpr(1)
+
 @triton.jit
 def copy(x_ptr, out_ptr):
     i = tl.arange(0, 128)
-    tl.store(out_ptr + i, tl.load(x_ptr + i) + OFFSET)  # OFFSET is not defined in this file
+    tl.store(out_ptr + i, tl.load(x_ptr + i) + OFFSET)
```

## How to fix

The message names what was missing. Give its value under `globals` in the spec, for example
`globals: {settings.LANES: 32}`, install the module, or leave the file out with `exclude`.
'''

from __future__ import annotations

from collections.abc import Iterator

from triton_mutlint.rules.rule import KernelSubject, Rule, RunSubject
from triton_mutlint.types import Finding, Location, Severity, Stage


def check(subject: KernelSubject) -> Iterator[Finding]:
    kernel, failed = subject.report, subject.report.failure
    if failed is not None and failed.stage is Stage.LOAD:
        yield RULE.finding(f"`{kernel.name}` could not be loaded: {failed.message}", failed.location or kernel.location,
                           kernel=kernel, help=failed.hint, severity=subject.failure_severity)


def check_run(run: RunSubject) -> Iterator[Finding]:
    for name, failure in run.failures:
        yield RULE.finding(failure.message, failure.location or Location(name or "<input>", 1), help=failure.hint)


RULE = Rule("TML901", "load-failed", Severity.ERROR, __doc__ or "", check=check, check_run=check_run, has_strict=True)
