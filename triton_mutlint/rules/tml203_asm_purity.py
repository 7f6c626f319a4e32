'''Inline asm is marked pure although it stores.

## What it does

Reads the text of each `tl.inline_asm_elementwise` and reports one that is `is_pure=True` but
stores to memory, shared memory included, or has an atomic.

## Why

The compiler removes a pure op whose result is not used, merges equal ones and moves them out of
loops and branches. With a store in it, the store happens once instead of many times, or never.

## Example

```diff
 @triton.jit
 def mark(flag_ptr):
     tl.inline_asm_elementwise("st.global.u32 [$1], 1; mov.u32 $0, 0;", "=r,l", [flag_ptr.to(tl.int64, bitcast=True)],
-                              dtype=tl.int32, is_pure=True, pack=1)
+                              dtype=tl.int32, is_pure=False, pack=1)
```

## How to fix

Write `is_pure=False`, or replace the asm by `tl.store` or a `tl.atomic_*` function.
'''

from __future__ import annotations

from collections.abc import Iterator

from triton_mutlint.rules.rule import KernelSubject, Rule
from triton_mutlint.types import Finding, Related, Severity


def check(subject: KernelSubject) -> Iterator[Finding]:
    for op in subject.report.opaque_ops:
        if op.op == "tt.elementwise_inline_asm" and op.pure and op.effect in ("writes", "shares"):
            names = ", ".join(f"`{name}`" for name in op.parameters) if op.effect == "writes" else "shared memory"
            yield RULE.finding(
                f"inline asm in `{subject.report.name}` stores{' to ' if names else ''}{names} but is marked "
                "`is_pure=True`: the compiler may drop, merge or move it", op.location, kernel=subject.report,
                parameter=op.parameters[0] if op.effect == "writes" and len(op.parameters) == 1 else None,
                related=[Related("written by the asm", subject.place_of(name))
                         for name in op.parameters if op.effect == "writes"],
                help="write `is_pure=False`",
            )


RULE = Rule("TML203", "asm-purity", Severity.ERROR, __doc__ or "", check=check)
