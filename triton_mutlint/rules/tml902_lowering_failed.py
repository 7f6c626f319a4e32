'''A kernel loaded but could not be compiled or analysed.

## What it does

Reports kernels for which no signature could be found, that Triton refused to compile with the
types and values given or guessed, or whose compiled form could not be read. The message is Triton's
own, with the line it complains about.

It is a warning where the arguments are guessed, because the guess may be at fault. It is an error where the spec gives
the kernel's arguments, where a spec or a comment declares what it writes, which cannot be checked then, and where the
kernel ended the process. `--strict` (or `strict = true`) makes all of them errors.

## Why

A kernel that was not analysed must not pass as clean. Often the guess of a parameter's type was
wrong; sometimes the kernel is.

## Example

```diff
 @triton.jit
 def fill(out_ptr):
-    tl.store(out_ptr + tl.arange(0, 100), 0.0)  # not a power of two
+    i = tl.arange(0, 128)
+    tl.store(out_ptr + i, 0.0, mask=i < 100)
```

## How to fix

Give the types in the spec (`triton-mutlint init` writes a first version), or correct the kernel if
the message is right. A config that only compiles for another GPU needs `target` in the spec.
'''

from __future__ import annotations

from collections.abc import Iterator

from triton_mutlint.rules.rule import KernelSubject, Rule
from triton_mutlint.types import Finding, Origin, Related, Severity, Stage

_VERB = {Stage.SIGNATURE: "has no usable signature", Stage.LOWER: "does not compile", Stage.ANALYZE: "was not analysed"}


def check(subject: KernelSubject) -> Iterator[Finding]:
    report, failure = subject.report, subject.report.failure
    if failure is None or failure.stage is Stage.LOAD:
        return
    guessed = report.origin in (Origin.INFERRED, Origin.MIXED) and failure.stage is Stage.LOWER
    advice = "its argument types were guessed: give them in a spec (`triton-mutlint init` writes one)"
    place = failure.location or report.location
    related = (Related("the kernel", report.location),) if place != report.location else ()
    yield RULE.finding(
        f"`{report.name}` {_VERB[failure.stage]}: {failure.message}", place, kernel=report, related=related,
        help=failure.hint or (advice if guessed else ""), severity=subject.failure_severity,
    )


RULE = Rule("TML902", "lowering-failed", Severity.ERROR, __doc__ or "", check=check, has_strict=True)
