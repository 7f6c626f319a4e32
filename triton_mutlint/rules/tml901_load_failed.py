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

## Bad

```python
@triton.jit
def copy(x_ptr, out_ptr):
    i = tl.arange(0, 128)
    tl.store(out_ptr + i, tl.load(x_ptr + i) + OFFSET)  # OFFSET is not defined in this file
```

## Good

```python
OFFSET = tl.constexpr(1)

@triton.jit
def copy(x_ptr, out_ptr):
    i = tl.arange(0, 128)
    tl.store(out_ptr + i, tl.load(x_ptr + i) + OFFSET)
```

## How to fix

The message names what was missing. Give its value under `globals` in the spec, for example
`globals: {settings.LANES: 32}`, install the module, or leave the file out with `exclude`.
'''

from __future__ import annotations

from collections.abc import Iterator

from triton_mutlint.rules.rule import Rule, RunSubject
from triton_mutlint.types import Failure, Finding, KernelReport, Location, Severity, Stage


def check_run(run: RunSubject) -> Iterator[Finding]:
    for name, failure in run.failures:
        yield _failed(failure, failure.location or Location(name or "<input>", 1), None)
    for subject in run.kernels:
        failure_ = subject.report.failure
        if failure_ is not None and failure_.stage is Stage.LOAD:
            yield _failed(failure_, failure_.location or subject.report.location, subject.report,
                          subject.failure_severity)


def _failed(failure: Failure, location: Location, kernel: KernelReport | None,
            severity: Severity | None = None) -> Finding:
    what = f"`{kernel.name}` could not be loaded: " if kernel else ""
    return RULE.finding(f"{what}{failure.message}", location, kernel=kernel, help=failure.hint, severity=severity)


RULE = Rule("TML901", "load-failed", Severity.ERROR, __doc__ or "", check_run=check_run, has_strict=True)
