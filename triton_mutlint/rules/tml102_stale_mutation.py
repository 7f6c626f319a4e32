'''A parameter is declared as written, but no analysed variant writes it.

## What it does

Reports names in a kernel's `mutates` (spec or comment) that the kernel does not write in any
analysed variant. A parameter whose verdict is unknown is not reported, nor is one through which
the kernel writes indirectly (a table of pointers).

## Why

A declaration that claims too much makes callers keep copies and gives up optimisations, and it
hides the day when a write disappears by mistake.

## Example

```diff
-# triton-mutlint: mutates=x_ptr,out_ptr
+# triton-mutlint: mutates=out_ptr
 @triton.jit
 def scale(x_ptr, out_ptr):
     i = tl.program_id(0) * 128 + tl.arange(0, 128)
     tl.store(out_ptr + i, tl.load(x_ptr + i) * 2)
```

## How to fix

Remove the name from the declaration. If the parameter is written under a constexpr value that was
not analysed, give that value in the spec (`args: {FLAG: [true, false]}`).
'''

from __future__ import annotations

from collections.abc import Iterator

from triton_mutlint.contracts.declarations import KernelDeclaration, change_of, covers
from triton_mutlint.rules.rule import KernelSubject, Rule
from triton_mutlint.types import Finding, Mutation, ParameterReport, Related, Severity, Status


def check(subject: KernelSubject) -> Iterator[Finding]:
    declared, report = subject.declaration, subject.report
    if declared is None or report.status is not Status.ANALYZED:
        return
    for name in declared.mutates:
        elements = [p for p in report.parameters if covers(name, p.name)]
        reached = any(covers(name, write.through) for write in report.indirect_writes)
        if elements and not reached and all(p.mutation is Mutation.UNWRITTEN for p in elements):
            yield _stale(subject, declared, name, elements)


def _stale(subject: KernelSubject, declared: KernelDeclaration, name: str, elements: list[ParameterReport]) -> Finding:
    report = subject.report
    analysed = report.analyzed_variants
    extent = "never does" if analysed <= 1 else f"does in none of the {analysed} analysed variants"
    if report.total_variants > analysed:
        extent = f"does in none of the analysed variants ({analysed} of {report.total_variants})"
    read = "only read" if any(p.reads for p in elements) else "not accessed"
    return RULE.finding(
        f"`{report.name}` is declared to write `{name}`, but {extent}: {read}",
        declared.place_of(name), kernel=report, parameter=name,
        related=(Related("the parameter", subject.place_of(name)),),
        help=f"remove `{name}` from `mutates`, or give constexpr values under which it is written in the spec",
        changes=[change_of(declared, name, (), add=False)], subject=declared.location,
    )


RULE = Rule("TML102", "stale-mutation", Severity.WARNING, __doc__ or "", check=check)
