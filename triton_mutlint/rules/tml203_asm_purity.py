'''Inline asm is marked pure although it stores.

## What it does

Reads the text of each `tl.inline_asm_elementwise` and reports one that is `is_pure=True` but
stores to memory or has an atomic. As a note it reports the reverse too: asm that is
`is_pure=False` but has no effect on memory could be marked pure.

## Why

The compiler removes a pure op whose result is not used, merges equal ones and moves them out of
loops and branches. With a store in it, the store happens once instead of many times, or never.
Marking harmless asm impure costs speed: nothing may be merged or moved across it.

## Bad

```python
@triton.jit
def mark(x_ptr, flag_ptr):
    addr = flag_ptr.to(tl.int64, bitcast=True)
    tl.inline_asm_elementwise("st.global.u32 [$1], 1; mov.u32 $0, 0;", "=r,l", [addr],
                              dtype=tl.int32, is_pure=True, pack=1)
    tl.store(x_ptr, 1.0)
```

## Good

```python
@triton.jit
def mark(x_ptr, flag_ptr):
    addr = flag_ptr.to(tl.int64, bitcast=True)
    tl.inline_asm_elementwise("st.global.u32 [$1], 1; mov.u32 $0, 0;", "=r,l", [addr],
                              dtype=tl.int32, is_pure=False, pack=1)
    tl.store(x_ptr, 1.0)
```

## How to fix

Write `is_pure=False`, or replace the asm by `tl.store` or a `tl.atomic_*` function.
'''

from __future__ import annotations

import re
from collections.abc import Iterator

from triton_mutlint.rules.rule import Rule
from triton_mutlint.rules.subject import KernelSubject
from triton_mutlint.types import Finding, OpaqueOp, Related, Severity

_ASM = "tt.elementwise_inline_asm"
# Asm without a memory effect that must still not be merged, moved or dropped: clocks and other
# counters, barriers and fences, waiting, traps, and whatever is marked volatile.
_ORDERED = re.compile(
    r"volatile|clock|timer|%pm|smid|warpid|nsmid|gridid|bar|fence|membar|wait|sleep|trap|brkpt|griddep|vote|shfl|"
    r"activemask|match|elect|redux|prefetch|discard|applypriority|setmaxnreg|s_setprio|s_memtime|s_memrealtime|s_getreg|"
    r"s_setreg|s_nop|s_sendmsg|sched|pmevent|call|nanosleep|exit|cp\.async|mbarrier|createpolicy|ds_bpermute|dpp",
    re.IGNORECASE,
)


def check(subject: KernelSubject) -> Iterator[Finding]:
    for op in subject.report.opaque_ops:
        if op.op != _ASM:
            continue
        if op.pure and op.effect == "writes":
            yield _stores(subject, op)
        elif not op.pure and op.effect == "none" and op.detail.strip() and not _ORDERED.search(op.detail):
            yield _harmless(subject, op)


def _stores(subject: KernelSubject, op: OpaqueOp) -> Finding:
    names = ", ".join(f"`{name}`" for name in op.parameters)
    target = f" to {names}" if names else ""
    return RULE.finding(
        f"inline asm in `{subject.report.name}` stores{target} but is marked `is_pure=True`: "
        "the compiler may drop, merge or move it", op.location, kernel=subject.report,
        parameter=op.parameters[0] if len(op.parameters) == 1 else None,
        related=[Related("written by the asm", subject.place_of(name)) for name in op.parameters],
        help="write `is_pure=False`",
    )


def _harmless(subject: KernelSubject, op: OpaqueOp) -> Finding:
    return RULE.finding(
        f"inline asm in `{subject.report.name}` has no effect on memory but is marked `is_pure=False`",
        op.location, kernel=subject.report, severity=Severity.INFO,
        help="write `is_pure=True`, so that equal calls are merged and unused ones removed",
    )


RULE = Rule("TML203", "asm-purity", Severity.ERROR, __doc__ or "", check=check)
