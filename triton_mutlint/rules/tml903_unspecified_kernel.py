'''A kernel has no entry in the spec, under `--require-spec`.

## What it does

With `--require-spec` (or `require-spec = true`), reports every kernel that no spec entry names.
Without that option the rule is off.

## Why

A library that gates its kernels wants a new one to come with its types and its `mutates`, so that
neither is guessed.

## Example

```python
# no entry for `fill` in triton-mutlint.yaml
@triton.jit
def fill(out_ptr):
    tl.store(out_ptr + tl.arange(0, 128), 0.0)
```

In the spec:

```diff
+kernels:
+  fill:
+    args: {out_ptr: "*fp32:16"}
+    mutates: [out_ptr]
```

## How to fix

Add the entry to the spec; `triton-mutlint init` writes it.
'''

from __future__ import annotations

from collections.abc import Iterator

from triton_mutlint.rules.rule import KernelSubject, Rule
from triton_mutlint.types import Finding, Severity


def check(subject: KernelSubject) -> Iterator[Finding]:
    if subject.kernel is not None and not subject.has_spec_entry:  # one that did not load may have one
        name = subject.report.name
        yield RULE.finding(
            f"no spec entry names the kernel `{name}`", subject.report.location, kernel=subject.report,
            help=f"add `{name}` under `kernels` in triton-mutlint.yaml (`triton-mutlint init` writes it)",
        )


RULE = Rule("TML903", "unspecified-kernel", Severity.OFF, __doc__ or "", check=check)
