'''An op whose memory effects cannot be decided.

## What it does

Reports each op of a kernel that may write memory in a way that cannot be told from the compiled
form: inline asm whose text is not understood, a call of an external function that is not pure, a
store through an address of unknown origin, an op that this version does not know; and each store
or call that writes under other arguments than those that were guessed, for all that is known. The
parameters that reach such an op are `unknown`, never `unwritten`.

A torch op whose code was not followed is told for information: its implementation was not found, or following it
took too long. What it declares was then compared with nothing.

## Why

"Not decided" must not look like "not written". The kernel's other parameters keep their verdicts.

## Example

```diff
 @triton.jit
-def call_out(x_ptr, out_ptr):
-    address = out_ptr.to(tl.int64, bitcast=True)
-    result = tl.inline_asm_elementwise("call ($0), write_it, ($1);", "=l,l", [address], dtype=tl.int64,
-                                       is_pure=False, pack=1)
-    tl.store(x_ptr, result.to(tl.float32))
+def store_out(x_ptr, out_ptr):
+    tl.store(out_ptr, tl.load(x_ptr))
```

## How to fix

Where guessed arguments decide, give them in the spec. Else replace the op by one whose effects are
known. Otherwise find out what it does, declare it in `mutates`, and record that you did:
`# triton-mutlint: ignore[TML201] reason`, or `allow: [TML201]` in the spec.
'''

from __future__ import annotations

from collections.abc import Iterator

from triton_mutlint.rules.rule import KernelSubject, Rule
from triton_mutlint.types import Finding, Location, OpReport, Related, Severity, UnanalyzableOp

_OTHERWISE = "use an op whose effects are known, or find out what it writes and suppress this with a reason"
_SHOWN = 60  # characters of asm in a message


def check(subject: KernelSubject) -> Iterator[Finding]:
    return (_undecided(subject, op) for op in subject.report.unanalyzable_ops)


def _undecided(subject: KernelSubject, op: UnanalyzableOp) -> Finding:
    report = subject.report
    detail = " ".join(op.detail.split())
    quoted = not detail or detail.rstrip("; ") in " ".join(op.reason.split())
    shown = "" if quoted else f" `{detail[:_SHOWN]}{'…' if len(detail) > _SHOWN else ''}`"
    unknown = [name for name in op.parameters if name in report.unknown]
    names = ", ".join(f"`{name}`" for name in unknown or op.parameters)
    places: dict[Location, list[str]] = {}
    for name in unknown:
        places.setdefault(subject.place_of(name), []).append(f"`{name}`")
    outcome = f"so it may write {names}" if unknown else "but no parameter's verdict depends on it"
    if op.parameters and not unknown:
        outcome = f"so it may write {names}, which the report calls written"
    what = "an address of" if op.op == "address" else f"{op.op}{shown} in"
    declared = subject.declaration
    missing = [n for n in unknown if declared is not None and not declared.names(n)]
    advice = op.advice or _OTHERWISE
    if missing:
        declare = f"if it writes {', '.join(f'`{n}`' for n in missing)}, add that to `mutates`; then suppress this"
        advice = f"{op.advice}, or {declare}" if op.advice else declare
    return RULE.finding(
        f"{what} `{report.name}`: {op.reason}, {outcome}", op.location, kernel=report,
        related=[Related(f"{', '.join(at)} {'is' if len(at) == 1 else 'are'} unknown", place)
                 for place, at in places.items()], help=advice,
        parameter=unknown[0] if len(unknown) == 1 else None,
    )


def check_op(op: OpReport) -> Iterator[Finding]:
    if op.unfollowed and op.unknown and not op.declaration.any_may:
        yield RULE.finding(
            f"`{op.name}` was not followed, so what it declares was not checked: {op.unfollowed}", op.location, op=op,
            severity=Severity.INFO, help="find out what it writes, and declare that")


RULE = Rule("TML201", "unanalyzable-op", Severity.WARNING, __doc__ or "", check=check, check_op=check_op)
